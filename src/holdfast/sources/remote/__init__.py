"""Servers of the team's: where they are, and how they are spoken to."""
