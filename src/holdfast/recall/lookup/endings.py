"""What of a record does not hold any more, for what lists and opens records without a search."""

from __future__ import annotations

from typing import cast

from holdfast.lazy_dataclass import replace
from holdfast.model.kinds import record_kind
from holdfast.model.knowledge import EndedSentence, Fact, Memory, Rule
from holdfast.model.records import Digest, Exchange, Turn
from holdfast.model.team import Commit
from holdfast.model.to_json import to_jsonable
from holdfast.model.trust import ENDED_STATUSES
from holdfast.model.uris import uri
from holdfast.recall.core.ended_words import (
    WHOLE_SESSION,
    EndedWords,
    has_ended,
    read_ended_words,
)
from holdfast.recall.core.evidence_turns import find_ended
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Reader

# Where records of different kinds have their time.
_TIMES = ("time", "started", "when", "updated", "last")


class RecordEndings:
    """Finds what ended in records; what ended in a bank is read once for each session."""

    def __init__(self, reader: Reader, as_of: str = "") -> None:
        """With `as_of`, what had ended at that time."""
        self._reader = reader
        self._as_of = as_of
        self._words: dict[tuple[str, str], EndedWords] = {}

    def of(self, record: Record, text: str | None = None) -> tuple[EndedSentence, ...]:
        """The sentences of a record, or of a part of its text, that do not hold any more; all of it
        if it was called outdated."""
        found = self._of(record, text)
        if found or isinstance(record, Rule | Fact):
            return found
        words = self._read(record.bank, getattr(record, "session", ""))
        return words.called_outdated(uri(record_kind(record), record.id))

    def _of(self, record: Record, text: str | None) -> tuple[EndedSentence, ...]:
        session: str = getattr(record, "session", "")
        words = self._read(record.bank, session)
        match record:
            case Rule():
                return ()
            case Fact():
                is_ended = record.status in ENDED_STATUSES
                return words.of_record(uri("fact", record.id)) if is_ended else ()
            case Memory() | Commit():
                body = "\n\n".join(_texts(to_jsonable(record))) if text is None else text
                return find_ended(self._reader, words, record, body)
            case Turn():
                place = record.seq
            case Exchange():
                place = record.first_seq
            case Digest():
                place = WHOLE_SESSION
            case _:
                place = 0
        body = "\n\n".join(_texts(to_jsonable(record))) if text is None else text
        return words.find(body, _time_of(record), session, place)

    def with_status(self, record: Record) -> Record:
        """The record; an exchange or a memory that says mainly what ended has that status."""
        if not isinstance(record, Exchange | Memory) or record.status in ENDED_STATUSES:
            return record
        text = record.what if isinstance(record, Memory) else f"{record.title}\n\n{record.summary}"
        found = self.of(record, text)
        if not has_ended(text, found):
            return record
        return replace(record, status=max(found, key=lambda one: one.ended).reason.status)

    def label(self, record: Record, title: str) -> str:
        """How and when the title of a record ended; "" if it holds."""
        found = self.of(record, title)
        return max(found, key=lambda one: one.ended).label if found else ""

    def _read(self, bank: str, session: str) -> EndedWords:
        if (bank, session) not in self._words:
            self._words[bank, session] = read_ended_words(
                self._reader, bank, [session], self._as_of
            )
        return self._words[bank, session]


def _time_of(record: Record) -> str:
    """When a record began, or was last made of others."""
    times = (getattr(record, name, "") for name in _TIMES)
    return next((time for time in times if isinstance(time, str) and time), "")


def _texts(value: object) -> list[str]:
    """The texts in a record as JSON; a word by itself is none."""
    if isinstance(value, str):
        return [value] if " " in value else []
    items: list[object] = []
    if isinstance(value, dict):
        items = list(cast(dict[str, object], value).values())
    elif isinstance(value, list):
        items = cast(list[object], value)
    return [text for item in items for text in _texts(item)]
