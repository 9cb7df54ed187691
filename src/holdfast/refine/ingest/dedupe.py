"""The same words by two ways: a session's transcript, and the journal of what its hooks told.

Tool calls are known by their id. Words have no id in common, so they are counted: of the same
words in a session there are as many turns as the one way or the other brought, whichever was
more, and never their sum.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from holdfast.capture import journal
from holdfast.model.ids import content_id
from holdfast.model.ledger import Source
from holdfast.model.records import Role, Turn
from holdfast.refine.ingest.turns import RefinedTurn
from holdfast.sources.claude_code import events
from holdfast.sources.draft import FileInfo
from holdfast.sources.lines import Segment, read_lines
from holdfast.store.protocol import Writer

_Words = tuple[str, str]


def _words(role: Role, text: str) -> _Words:
    return role.value, " ".join(text.split())


class Transcribed:
    """What a session has already, when its journal is read from `position` on."""

    def __init__(self, writer: Writer, bank: str, file: FileInfo, position: int) -> None:
        self._writer = writer
        self._bank = bank
        self._left: dict[str, Counter[_Words]] = {}
        # Each of the lines before has its turn, its own or the transcript's.
        self._before: dict[str, Counter[_Words]] = {}
        self._last: dict[str, _Words] = {}
        self._seen: set[str] = set()
        if position:
            self._look_back(file, position)

    def _look_back(self, file: FileInfo, position: int) -> None:
        for line in read_lines(Path(file.path), Segment(0, position)):
            record = journal.parse(line.data)
            reading = events.read_record(record, file) if record else None
            for turn in reading.turns if reading else ():
                session = reading.session if reading else ""
                words = self._last[session] = _words(turn.role, turn.text)
                id = content_id(*turn.key)
                if id not in self._seen:
                    self._before.setdefault(session, Counter())[words] += 1
                self._seen.add(id)

    def repeats(self, event: RefinedTurn) -> bool:
        """Whether a line of the journal says what is known."""
        words = _words(event.role, event.text)
        last, self._last[event.session] = self._last.get(event.session), words
        if event.id in self._seen:
            return True
        self._seen.add(event.id)
        if event.tool is not None:
            return self._writer.knows_call(self._bank, event.tool.call)
        if event.role is Role.ASSISTANT and last == words:
            return True  # the agent stopped again without having said anything new
        left = self._left_of(event.session)
        if left[words] <= 0:
            return False
        left[words] -= 1
        return True

    def _left_of(self, session: str) -> Counter[_Words]:
        if session not in self._left:
            turns = self._writer.all_turns(self._bank, session)
            said = Counter(_words(turn.role, turn.text) for turn in turns if turn.tool is None)
            said.subtract(self._before.get(session, Counter()))
            self._left[session] = said
        return self._left[session]


class Journalled:
    """The turns that a session has only from its journal, when its transcript is read. The
    transcript is the better witness: such a turn is taken over, once."""

    def __init__(self, writer: Writer, journal: Source, transcript: Source) -> None:
        self._writer = writer
        self._journal = journal
        self._transcript = transcript
        self._told: dict[str, dict[_Words, list[Turn]]] = {}

    def take(self, event: RefinedTurn) -> Turn | None:
        """The turn that a line of the transcript tells again."""
        if event.session not in self._told:
            self._load(event.session)
        found = self._told[event.session].get(_key(event), [])
        for turn in found:
            if self._is_journals(turn) or turn.origin.ref == event.ref:
                found.remove(turn)
                return turn
        return None

    def _load(self, session: str) -> None:
        told = self._told[session] = {}
        for turn in self._writer.all_turns(self._journal.bank, session):
            # One that was taken over is at line 0 again when the transcript was rewritten.
            met = turn.origin.source == self._transcript.id and turn.origin.line == 0
            if self._is_journals(turn) or met:
                told.setdefault(_key(turn), []).append(turn)

    def _is_journals(self, turn: Turn) -> bool:
        return turn.origin.source == self._journal.id


def _key(turn: Turn | RefinedTurn) -> _Words:
    return _words(turn.role, turn.tool.call if turn.tool else turn.text)
