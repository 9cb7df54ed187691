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

from holdfast.language import STOPWORDS, cut, stem, words
from holdfast.model.accounts import Injection, InjectionKind, Use
from holdfast.model.records import Exchange, Role, Session, Turn
from holdfast.model.team import Commit
from holdfast.model.uris import parse_uri
from holdfast.store.notes import Notes
from holdfast.store.protocol import Store

_OVER = timedelta(hours=2)
_OLD = timedelta(days=7)
_CITED = 8
_WORDING = 4
_BECAUSE = 160
_AFTER = 400
_LINE = 4_000_000
_OTHERWISE = re.compile(
    r"\b(?:that(?:'s| is) (?:wrong|outdated|old|not (?:true|right|so))|no longer (?:true|holds|the "
    r"case)|(?:not|isn't|is not) (?:true|right|correct) any ?more|we changed that|ignore (?:that|"
    r"the memory|holdfast|the brief)|was (?:changed|dropped) since|forget (?:that|what))\b",
    re.IGNORECASE,
)


class Ledger(Store, Notes, Protocol):
    """A store that keeps the ledger of injections."""


class Settled(NamedTuple):
    """How many injections got their verdict, and how many wait for it."""

    settled: int = 0
    waiting: int = 0


def settle_injections(store: Ledger, now: str) -> Settled:
    """Give a verdict on every injection whose session is over."""
    waiting = store.injections(None, unsettled=True, limit=1000)
    verdicts: list[Injection] = []
    for injection in waiting:
        told = _verdict(store, injection, datetime.fromisoformat(now))
        if told is not None:
            verdicts.append(told)
    if verdicts:
        with store.transaction():
            for verdict in verdicts:
                store.settle_injection(verdict)
    return Settled(len(verdicts), len(waiting) - len(verdicts))


def _verdict(store: Ledger, injection: Injection, now: datetime) -> Injection | None:
    """What became of an injection; None while its session may go on."""
    sessions = _sessions(store, injection)
    last = max((s.ended or s.started for s in sessions), default="") or injection.time
    age = now - datetime.fromisoformat(last) if last else _OLD
    if age < (_OVER if sessions else _OLD):
        return None
    arrived = _arrived(store, injection, sessions)
    turns = [turn for s in sessions for turn in _after(store, s, injection)]
    use, because = _use(store, injection, turns)
    return replace(injection, arrived=arrived, use=use, because=because)


def _sessions(store: Ledger, injection: Injection) -> list[Session]:
    known = store.sessions(injection.bank, 5000)
    return [s for s in known if s.host == injection.session]


def _after(store: Ledger, session: Session, injection: Injection) -> Iterable[Turn]:
    """The turns that came after an injection, as many as could still be about it."""
    turns = store.turns(injection.bank, session.id)
    later = [turn for turn in turns if not turn.time or turn.time[:19] >= injection.time[:19]]
    return later[:_AFTER]


def _arrived(store: Ledger, injection: Injection, sessions: Sequence[Session]) -> bool | None:
    """Whether the transcript shows that the host passed the brief on; None without one."""
    brief = injection.id.split(".")[0].encode()
    looked = False
    for session in sessions:
        source = store.source(session.source)
        try:
            with Path(source.path if source else os.devnull).open("rb") as file:
                for line in iter(lambda: file.readline(_LINE), b""):
                    looked = True
                    if brief in line and b'"attachment"' in line:
                        return True
        except OSError:
            continue
    return False if looked else None


def _use(store: Ledger, injection: Injection, turns: Sequence[Turn]) -> tuple[Use, str]:
    """The strongest sign of use, and the piece of the session that shows it."""
    for turn in turns:
        if turn.role is Role.USER and _OTHERWISE.search(turn.text[:600]):
            return Use.CONTRADICTED, cut(turn.text, _BECAUSE)
    asked = " ".join(turn.text[:4000] for turn in turns if turn.role is Role.USER)
    records = _Records(store, injection, asked)
    for use, shows in (
        (Use.CITED, records.cited),
        (Use.FILE, records.touched),
        (Use.WORDING, records.worded),
    ):
        for turn in turns:
            if turn.role is not Role.USER and (found := shows(turn)):
                return use, cut(found, _BECAUSE)
    return Use.IGNORED, ""


class _Records:
    """What the records of an injection are known by."""

    def __init__(self, store: Ledger, injection: Injection, asked: str) -> None:
        """Words that were `asked` in the session itself show no use of anything else."""
        self._asked = {stem(word) for word in words(asked)}
        named = [parsed for uri in injection.records if (parsed := parse_uri(uri))]
        self._ids = [parsed.id[:_CITED] for parsed in named if len(parsed.id) >= _CITED]
        self._files: set[str] = set()
        self._words: list[frozenset[str]] = []
        # An index of recent work names dozens of files: that one of them is opened shows nothing.
        telling = injection.kind is not InjectionKind.START
        for parsed in named if telling else ():
            for record in store.find(injection.bank, parsed.word, parsed.id, 1):
                self._learn(record)

    def _learn(self, record: object) -> None:
        if isinstance(record, Exchange):
            self._files |= set(record.files_modified[:8])
            said = " ".join((record.title, record.summary, *record.facts))
        elif isinstance(record, Commit):
            self._files |= set(record.files[:8])
            said = f"{record.subject} {record.body[:600]}"
        elif isinstance(record, Turn):
            said = record.text[:600]
        else:
            return
        rare = {stem(w) for w in words(said) if len(w) > 5 and w not in STOPWORDS}
        self._words.append(frozenset(rare - self._asked))

    def cited(self, turn: Turn) -> str:
        """The text of a turn that names a record."""
        text = _text(turn)
        return text if any(id in text for id in self._ids) else ""

    def touched(self, turn: Turn) -> str:
        """The file that a tool changed or read."""
        target = turn.tool.target.replace("\\", "/") if turn.tool is not None else ""
        ends = tuple("/" + file.replace("\\", "/") for file in self._files)
        return target if target and ("/" + target).endswith(ends or ("\0",)) else ""

    def worded(self, turn: Turn) -> str:
        """What an assistant said in a record's own words."""
        if turn.role is not Role.ASSISTANT or not turn.text:
            return ""
        said = {stem(word) for word in words(turn.text[:4000])}
        taken = (rare & said for rare in self._words)
        return turn.text if any(len(shared) >= _WORDING for shared in taken) else ""


def _text(turn: Turn) -> str:
    if turn.tool is None:
        return turn.text
    return f"{turn.tool.target} {turn.tool.action}"
