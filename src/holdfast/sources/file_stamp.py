"""What changes with a file."""

from __future__ import annotations

import os


def stamp_of(stat: os.stat_result) -> str:
    """What changes with a file; the ledger keeps that of a file when it was read to its end."""
    return f"{stat.st_size}:{stat.st_mtime_ns}:{stat.st_ino}"
