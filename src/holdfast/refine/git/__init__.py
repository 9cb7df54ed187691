"""Reads git history and GitHub threads into the store, and links commits to sessions.

Start with `history` (commits, tags, branches, reverts) or `forge_sync` (pull requests, issues and
remarks, from where the last run stopped). `forge_threads` builds their passages.
`commit_authorship` finds the session that made a commit, as a last resort by `commit_matching`.
"""
