"""What we read, each a stream of model types. A source never writes and never redacts."""
