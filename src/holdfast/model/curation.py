"""What people decided about records: an append-only log laid over derived rows.

Rebuilding derived rows never touches this log, so a person's decision is never undone by it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from holdfast.frozen import dataclass


class Action(StrEnum):
    """What can be decided."""

    REMEMBER = "remember"
    CORRECT = "correct"
    FORGET = "forget"
    RESTORE = "restore"
    CONFIRM = "confirm"
    TEACH = "teach"
    APPROVE = "approve"
    REJECT = "reject"
    MERGE = "merge"
    SPLIT = "split"
    UNDO = "undo"
    PULL = "pull"
    SHARE = "share"
    SET = "set"
    WRITE = "write"
    VOUCH = "vouch"
    IMPORT = "import"
    PURGE = "purge"
    SCRUB = "scrub"


@dataclass(frozen=True, slots=True)
class Curation:
    """One decision about one record; `seq` orders them. `target` is the record's URI, of an undo
    the number of what it undoes; `text` the words of a correction or a lesson, of a merge the URI
    that the record went into, of a bank what it was like before and after. `who` names the way
    they came by in brackets, if it was not the command line."""

    seq: int
    bank: str
    time: str
    action: Action
    target: str
    text: str = ""
    who: str = ""


class CurationState(NamedTuple):
    """What the log says of one record in the end: whether it is forgotten, the record that it was
    merged into, its corrected words with who gave them when, and the words that these replace."""

    bank: str
    kind: str
    id: str
    session: str = ""
    forgotten: bool = False
    into: str = ""
    text: str = ""
    time: str = ""
    who: str = ""
    was: str = ""

    @property
    def gone(self) -> bool:
        """Whether the record is not to be shown."""
        return self.forgotten or bool(self.into)
