"""Which session made which commit.

Told by the strongest sign there is: the name that git printed when the session committed, a
trailer that names the session, the same subject at about the same time, files that the session
changed shortly before, or words of the message that one session of those days clearly speaks of.
A sign that could mean several sessions names none of them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from datetime import datetime, timedelta
from typing import NamedTuple

from holdfast.language import squeeze
from holdfast.model.records import Exchange, Session, Turn
from holdfast.model.team import Commit
from holdfast.refine.core import signals
from holdfast.refine.git.commit_matching import find_discussing_session
from holdfast.store.protocol import Reader, Writer
from holdfast.store.protocol.git_history import CommitAuthorship

NAME, VERSION = "authorship", 2
_PRINTED = re.compile(r"^\[[^\]\n]*\b([0-9a-f]{7,40})\] ", re.MULTILINE)
_TRAILER = re.compile(
    r"^(?:claude-session|session|session-id|agent-session)(?:-id)?: *(\S+)$",
    re.IGNORECASE | re.MULTILINE,
)
_SURE, _SAME_SUBJECT, _SAME_FILES, _SAME_WORDS = 1.0, 0.95, 0.85, 0.7
_SUBJECT_WITHIN = timedelta(days=1)
_FILES_WITHIN = timedelta(hours=12)
_CLOCKS_DIFFER = timedelta(minutes=5)
_WORDS_WITHIN = timedelta(days=3)
_STILL_NEW = timedelta(days=14)
_MOST_BY_WORDS = 2000
_ENOUGH_FILES = 0.6
_CLEARLY = 1.25
_SESSIONS = 1_000_000
_BY_WORDS = "its words"


class _Committed(NamedTuple):
    """A commit that a session ran: when, in which turn, and what is known of it."""

    turn: Turn
    names: tuple[str, ...]
    subject: str


class _Span(NamedTuple):
    """When a session may have made a commit."""

    host: str
    start: datetime
    end: datetime


class _Edit(NamedTuple):
    exchange: Exchange
    until: datetime


def link_all_commits(writer: Writer, tick: Callable[[], None] = lambda: None) -> int:
    """Bring every bank up to date; returns of how many commits the session is known."""
    done = 0
    for bank in writer.banks_behind(NAME, VERSION):
        tick()
        done += link_commits(writer, bank)
    return done


def link_commits(writer: Writer, bank: str) -> int:
    """Work out anew which sessions made the commits of a bank; returns how many are known."""
    changes = writer.unseen_changes(bank, NAME, VERSION, _SESSIONS)
    if not changes:
        return 0
    with writer.transaction():
        changed = {change.session for change in changes}
        there = next(writer.all_commits(bank), None) is not None
        made = list(_Linking(writer, bank, changed).links()) if there else []
        writer.put_authorship(bank, made)
        writer.mark_seen(bank, NAME, VERSION, changes[-1].number)
    return len({one.commit for one in made})


class _Linking:
    def __init__(self, reader: Writer, bank: str, changed: Set[str]) -> None:
        self._reader = reader
        self._bank = bank
        self._sessions = {s.id: s for s in reader.sessions(bank, _SESSIONS)}
        known = [a for a in reader.authorship(bank) if a.session in self._sessions]
        self._before = {a.commit: a for a in known if a.because == _BY_WORDS}
        self._first = not known
        self._asked = 0
        self._exchanges = {id: reader.exchanges(bank, id) for id in self._sessions}
        self._committed = [_committed(turn) for turn in reader.commit_turns(bank)]
        self._by_subject: dict[str, list[_Committed]] = defaultdict(list)
        for one in self._committed:
            if one.subject:
                self._by_subject[one.subject.casefold()].append(one)
        self._by_name: dict[str, list[_Committed]] = defaultdict(list)
        for one in self._committed:
            for name in one.names:
                self._by_name[name[:7]].append(one)
        self._by_host = {s.host: s for s in self._sessions.values() if not s.parent}
        self._edits = _edits(self._exchanges.values())
        self._hosts = {s.id: s.host for s in self._sessions.values()}
        self._spans = [_Span(*span) for s in self._sessions.values() if (span := _span(s))]
        self._changed = {self._hosts[id] for id in changed if id in self._hosts}
        self._new = "" in changed
        self._latest = max((_moment(c.time) for c in reader.all_commits(bank) if c.time), default=None)

    def links(self) -> Iterator[CommitAuthorship]:
        for commit in self._reader.all_commits(self._bank):
            found = self._link(commit)
            if found is not None:
                yield found

    def _link(self, commit: Commit) -> CommitAuthorship | None:
        return (
            self._by_printed_name(commit)
            or self._by_trailer(commit)
            or self._by_same_subject(commit)
            or self._by_files(commit)
            or self._by_words(commit)
        )

    def _by_printed_name(self, commit: Commit) -> CommitAuthorship | None:
        near = self._by_name.get(commit.id[:7], ())
        found = [c for c in near if any(commit.id.startswith(name) for name in c.names)]
        return self._made(commit, found[0].turn, _SURE, "its name") if found else None

    def _by_trailer(self, commit: Commit) -> CommitAuthorship | None:
        for name in _TRAILER.findall(commit.body):
            session = self._by_host.get(name.rpartition("/")[2])
            if session is not None:
                return CommitAuthorship(self._bank, commit.id, session.id, "", _SURE, "its trailer")
        return None

    def _by_same_subject(self, commit: Commit) -> CommitAuthorship | None:
        when = _moment(commit.time)
        same = self._by_subject.get(squeeze(commit.subject).casefold(), ())
        near = [
            (abs(_moment(c.turn.time) - when), c)
            for c in same
            if when and c.turn.time and abs(_moment(c.turn.time) - when) <= _SUBJECT_WITHIN
        ]
        if not near:
            return None
        _, nearest = min(near, key=lambda pair: pair[0])
        return self._made(commit, nearest.turn, _SAME_SUBJECT, "its subject")

    def _by_files(self, commit: Commit) -> CommitAuthorship | None:
        """The session that changed most of its files in the hours before, if one clearly did."""
        if not commit.time or not commit.files:
            return None
        when = _moment(commit.time)
        touched: dict[str, set[str]] = defaultdict(set)
        last: dict[str, Exchange] = {}
        for file in commit.files:
            for edit in self._edits.get(file.rpartition("/")[2], ()):
                early = when - _FILES_WITHIN <= edit.until <= when + _CLOCKS_DIFFER
                if early and any(_same_file(file, f) for f in edit.exchange.files_modified):
                    touched[edit.exchange.session].add(file)
                    last[edit.exchange.session] = edit.exchange
        ranked = sorted(touched.items(), key=lambda pair: (-len(pair[1]), pair[0]))
        if not ranked or len(ranked[0][1]) < _ENOUGH_FILES * len(commit.files):
            return None
        if len(ranked) > 1 and len(ranked[0][1]) < _CLEARLY * len(ranked[1][1]):
            return None
        session, files = ranked[0]
        score = round(_SAME_FILES * len(files) / len(commit.files), 3)
        return CommitAuthorship(self._bank, commit.id, session, last[session].id, score, "its files")

    def _by_words(self, commit: Commit) -> CommitAuthorship | None:
        """The session that clearly speaks of it most, if it was at work in those days. Asked again
        only where something changed that may tell otherwise."""
        if not commit.time:
            return None
        when = _moment(commit.time)
        near = {s.host for s in self._spans if s.start <= when <= s.end}
        young = self._latest is not None and when >= self._latest - _STILL_NEW
        if not near:
            return None
        if not (self._first or near & self._changed or (self._new and young)):
            return self._before.get(commit.id)
        if self._asked >= _MOST_BY_WORDS:
            return None
        self._asked += 1
        spoken = find_discussing_session(self._reader, self._bank, commit.subject, self._hosts)
        if spoken is None or not spoken.is_clear or spoken.host not in near:
            return None
        passage = spoken.best.passage
        exchange = passage.id if passage.kind == "exchange" else ""
        if passage.kind == "turn":
            inside = self._exchanges.get(passage.session, ())
            holding = (x.id for x in inside if x.first_seq <= passage.seq <= x.last_seq)
            exchange = next(holding, "")
        made = (passage.session, exchange, _SAME_WORDS, _BY_WORDS)
        return CommitAuthorship(self._bank, commit.id, *made)

    def _made(self, commit: Commit, turn: Turn, score: float, because: str) -> CommitAuthorship:
        inside = self._exchanges.get(turn.session, ())
        exchange = next((x.id for x in inside if x.first_seq <= turn.seq <= x.last_seq), "")
        return CommitAuthorship(self._bank, commit.id, turn.session, exchange, score, because)


def _committed(turn: Turn) -> _Committed:
    result = turn.tool.result if turn.tool is not None else ""
    return _Committed(turn, tuple(_PRINTED.findall(result)), signals.commit_message(turn))


def _edits(sessions: Iterable[Sequence[Exchange]]) -> dict[str, list[_Edit]]:
    """Exchanges by the last name of each file they changed, in the order of time."""
    edits: dict[str, list[_Edit]] = defaultdict(list)
    for exchange in sorted((x for s in sessions for x in s), key=lambda x: (x.ended, x.id)):
        if exchange.ended:
            edit = _Edit(exchange, _moment(exchange.ended))
            for name in dict.fromkeys(_last_name(file) for file in exchange.files_modified):
                edits[name].append(edit)
    return edits


def _span(session: Session) -> tuple[str, datetime, datetime] | None:
    if not session.started or not session.ended:
        return None
    start, end = _moment(session.started), _moment(session.ended)
    return session.host, start - _CLOCKS_DIFFER, end + _WORDS_WITHIN


def _last_name(file: str) -> str:
    return file.replace("\\", "/").rpartition("/")[2]


def _same_file(one: str, other: str) -> bool:
    """Whether two paths may name the same file, one of them from further up."""
    other = other.replace("\\", "/").removeprefix("./")
    return one == other or other.endswith("/" + one) or one.endswith("/" + other)


def _moment(time: str) -> datetime:
    return datetime.fromisoformat(time)


def commit_session(reader: Reader, bank: str, commit: str) -> Session | None:
    """The session that made a commit, if that is known."""
    made = reader.authorship(bank, commit)
    return reader.session(bank, made[0].session) if made else None
