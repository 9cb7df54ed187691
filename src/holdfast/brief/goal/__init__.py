"""The brief for the first prompt of a session: the decisions and results that concern it."""
