"""Answers: evidence gathered, weighed and cited, or "not known"."""
