"""Reads a repository with the installed git, and writes one branch: that of shared memories.

`git_process` runs git safely on a repository that is not ours, `log` and `patches` read commits,
`refs` and `tip_check` find branches and tags. Only `share_branch` writes, and only its own branch.
"""
