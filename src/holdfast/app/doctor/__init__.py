"""Checks of everything that capture and memory stand on, one module a family."""
