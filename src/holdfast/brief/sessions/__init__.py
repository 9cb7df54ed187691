"""How the last sessions ended, and what sessions found out and left open, as a session brief tells
it."""
