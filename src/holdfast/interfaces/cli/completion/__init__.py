"""Completion for shells: what commands take (`offer`), and a script for each shell from that."""
