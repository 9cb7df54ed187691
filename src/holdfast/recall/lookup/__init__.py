"""lookup."""
