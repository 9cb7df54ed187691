"""A repository's history, read with the plumbing of the installed git; nothing is ever written."""
