"""A stamp that changes when a file changes."""

from __future__ import annotations

import os


def stamp_of(stat: os.stat_result) -> str:
    """Size, time and inode of a file. The ledger keeps that of a file that was read to its end."""
    return f"{stat.st_size}:{stat.st_mtime_ns}:{stat.st_ino}"
