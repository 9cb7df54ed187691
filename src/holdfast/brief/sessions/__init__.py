"""How the last sessions ended, as a session brief tells it."""
