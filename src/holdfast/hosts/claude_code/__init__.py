"""Claude Code: its settings, its hooks, its plugins."""
