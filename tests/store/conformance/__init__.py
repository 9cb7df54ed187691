"""The conformance suite that every store backend must pass; start at `suite`."""
