"""When somebody last looked at the pages: one file in the home, which leaves this machine as little
as the memory does."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from holdfast.capture.home_paths import HomePaths
from holdfast.private_files import write_private

# A look after a shorter break belongs to the same visit: going back to the first page does not end
# what is new there.
_SAME_VISIT = timedelta(minutes=30)
# Looks within this time are not written one by one.
_WRITE_AFTER = timedelta(minutes=1)


def note_visit(home: Path, who: str, now: str, is_look: bool = True) -> str:
    """Note that somebody looks now; return when their last visit before this one ended, "" if there
    was none. `who` is the id of a key, "" for the owner. A page that brings itself up to date is no
    look: nobody may sit before it. If the file cannot be written, the visit is not noted."""
    path = HomePaths(home).visits
    visits = _read(path)
    before, last = visits.get(who, ("", ""))
    if not is_look:
        return before
    moment = datetime.fromisoformat(now)
    passed = moment - datetime.fromisoformat(last) if last else _SAME_VISIT
    if last and passed >= _SAME_VISIT:
        before = last
    if not last or passed >= _WRITE_AFTER or passed < timedelta(0):
        with suppress(OSError):
            write_private(path, json.dumps({**visits, who: (before, now)}).encode())
    return before


def _read(path: Path) -> dict[str, tuple[str, str]]:
    """By who made them the end of the visit before, and the last look; none if the file is not
    there or not as it was written."""
    try:
        found: Any = json.loads(path.read_bytes())
        return {str(who): (_time(before), _time(last)) for who, (before, last) in found.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _time(text: str) -> str:
    """A time as it is; raises `ValueError` if it is none."""
    if text and datetime.fromisoformat(text).tzinfo is None:
        raise ValueError(text)
    return text
