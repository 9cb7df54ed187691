"""Records as frozen dataclasses and named tuples, with pure functions on them. Standard library."""
