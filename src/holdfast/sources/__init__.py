"""Reads what Holdfast takes in: transcripts of agents, git, forges, plugins, remote servers, rule
files, and the memories of other programs.

Each reader turns its input into drafts or model types. It never writes to the store and never
redacts; `refine` does both. A new agent is one module in `agents` (see there for what it needs);
`registry` finds it.
"""
