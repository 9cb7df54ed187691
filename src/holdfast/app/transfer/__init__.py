"""Everything that brings records into a memory or out of it as a whole: backups, exports (JSON
lines, Obsidian, memory-keeper) and their restoring, imports from other programs, sharing with a
team over a git branch, and moving between SQLite and PostgreSQL. Transcripts are read in
`holdfast.app.ingest`. Start reading in `imports` for the way in, in `exporting` for the way out."""
