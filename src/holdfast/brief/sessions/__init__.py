"""How the last sessions ended, what sessions found out and left open, and which requests were
worked on, as a session brief tells it."""
