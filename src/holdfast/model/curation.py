"""What people decided about records: an append-only log that is applied over derived rows.

Rebuilding derived rows never touches this log, so it never undoes a person's decision.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from holdfast.lazy_dataclass import dataclass
from holdfast.lazy_named_tuple import NamedTuple


class Action(StrEnum):
    """The kinds of decision."""

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
    """One decision about one record; `seq` orders them.

    `target` is the record's URI; of an undo, the number of the decision that it undoes. `text` is
    the text of a correction or a lesson; of a merge, the URI of the record that it was merged
    into; of a bank, its settings before and after. `who` ends with the interface in brackets,
    unless that was the command line.
    """

    seq: int
    bank: str
    time: str
    action: Action
    target: str
    text: str = ""
    who: str = ""


class CurationState(NamedTuple):
    """The result of all decisions about one record: whether it is forgotten; `into` which record
    it was merged; its corrected `text`, with the time and the person of the correction; and the
    text that it replaces (`was`)."""

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
    def is_hidden(self) -> bool:
        """Whether the record is left out of every answer."""
        return self.forgotten or bool(self.into)


def in_effect(log: Iterable[Curation]) -> list[Curation]:
    """The decisions that were not undone, without the undos themselves."""
    log = list(log)
    undone = {entry.target for entry in log if entry.action is Action.UNDO}
    return [e for e in log if e.action is not Action.UNDO and str(e.seq) not in undone]


def not_restored(decisions: Iterable[Curation]) -> list[Curation]:
    """The decisions without those that hid a record which was restored later."""
    decisions = list(decisions)
    restored = {e.target: e.seq for e in decisions if e.action is Action.RESTORE}
    hiding = (Action.FORGET, Action.MERGE)
    return [e for e in decisions if e.action not in hiding or e.seq > restored.get(e.target, -1)]
