"""What is erased, told in counts and never in words, and the backups that still hold it."""

from __future__ import annotations

from typing import Any

from holdfast.learn.erasure import Erased


def remove_copies(told: Erased, backups: bool) -> None:
    """Remove the backups that hold what was erased, if that is wanted."""
    for path in told.copies if backups else ():
        path.unlink(missing_ok=True)


def erased_told(told: Erased, done: bool) -> dict[str, Any]:
    """What is erased, or would be, for a program."""
    return {
        "erased": done,
        "records": dict(sorted(told.records.items())),
        "events": told.events,
        "log_lines": told.log_lines,
        "backups": [str(path) for path in told.copies if path.exists()],
        "transcripts": list(told.transcripts),
    }
