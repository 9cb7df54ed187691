"""Removes duplicates between a session's transcript and its journal of hook events.

Tool calls have the same id in both. Text has no common id, so it is counted: of the same text in a
session there are as many turns as the transcript or the journal has, whichever has more, and never
the sum.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from holdfast.capture import journal
from holdfast.model.ids import content_id
from holdfast.model.ledgers.lines import Source
from holdfast.model.records import Role, Turn
from holdfast.refine.ingest.turns import RefinedTurn
from holdfast.sources.claude_code import events
from holdfast.sources.draft import FileInfo
from holdfast.sources.lines import Segment, read_lines
from holdfast.store.protocol import Writer

# Role and text; for a tool call its id stands for the text.
_TextKey = tuple[str, str]


def _text_key(role: Role, text: str) -> _TextKey:
    return role.value, " ".join(text.split())


class JournalDeduplicator:
    """Finds the lines of a journal, read from `position` on, whose turns are stored already."""

    def __init__(self, writer: Writer, bank: str, file: FileInfo, position: int) -> None:
        self._writer = writer
        self._bank = bank
        self._unmatched: dict[str, Counter[_TextKey]] = {}
        # Texts of the lines before `position`. Each has its turn already, its own or the
        # transcript's.
        self._read_before: dict[str, Counter[_TextKey]] = {}
        self._last: dict[str, _TextKey] = {}
        self._seen: set[str] = set()
        if position:
            self._count_lines_before(file, position)

    def _count_lines_before(self, file: FileInfo, position: int) -> None:
        for line in read_lines(Path(file.path), Segment(0, position)):
            record = journal.parse(line.data)
            reading = events.read_record(record, file) if record else None
            for turn in reading.turns if reading else ():
                session = reading.session if reading else ""
                key = self._last[session] = _text_key(turn.role, turn.text)
                id = content_id(*turn.key)
                if id not in self._seen:
                    self._read_before.setdefault(session, Counter())[key] += 1
                self._seen.add(id)

    def is_duplicate(self, event: RefinedTurn) -> bool:
        """Whether the turn of a journal line is stored already. Each stored turn matches one line,
        so lines have to be passed once and in order."""
        key = _text_key(event.role, event.text)
        last, self._last[event.session] = self._last.get(event.session), key
        if event.id in self._seen:
            return True
        self._seen.add(event.id)
        if event.tool is not None:
            return self._writer.turns.has_tool_call(self._bank, event.tool.call)
        if event.role is Role.ASSISTANT and last == key:
            return True  # the agent stopped again without having said anything new
        unmatched = self._unmatched_texts(event.session)
        if unmatched[key] <= 0:
            return False
        unmatched[key] -= 1
        return True

    def _unmatched_texts(self, session: str) -> Counter[_TextKey]:
        """The texts of stored turns that no line of the journal has matched yet."""
        if session not in self._unmatched:
            turns = self._writer.turns.stream_uncurated(self._bank, session)
            texts = Counter(_text_key(turn.role, turn.text) for turn in turns if turn.tool is None)
            texts.subtract(self._read_before.get(session, Counter()))
            self._unmatched[session] = texts
        return self._unmatched[session]


class TranscriptDeduplicator:
    """Finds the stored turns of a journal that a line of the transcript repeats. The transcript is
    the more reliable source, so such a turn gets the transcript as its origin, once."""

    def __init__(self, writer: Writer, journal: Source, transcript: Source) -> None:
        self._writer = writer
        self._journal = journal
        self._transcript = transcript
        self._journal_turns: dict[str, dict[_TextKey, list[Turn]]] = {}

    def take_journal_turn(self, event: RefinedTurn) -> Turn | None:
        """The stored turn that a line of the transcript repeats; it is not returned again."""
        if event.session not in self._journal_turns:
            self._load(event.session)
        found = self._journal_turns[event.session].get(_turn_key(event), [])
        for turn in found:
            if self._is_from_journal(turn) or turn.origin.ref == event.ref:
                found.remove(turn)
                return turn
        return None

    def _load(self, session: str) -> None:
        found = self._journal_turns[session] = {}
        for turn in self._writer.turns.stream_uncurated(self._journal.bank, session):
            # A turn of the transcript is at line 0 again after the transcript was rewritten.
            rewritten = turn.origin.source == self._transcript.id and turn.origin.line == 0
            if self._is_from_journal(turn) or rewritten:
                found.setdefault(_turn_key(turn), []).append(turn)

    def _is_from_journal(self, turn: Turn) -> bool:
        return turn.origin.source == self._journal.id


def _turn_key(turn: Turn | RefinedTurn) -> _TextKey:
    return _text_key(turn.role, turn.tool.call if turn.tool else turn.text)
