"""Records to rows and back. A table has the columns of its dataclass; tuples are JSON arrays."""
