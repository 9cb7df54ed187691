"""What a memory distilled of each transcript: records that hold, a title and a summary.

A session is named by the file name of its transcript without its ending; a subagent's by its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.language import collapse_spaces, sentences, words
from holdfast.model.ids import content_id
from holdfast.model.knowledge import EvidenceKind, Kind
from holdfast.model.records import Digest, Exchange, Session, Turn
from holdfast.model.trust import ENDED_STATUSES
from holdfast.model.uris import uri
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.recall.lookup.endings import RecordEndings
from holdfast.refine.sessions.titles import session_title
from holdfast.regex import regex
from holdfast.sources.source_files import line_on_disk
from holdfast.store.protocol import Store

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
    records: dict[tuple[str, str], DistilledRecord] = {}
    sessions: list[DistilledSession] = []
    for bank in memory.reader.banks.all():
        reader = _BankReader(memory.store, bank.id, names)
        for record in reader.memories():
            records.setdefault((record.session, record.uri), record)
        said: dict[str, list[str]] = {}
        for record in records.values():
            said.setdefault(record.session, []).append(_words(record.text))
        for record in reader.facts():
            if not any(_words(record.text) in text for text in said.get(record.session, ())):
                records.setdefault((record.session, record.uri), record)
        sessions += reader.descriptions()
    return Distilled(tuple(records.values()), tuple(sessions))


class _BankReader:
    """Reads what was distilled into one bank. `names` are those of sessions, by source."""

    def __init__(self, reader: Store, bank: str, names: Mapping[int, str]) -> None:
        self._reader, self._bank, self._names = reader, bank, names
        found = (s for s in reader.sessions.latest(bank, _ALL) if s.source in names)
        self._sessions = sorted(found, key=lambda session: (session.started, session.id))

    def memories(self) -> Iterator[DistilledRecord]:
        """The memories that hold, session by session, in the order of their exchanges."""
        endings = RecordEndings(self._reader)
        known = {
            one.id: one
            for one in self._reader.memories.retained(self._bank, limit=_ALL)
            if one.kind is not None
            and getattr(endings.with_status(one), "status", None) not in ENDED_STATUSES
        }
        for session in self._sessions:
            occurrences = self._reader.memories.occurrences(self._bank, session.id)
            for occurrence in sorted(occurrences, key=lambda one: (one.seq, one.key)):
                memory = known.get(content_id("memory", occurrence.key))
                if memory is None or memory.kind is None:
                    continue
                own = self._lines(occurrence.evidence, occurrence.what)
                lines = (*own, *self._lines(memory.evidence_for, memory.what))
                name = uri("memory", memory.id)
                for one in _sessions_of(own) or (self._names[session.source],):
                    yield _record(one, memory.kind, memory.what, name, lines)

    def facts(self) -> Iterator[DistilledRecord]:
        """The facts that hold, once for each session that states one."""
        for fact in self._reader.facts.all(self._bank):
            if fact.status not in ENDED_STATUSES:
                evidence = self._reader.facts.evidence(self._bank, fact.id)
                stated = [one.uri for one in evidence if one.how is EvidenceKind.STATED]
                lines = self._lines(stated, fact.content)
                for name in _sessions_of(lines):
                    yield _record(name, fact.kind.says, fact.content, uri("fact", fact.id), lines)

    def descriptions(self) -> Iterator[DistilledSession]:
        """The title and the summary of each transcript: those of its own session, where lines of
        another session or of a subagent are in it, too."""
        first: dict[str, Session] = {}
        names = self._names
        for s in sorted(self._sessions, key=lambda s: (bool(s.parent), s.host != names[s.source])):
            first.setdefault(names[s.source], s)
        for name, session in first.items():
            exchanges = self._reader.sessions.exchanges(self._bank, session.id)
            digest = self._reader.sessions.digest(self._bank, session.id)
            title = collapse_spaces(session_title(session, exchanges))
            yield DistilledSession(name, title, summarise(digest) if digest else "")

    def _lines(self, uris: Iterable[str], text: str) -> tuple[EvidenceLine, ...]:
        """The lines of the turns among some records. Without any, the lines of the exchanges that
        say the text, or else begin them."""
        records = [find_by_uri(self._reader, self._bank, one) for one in uris]
        turns = [one for one in records if isinstance(one, Turn)]
        if not turns:
            for x in (one for one in records if isinstance(one, Exchange)):
                said = self._reader.turns.of_session(x.bank, x.session, x.first_seq, x.last_seq)
                turns += [one for one in said if _words(text) in _words(one.text)][:1] or said[:1]
        lines: list[EvidenceLine] = []
        for turn in turns:
            at, source = turn.origin, self._reader.sources.get(turn.origin.source)
            if at.source in self._names:
                line = at.line
                if source is not None:
                    path = Path(source.path)
                    line = line_on_disk(path, source.agent, at.line, turn.text, at.ref)
                lines.append(EvidenceLine(self._names[at.source], line))
        return tuple(lines)


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
