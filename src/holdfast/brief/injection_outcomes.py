"""What became of each injection: did it arrive, and was it of any use?

A hook leaves a note when it puts something into a session, and the note comes into the ledger.
Once the session is over its transcript is read: the brief's own id shows whether the host
passed it on; what was said and done after shows whether it was cited, its file touched, its
wording taken up, or whether the user said otherwise. What leaves no trace was ignored.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple, Protocol

from holdfast.language import STOPWORDS, stem, truncate, words
from holdfast.model.injections import Injection, InjectionKind, InjectionUse, RecordUse
from holdfast.model.knowledge import Fact, Memory
from holdfast.model.records import Exchange, Role, Session, Turn
from holdfast.model.team import Commit
from holdfast.model.uris import parse_uri
from holdfast.sources.claude_code.files import AGENT
from holdfast.store.protocol import Store
from holdfast.store.protocol.injections import InjectionLedger

_SESSION_OVER = timedelta(hours=2)
_GIVE_UP = timedelta(days=7)
_MIN_CITED_ID = 8
_MIN_SHARED_WORDS = 4
_MAX_REASON = 160
_MAX_TURNS = 400
_MAX_LINE_BYTES = 4_000_000
# What a fact is told by: itself, what was remembered, or the words of the time.
_KINDS_OF_FACTS = ("fact", "memory", "turn")
_CONTRADICTS = re.compile(
    r"\b(?:that(?:'s| is) (?:wrong|outdated|old|not (?:true|right|so))|no longer (?:true|holds|the "
    r"case)|(?:not|isn't|is not) (?:true|right|correct) any ?more|we changed that|ignore (?:that|"
    r"the memory|holdfast|the brief)|was (?:changed|dropped) since|forget (?:that|what))\b",
    re.IGNORECASE,
)


class Ledger(Store, InjectionLedger, Protocol):
    """A store that keeps the ledger of injections."""


class SettledCounts(NamedTuple):
    """How many injections got their verdict, and how many wait for it."""

    settled: int = 0
    waiting: int = 0


class _Outcome(NamedTuple):
    injection: Injection
    uses: Sequence[RecordUse] = ()


def settle_injections(store: Ledger, now: str) -> SettledCounts:
    """Give a verdict on every injection whose session is over. What was of use is noted by
    record: it bears out the facts that it states."""
    waiting = store.injections(None, unsettled=True, limit=1000)
    outcomes: list[_Outcome] = []
    for injection in waiting:
        told = _outcome(store, injection, datetime.fromisoformat(now))
        if told is not None:
            outcomes.append(told)
    if outcomes:
        with store.transaction():
            for injection, uses in outcomes:
                store.record_injection_outcome(injection)
                if uses:
                    store.put_uses(injection.bank, uses)
                    store.mark_changed(injection.bank, "")
    return SettledCounts(len(outcomes), len(waiting) - len(outcomes))


def _outcome(store: Ledger, injection: Injection, now: datetime) -> _Outcome | None:
    """What became of an injection; None while its session may go on."""
    sessions = _sessions_of(store, injection)
    last = max((s.ended or s.started for s in sessions), default="") or injection.time
    age = now - datetime.fromisoformat(last) if last else _GIVE_UP
    if age < (_SESSION_OVER if sessions else _GIVE_UP):
        return None
    arrived = _was_delivered(store, injection, sessions)
    turns = [turn for s in sessions for turn in _turns_after(store, s, injection)]
    asked = " ".join(turn.text[:4000] for turn in turns if turn.role is Role.USER)
    records = _InjectedRecords(store, injection, asked)
    use, because = _strongest_use(records, turns)
    done = replace(injection, arrived=arrived, use=use, because=because)
    of_use = arrived is not False and use not in (InjectionUse.CONTRADICTED, InjectionUse.IGNORED)
    return _Outcome(done, records.uses(turns) if of_use else ())


def _sessions_of(store: Ledger, injection: Injection) -> list[Session]:
    known = store.sessions(injection.bank, 5000)
    return [s for s in known if s.host == injection.session]


def _turns_after(store: Ledger, session: Session, injection: Injection) -> Iterable[Turn]:
    """The turns that came after an injection, as many as could still be about it."""
    turns = store.turns(injection.bank, session.id)
    later = [turn for turn in turns if not turn.time or turn.time[:19] >= injection.time[:19]]
    return later[:_MAX_TURNS]


def _was_delivered(store: Ledger, injection: Injection, sessions: Sequence[Session]) -> bool | None:
    """Whether the transcript shows that the host passed the brief on; None without one."""
    brief = injection.id.split(".")[0].encode()
    looked = False
    for session in sessions:
        source = store.source(session.source)
        elsewhere = session.agent != AGENT
        try:
            with Path(source.path if source else os.devnull).open("rb") as file:
                for line in iter(lambda: file.readline(_MAX_LINE_BYTES), b""):
                    looked = True
                    if brief in line and (elsewhere or b'"attachment"' in line):
                        return True
        except OSError:
            continue
    return False if looked else None


def _strongest_use(records: _InjectedRecords, turns: Sequence[Turn]) -> tuple[InjectionUse, str]:
    """The strongest sign of use, and the piece of the session that shows it."""
    for turn in turns:
        if turn.role is Role.USER and _CONTRADICTS.search(turn.text[:600]):
            return InjectionUse.CONTRADICTED, truncate(turn.text, _MAX_REASON)
    for use in (InjectionUse.CITED, InjectionUse.FILE, InjectionUse.WORDING):
        for turn in turns:
            for record in records.all if turn.role is not Role.USER else ():
                if found := record.evidence_of_use(use, turn):
                    return use, truncate(found, _MAX_REASON)
    return InjectionUse.IGNORED, ""


class _InjectedRecord(NamedTuple):
    """What a record of an injection is known by."""

    uri: str
    id: str
    files: frozenset[str] = frozenset()
    rare: frozenset[str] = frozenset()

    def evidence_of_use(self, use: InjectionUse, turn: Turn) -> str:
        """The piece of a turn that shows such a use of it."""
        if use is InjectionUse.CITED:
            text = _turn_text(turn)
            return text if self.id and self.id in text else ""
        if use is InjectionUse.FILE:
            target = turn.tool.target.replace("\\", "/") if turn.tool is not None else ""
            ends = tuple("/" + file.replace("\\", "/") for file in self.files)
            return target if target and ("/" + target).endswith(ends or ("\0",)) else ""
        if turn.role is not Role.ASSISTANT or not turn.text or len(self.rare) < _MIN_SHARED_WORDS:
            return ""
        said = {stem(word) for word in words(turn.text[:4000])}
        return turn.text if len(self.rare & said) >= _MIN_SHARED_WORDS else ""


class _InjectedRecords:
    """The records of an injection."""

    def __init__(self, store: Ledger, injection: Injection, asked: str) -> None:
        """Words that were `asked` in the session itself show no use of anything else."""
        self._asked_stems = {stem(word) for word in words(asked)}
        # An index of recent work names dozens of files: that one of them is opened shows nothing.
        self._files_and_words_count = injection.kind is not InjectionKind.START
        self.all: list[_InjectedRecord] = []
        for name in injection.records:
            if parsed := parse_uri(name):
                found = store.find(injection.bank, parsed.kind, parsed.id, 1)
                id = parsed.id[:_MIN_CITED_ID] if len(parsed.id) >= _MIN_CITED_ID else ""
                self.all.append(self._describe(_InjectedRecord(name, id), next(iter(found), None)))

    def uses(self, turns: Sequence[Turn]) -> list[RecordUse]:
        """Where each record that may state a fact was first made use of."""
        found: list[RecordUse] = []
        for record in self.all:
            if (parsed := parse_uri(record.uri)) and parsed.kind in _KINDS_OF_FACTS:
                first = next((turn for turn in turns if _shows_use(record, turn)), None)
                if first is not None:
                    found.append(RecordUse(record.uri, first.session, first.id, first.time))
        return found

    def _describe(self, known: _InjectedRecord, record: object) -> _InjectedRecord:
        files: Sequence[str] = ()
        if isinstance(record, Fact):
            said = f"{record.problem} {record.content}"
        elif isinstance(record, Memory):
            said = record.what
        elif not self._files_and_words_count:
            return known
        elif isinstance(record, Exchange):
            files = record.files_modified[:8]
            said = " ".join((record.title, record.summary, *record.facts))
        elif isinstance(record, Commit):
            files = record.files[:8]
            said = f"{record.subject} {record.body[:600]}"
        elif isinstance(record, Turn):
            said = record.text[:600]
        else:
            return known
        rare = {stem(w) for w in words(said) if len(w) > 5 and w not in STOPWORDS}
        return known._replace(files=frozenset(files), rare=frozenset(rare - self._asked_stems))


def _shows_use(record: _InjectedRecord, turn: Turn) -> bool:
    """Whether a turn shows use of the record itself: its file may be touched for any reason."""
    if turn.role is Role.USER or not turn.time:
        return False
    return any(record.evidence_of_use(use, turn) for use in (InjectionUse.CITED, InjectionUse.WORDING))


def _turn_text(turn: Turn) -> str:
    if turn.tool is None:
        return turn.text
    return f"{turn.tool.target} {turn.tool.action}"
