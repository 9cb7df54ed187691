"""Reads issues, pull requests and comments from GitHub and GitHub Enterprise.

`github` gives the records in `drafts`, `listing` reads lists page by page, `client` makes the
requests at the pace the forge allows.
"""
