"""Distils what is worth remembering of a session: which statements, of which kind."""
