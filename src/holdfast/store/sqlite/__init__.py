"""The local store: one SQLite file in write-ahead mode, on the standard library."""
