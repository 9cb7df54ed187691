"""Where memory rests. Callers see `protocol`; a backend is chosen in the composition root."""
