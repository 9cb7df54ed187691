"""From lines to layers: turns, exchanges, digests, and the passages that search reads."""
