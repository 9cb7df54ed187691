"""What a memory distilled of each transcript: records that hold, a title and a summary.

A session is named by the file name of its transcript without its ending; a subagent's by its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.language import collapse_spaces, sentences, words
from holdfast.model.bank import Bank
from holdfast.model.ids import content_id
from holdfast.model.knowledge import EvidenceKind, Kind, Memory
from holdfast.model.records import Digest, Exchange, Session, Turn
from holdfast.model.trust import ENDED_STATUSES
from holdfast.model.uris import uri
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.recall.lookup.endings import RecordEndings
from holdfast.refine.sessions.titles import session_title
from holdfast.regex import regex
from holdfast.sources.source_files import line_on_disk

# How a digest counts the requests after the first, and parts the session's title from that.
_MORE_REQUESTS = regex(r" \(and \d+ more requests?\)\Z")
_TITLE_MARK = " — "
_ENDS = (".", "!", "?", "…")
# No limit: every session or memory of a bank.
_ALL = 1 << 40


class EvidenceLine(NamedTuple):
    """A line of a transcript; lines count from 1."""

    session: str
    line: int


class DistilledRecord(NamedTuple):
    """A memory or a fact, as known from one session. The evidence begins with lines of that
    session. The field names are JSON keys."""

    session: str
    kind: Kind
    text: str
    uri: str
    evidence: tuple[EvidenceLine, ...]


class DistilledSession(NamedTuple):
    """How a session is titled and summed up. The field names are JSON keys."""

    session: str
    title: str
    summary: str


class Distilled(NamedTuple):
    """All that was distilled of the transcripts of a set. A fact is left out of a session where a
    memory has its words."""

    records: tuple[DistilledRecord, ...]
    sessions: tuple[DistilledSession, ...]


def read_distilled(memory: Holdfast, conversations: Iterable[Path] = ()) -> Distilled:
    """What was distilled of everything but `conversations`, which are files of many sessions."""
    left_out = {str(path.resolve()) for path in conversations}
    names = {
        source.id: Path(source.path).stem
        for source in memory.reader.sources.all()
        if source.path not in left_out
    }
    banks = [_BankReader(memory, bank, names) for bank in memory.reader.banks.all()]
    records: dict[tuple[str, str], DistilledRecord] = {}
    sessions: list[DistilledSession] = []
    for bank in banks:
        for session in bank.sessions:
            for record in bank.memories_of(session):
                records.setdefault((record.session, record.uri), record)
        said: dict[str, list[str]] = {}
        for record in records.values():
            said.setdefault(record.session, []).append(_words(record.text))
        for record in bank.facts():
            if not any(_words(record.text) in text for text in said.get(record.session, ())):
                records.setdefault((record.session, record.uri), record)
        sessions += bank.descriptions()
    return Distilled(tuple(records.values()), tuple(sessions))


class _BankReader:
    """Reads what was distilled into one bank. `names` are those of sessions, by source."""

    def __init__(self, memory: Holdfast, bank: Bank, names: Mapping[int, str]) -> None:
        self._store = memory.store
        self._bank = bank.id
        self._names = names
        self.sessions = sorted(
            (s for s in self._store.sessions.latest(bank.id, _ALL) if s.source in names),
            key=lambda session: (session.started, session.id),
        )
        endings = RecordEndings(self._store)
        self._memories = {
            one.id: one
            for one in self._store.memories.retained(bank.id, limit=_ALL)
            if one.kind is not None and _holds(endings, one)
        }

    def memories_of(self, session: Session) -> Iterator[DistilledRecord]:
        """The memories that occur in a session, in the order of their exchanges."""
        occurrences = self._store.memories.occurrences(self._bank, session.id)
        for occurrence in sorted(occurrences, key=lambda one: (one.seq, one.key)):
            memory = self._memories.get(content_id("memory", occurrence.key))
            if memory is None or memory.kind is None:
                continue
            own = self._lines(occurrence.evidence, occurrence.what)
            lines = (*own, *self._lines(memory.evidence_for, memory.what))
            for name in _sessions_of(own) or (self._names[session.source],):
                yield _record(name, memory.kind, memory.what, uri("memory", memory.id), lines)

    def facts(self) -> Iterator[DistilledRecord]:
        """The facts that hold, once for each session that states one."""
        for fact in self._store.facts.all(self._bank):
            if fact.status in ENDED_STATUSES:
                continue
            evidence = self._store.facts.evidence(self._bank, fact.id)
            stated = [one.uri for one in evidence if one.how is EvidenceKind.STATED]
            lines = self._lines(stated, fact.content)
            for name in _sessions_of(lines):
                yield _record(name, fact.kind.says, fact.content, uri("fact", fact.id), lines)

    def descriptions(self) -> Iterator[DistilledSession]:
        """The title and the summary of each transcript: those of its own session, where lines of
        another session or of a subagent are in it, too."""
        first: dict[str, Session] = {}
        for session in sorted(self.sessions, key=self._is_other):
            first.setdefault(self._names[session.source], session)
        for name, session in first.items():
            exchanges = self._store.sessions.exchanges(self._bank, session.id)
            digest = self._store.sessions.digest(self._bank, session.id)
            title = collapse_spaces(session_title(session, exchanges))
            yield DistilledSession(name, title, summarise(digest) if digest else "")

    def _is_other(self, session: Session) -> tuple[bool, bool]:
        return bool(session.parent), session.host != self._names[session.source]

    def _lines(self, uris: Iterable[str], text: str) -> tuple[EvidenceLine, ...]:
        """The lines of the turns among some records. Without any, the lines of the exchanges that
        say the text, or else begin them."""
        turns: list[Turn] = []
        exchanges: list[Exchange] = []
        for one in uris:
            match find_by_uri(self._store, self._bank, one):
                case Turn() as turn:
                    turns.append(turn)
                case Exchange() as exchange:
                    exchanges.append(exchange)
                case _:
                    pass
        found = turns or [turn for one in exchanges for turn in self._stating_turn(one, text)]
        return tuple(self._line(turn) for turn in found if turn.origin.source in self._names)

    def _line(self, turn: Turn) -> EvidenceLine:
        at = turn.origin
        source = self._store.sources.get(at.source)
        line = at.line
        if source is not None:
            line = line_on_disk(Path(source.path), source.agent, at.line, turn.text, at.ref)
        return EvidenceLine(self._names[at.source], line)

    def _stating_turn(self, exchange: Exchange, text: str) -> list[Turn]:
        x = exchange
        turns = self._store.turns.of_session(x.bank, x.session, x.first_seq, x.last_seq)
        wanted = _words(text)
        return [turn for turn in turns if wanted in _words(turn.text)][:1] or turns[:1]


def _holds(endings: RecordEndings, memory: Memory) -> bool:
    known = endings.with_status(memory)
    return isinstance(known, Memory) and known.status not in ENDED_STATUSES


def _sessions_of(lines: Iterable[EvidenceLine]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line.session for line in lines))


def _record(
    session: str, kind: Kind, text: str, uri: str, lines: Iterable[EvidenceLine]
) -> DistilledRecord:
    evidence = sorted(dict.fromkeys(lines), key=lambda line: line.session != session)
    return DistilledRecord(session, kind, collapse_spaces(text), uri, tuple(evidence))


def _words(text: str) -> str:
    """The words of a text in lower case, with a blank around each."""
    return f" {' '.join(words(text))} "


def summarise(digest: Digest) -> str:
    """What was wanted in a session and what was done first, in two sentences at most."""
    wanted = _MORE_REQUESTS.sub("", digest.request)
    # What was done is told with the title of its request, which may be the one before.
    title = wanted.rpartition(_TITLE_MARK)[2]
    parts = [wanted, *(done.removeprefix(title).lstrip(" :") for done in digest.completed[:1])]
    firsts = [collapse_spaces((sentences(part) or [part])[0]) for part in parts if part.strip()]
    return " ".join(text if text.endswith(_ENDS) else f"{text}." for text in firsts)
