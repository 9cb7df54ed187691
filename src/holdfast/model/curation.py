"""What people decided about records: an append-only log laid over derived rows.

Rebuilding derived rows never touches this log, so a person's decision is never undone by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Action(StrEnum):
    """What can be decided."""

    CORRECT = "correct"
    FORGET = "forget"
    RESTORE = "restore"
    APPROVE = "approve"
    REJECT = "reject"
    MERGE = "merge"
    UNDO = "undo"


@dataclass(frozen=True, slots=True)
class Curation:
    """One decision about one record; `seq` orders them."""

    seq: int
    bank: str
    time: str
    action: Action
    target: str
    text: str = ""
    who: str = ""
