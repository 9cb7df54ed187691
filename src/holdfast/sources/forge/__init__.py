"""Reads issues, pull requests and comments from a forge (GitHub and GitHub Enterprise).

`drafts` has the `Forge` protocol and its records, `github` implements it, `client` makes the
requests at the pace the forge allows.
"""
