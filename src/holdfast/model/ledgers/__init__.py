"""The account of every input line, model call, injected text and failed background task."""
