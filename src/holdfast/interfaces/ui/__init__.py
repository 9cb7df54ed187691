"""Pages: what they show of a memory, and how."""
