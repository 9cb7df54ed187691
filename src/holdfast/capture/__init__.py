"""The way in, on the standard library alone: what must happen to text before it may rest."""
