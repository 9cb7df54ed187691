"""Records as frozen dataclasses and named tuples and pure functions on them. Standard library only."""
