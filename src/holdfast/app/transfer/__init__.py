"""Everything that brings records into a memory or out of it as a whole: backups, exports (JSON
lines, Markdown) and their restoring, imports from other programs, and sharing with a team over a
git branch. Transcripts are read in `holdfast.app.ingest`. Start reading in `imports` for the way
in, in `exporting` for the way out."""
