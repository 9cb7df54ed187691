"""Reads the memories of other programs: claude-mem, mem0, Claude Code.

Each module has `PROGRAM` and `read(path)`, which gives every record once, as a draft or as skipped
with a reason. Nothing here writes.
"""
