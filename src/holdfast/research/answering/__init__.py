"""answering."""
