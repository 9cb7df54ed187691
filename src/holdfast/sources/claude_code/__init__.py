"""Claude Code: where its transcripts lie, and what each of their lines means (1.0 to 2.1)."""
