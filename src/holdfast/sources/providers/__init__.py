"""Plugins of Claude Code that offer to be asked: found, read, and talked to."""
