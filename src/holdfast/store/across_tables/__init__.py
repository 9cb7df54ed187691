"""What spans many tables: lookup, overview, derived rows, erasure, and the parts of a store."""
