"""The outcome of each injection: was it delivered, and was it used?

A hook notes each injection in the ledger. Once the session is over, its transcript is read: the
brief's id shows whether the host delivered it; the turns after it show whether it was cited, its
file touched, its wording used, or whether the user contradicted it. Without any of these it was
ignored.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from holdfast.language import STOPWORDS, stem, truncate, words
from holdfast.model.knowledge import Fact, Memory
from holdfast.model.ledgers.injections import Injection, InjectionKind, InjectionUse, RecordUse
from holdfast.model.records import Exchange, Role, Session, Turn
from holdfast.model.team import Commit
from holdfast.model.uris import parse_uri
from holdfast.regex import regex
from holdfast.sources.claude_code.files import AGENT
from holdfast.store.protocol import Store

# A session without a turn for this long counts as over; an injection whose session was never read
# is given up after a week.
_SESSION_OVER = timedelta(hours=2)
_GIVE_UP = timedelta(days=7)
# A record is cited by this many characters of its id, which no text has by chance.
_MIN_CITED_ID = 8
# Its wording was used if a turn has this many of its long words that the user did not say first.
_MIN_SHARED_WORDS = 4
_MIN_WORD_LENGTH = 6
# How much is read: turns after the injection, characters of a turn, files and text of a record.
_MAX_TURNS = 400
_MAX_TURN_TEXT = 4000
_MAX_USER_TEXT = 600
_MAX_FILES = 8
_MAX_RECORD_TEXT = 600
_MAX_LINE_BYTES = 4_000_000
_MAX_INJECTIONS = 1000
_MAX_SESSIONS = 5000
# The characters of the turn that are stored as the reason.
_MAX_REASON = 160
# The kinds that state facts, so that their use confirms a fact.
_KINDS_OF_FACTS = ("fact", "memory", "turn")
_CONTRADICTS = regex(
    r"\b(?:that(?:'s| is) (?:wrong|outdated|old|not (?:true|right|so))|no longer (?:true|holds|the "
    r"case)|(?:not|isn't|is not) (?:true|right|correct) any ?more|we changed that|ignore (?:that|"
    r"the memory|holdfast|the brief)|was (?:changed|dropped) since|forget (?:that|what))\b",
    re.IGNORECASE,
)


# The strongest first.
_SIGNS_OF_USE = (InjectionUse.CITED, InjectionUse.FILE, InjectionUse.WORDING)


class SettledCounts(NamedTuple):
    """How many injections got an outcome, and how many wait for one."""

    settled: int = 0
    waiting: int = 0


def settle_injections(store: Store, now: str) -> SettledCounts:
    """Store the outcome of every injection whose session is over, and which records were used: use
    confirms the facts they state."""
    waiting = store.injections.latest(None, unsettled=True, limit=_MAX_INJECTIONS)
    outcomes: list[tuple[Injection, Sequence[RecordUse]]] = []
    for injection in waiting:
        outcome = _outcome(store, injection, datetime.fromisoformat(now))
        if outcome is not None:
            outcomes.append(outcome)
    if outcomes:
        with store.transaction():
            for injection, uses in outcomes:
                store.injections.record_outcome(injection)
                if uses:
                    store.facts.put_uses(injection.bank, uses)
                    store.progress.mark_changed(injection.bank, "")
    return SettledCounts(len(outcomes), len(waiting) - len(outcomes))


def _outcome(
    store: Store, injection: Injection, now: datetime
) -> tuple[Injection, Sequence[RecordUse]] | None:
    """An injection with its outcome, and the uses of its records; None while its session may go
    on."""
    sessions = _sessions_of(store, injection)
    last = max((s.ended or s.started for s in sessions), default="") or injection.time
    age = now - datetime.fromisoformat(last) if last else _GIVE_UP
    if age < (_SESSION_OVER if sessions else _GIVE_UP):
        return None
    arrived = _was_delivered(store, injection, sessions)
    turns = [turn for s in sessions for turn in _turns_after(store, s, injection)]
    asked = " ".join(turn.text[:_MAX_TURN_TEXT] for turn in turns if turn.role is Role.USER)
    records = _InjectedRecords(store, injection, asked)
    use, because = _strongest_use(records, turns)
    done = replace(injection, arrived=arrived, use=use, because=because)
    of_use = arrived is not False and use not in (InjectionUse.CONTRADICTED, InjectionUse.IGNORED)
    return done, records.uses(turns) if of_use else ()


class RecordOutcome(NamedTuple):
    """What a session did with one record of an injection, and the turn that shows it; None if it
    was ignored."""

    use: InjectionUse
    turn: Turn | None = None


def record_outcomes(
    store: Store, injection: Injection, sessions: Sequence[Session]
) -> dict[str, RecordOutcome]:
    """Whether and how each record of an injection was used, by its URI."""
    turns = [turn for s in sessions for turn in _turns_after(store, s, injection)]
    asked = " ".join(turn.text[:_MAX_TURN_TEXT] for turn in turns if turn.role is Role.USER)
    records = _InjectedRecords(store, injection, asked)
    return {record.uri: _record_outcome(record, turns) for record in records.all}


def contradicting_turn(
    store: Store, injection: Injection, sessions: Sequence[Session]
) -> Turn | None:
    """The turn in which the user said that something of an injection is wrong."""
    turns = (turn for s in sessions for turn in _turns_after(store, s, injection))
    return next((turn for turn in turns if _contradicts(turn)), None)


def _record_outcome(record: _InjectedRecord, turns: Sequence[Turn]) -> RecordOutcome:
    for use in _SIGNS_OF_USE:
        for turn in turns:
            if turn.role is not Role.USER and record.evidence_of_use(use, turn):
                return RecordOutcome(use, turn)
    return RecordOutcome(InjectionUse.IGNORED)


def _contradicts(turn: Turn) -> bool:
    return turn.role is Role.USER and bool(_CONTRADICTS.search(turn.text[:_MAX_USER_TEXT]))


def _sessions_of(store: Store, injection: Injection) -> list[Session]:
    known = store.sessions.latest(injection.bank, _MAX_SESSIONS)
    return [s for s in known if s.host == injection.session]


def _turns_after(store: Store, session: Session, injection: Injection) -> Iterable[Turn]:
    """The turns after an injection, up to `_MAX_TURNS`."""
    turns = store.turns.of_session(injection.bank, session.id)
    later = [turn for turn in turns if not turn.time or turn.time[:19] >= injection.time[:19]]
    return later[:_MAX_TURNS]


def _was_delivered(store: Store, injection: Injection, sessions: Sequence[Session]) -> bool | None:
    """Whether the transcript shows that the host delivered the brief; None without a transcript."""
    brief = injection.id.split(".")[0].encode()
    looked = False
    for session in sessions:
        source = store.sources.get(session.source)
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
    """The strongest sign of use, and the text that shows it."""
    for turn in turns:
        if _contradicts(turn):
            return InjectionUse.CONTRADICTED, truncate(turn.text, _MAX_REASON)
    for use in _SIGNS_OF_USE:
        for turn in turns:
            for record in records.all if turn.role is not Role.USER else ():
                if found := record.evidence_of_use(use, turn):
                    return use, truncate(found, _MAX_REASON)
    return InjectionUse.IGNORED, ""


class _InjectedRecord(NamedTuple):
    """By what the use of an injected record is recognised: id, files, and rare stems."""

    uri: str
    id: str
    files: frozenset[str] = frozenset()
    rare: frozenset[str] = frozenset()

    def evidence_of_use(self, use: InjectionUse, turn: Turn) -> str:
        """The text of a turn that shows this kind of use; "" if it shows none."""
        if use is InjectionUse.CITED:
            tool = turn.tool
            text = turn.text if tool is None else f"{tool.target} {tool.action}"
            return text if self.id and self.id in text else ""
        if use is InjectionUse.FILE:
            target = turn.tool.target.replace("\\", "/") if turn.tool is not None else ""
            ends = tuple("/" + file.replace("\\", "/") for file in self.files)
            return target if target and ("/" + target).endswith(ends or ("\0",)) else ""
        if turn.role is not Role.ASSISTANT or not turn.text or len(self.rare) < _MIN_SHARED_WORDS:
            return ""
        said = {stem(word) for word in words(turn.text[:_MAX_TURN_TEXT])}
        return turn.text if len(self.rare & said) >= _MIN_SHARED_WORDS else ""


class _InjectedRecords:
    """The records of an injection."""

    def __init__(self, store: Store, injection: Injection, asked: str) -> None:
        """Words that the user said in the session (`asked`) show no use of a record."""
        self._asked_stems = {stem(word) for word in words(asked)}
        # A session brief lists dozens of files: that one of them is opened shows nothing.
        self._files_and_words_count = injection.kind is not InjectionKind.START
        self.all: list[_InjectedRecord] = []
        for name in injection.records:
            if parsed := parse_uri(name):
                found = store.records.find(injection.bank, parsed.kind, parsed.id, 1)
                id = parsed.id[:_MIN_CITED_ID] if len(parsed.id) >= _MIN_CITED_ID else ""
                self.all.append(self._describe(_InjectedRecord(name, id), next(iter(found), None)))

    def uses(self, turns: Sequence[Turn]) -> list[RecordUse]:
        """The first use of each record that may state a fact."""
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
            files = record.files_modified[:_MAX_FILES]
            said = " ".join((record.title, record.summary, *record.facts))
        elif isinstance(record, Commit):
            files = record.files[:_MAX_FILES]
            said = f"{record.subject} {record.body[:_MAX_RECORD_TEXT]}"
        elif isinstance(record, Turn):
            said = record.text[:_MAX_RECORD_TEXT]
        else:
            return known
        rare = {stem(w) for w in words(said) if len(w) >= _MIN_WORD_LENGTH and w not in STOPWORDS}
        return known._replace(files=frozenset(files), rare=frozenset(rare - self._asked_stems))


def _shows_use(record: _InjectedRecord, turn: Turn) -> bool:
    """Whether a turn shows use of the record itself. A touched file does not: there may be any
    reason for it."""
    if turn.role is Role.USER or not turn.time:
        return False
    return any(
        record.evidence_of_use(use, turn) for use in (InjectionUse.CITED, InjectionUse.WORDING)
    )
