"""Accounts of what was done: model calls, injected texts, failed tasks, keys."""
