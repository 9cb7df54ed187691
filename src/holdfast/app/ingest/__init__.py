"""Filling a memory. Start with `ingestion.Ingestion`; `stages` runs what follows above the
session, `forge_reading` reads a forge, and `executors` opens the processes or cluster that do the
work.
"""
