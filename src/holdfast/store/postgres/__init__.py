"""The team store: the same memory on a PostgreSQL server."""
