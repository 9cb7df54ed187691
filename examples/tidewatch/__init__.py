"""The story of a small project, as sample sessions."""
