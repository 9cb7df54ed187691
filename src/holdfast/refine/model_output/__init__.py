"""model_output."""
