"""Test doubles and builders that several test packages and the benchmarks share."""
