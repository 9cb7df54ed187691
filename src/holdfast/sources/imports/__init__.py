"""Memories of other programs, each read as a stream of drafts. Nothing here writes."""
