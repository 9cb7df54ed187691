"""Payloads of injected words against everything that an agent reads."""
