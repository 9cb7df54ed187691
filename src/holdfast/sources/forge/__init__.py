"""Reads issues, pull requests and comments from a forge: GitHub, GitHub Enterprise and GitLab.

`drafts` has the `Forge` protocol and its records, `github` and `gitlab` implement it, `listing`
reads lists page by page, `client` makes the requests at the pace the forge allows.
"""
