"""briefs."""
