"""What a page shows of the verdict on a record, and what it needs to judge the record."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.app.views.record_view import correctable_text, current_text, fingerprint
from holdfast.brief.verdicts import read_verdicts
from holdfast.errors import InputError
from holdfast.learn.decision_state import independently_undoable
from holdfast.learn.judging import JUDGEABLE_KINDS, is_rewordable
from holdfast.model.curation import Judgement, read_judgement
from holdfast.model.kinds import record_kind
from holdfast.model.uris import uri
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Reader


class VerdictView(NamedTuple):
    """A record that can be judged. `judgement` is the verdict on it and `undo` the number of that
    decision, 0 if it cannot be undone by itself; `seen` is the fingerprint of its text, and
    `can_reword` says whether briefs may tell it in other words."""

    uri: str
    seen: str
    judgement: Judgement | None = None
    undo: int = 0
    can_reword: bool = False


class VerdictViews:
    """The verdicts on the records of a bank."""

    def __init__(self, memory: Holdfast, bank: str) -> None:
        self._reader = memory.reader
        self._bank = bank
        self._verdicts = read_verdicts(memory.reader, bank)
        self._undoable = undoable_verdicts(memory.reader, bank)

    def of(self, record: Record) -> VerdictView | None:
        """The view of a record; None if briefs do not tell its kind."""
        kind = record_kind(record)
        if kind not in JUDGEABLE_KINDS:
            return None
        name = uri(kind, record.id)
        return VerdictView(
            name,
            fingerprint(correctable_text(record)),
            self._verdicts.of(name),
            self._undoable.get(name, 0),
            is_rewordable(record),
        )


def undoable_verdicts(reader: Reader, bank: str) -> dict[str, int]:
    """By the URI of a record, the number of the decision that is the verdict on it, if that can be
    undone: nothing was decided about the record since."""
    judged = reader.curation.judgements(bank)
    return {
        entry.target: entry.seq
        for entry in independently_undoable(reader.curation.log(bank))
        if entry.target in judged and read_judgement(entry) == judged[entry.target]
    }


def check_unchanged(memory: Holdfast, name: str, seen: str) -> None:
    """Raise `InputError` if a record has another text than the one with the fingerprint `seen`."""
    target = memory.curation.target(name)
    if target.shown and fingerprint(current_text(memory, target)) != seen:
        raise InputError(
            f"{target.uri} was changed after you opened the page. Nothing was judged.",
            "Look at it again.",
        )
