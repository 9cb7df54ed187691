"""Capture of hook events and redaction of secrets before anything is written to disk. Standard
library only, because hooks pay for every import."""
