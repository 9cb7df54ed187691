"""Sharing with others: over a git branch (`share`, `unshare`, `pull`), or over a server (`remote`,
and `--to` of `share`, in `interfaces/cli/server_sharing.py`)."""
