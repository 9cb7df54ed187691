"""Forges: where teams review changes and report faults."""
