"""Finds the session that made each commit.

The strongest evidence decides: the id that git printed when the session committed, a trailer that
names the session, the same subject at about the same time, files that the session changed shortly
before, or words of the message that one session of those days clearly matches best. Evidence that
fits several sessions links to none.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence, Set
from datetime import datetime, timedelta
from typing import NamedTuple

from holdfast.language import collapse_spaces
from holdfast.model.records import Exchange, Session, Turn
from holdfast.model.team import Commit
from holdfast.refine.core import signals
from holdfast.refine.git.commit_matching import find_discussing_session
from holdfast.regex import regex
from holdfast.store.protocol import Writer
from holdfast.store.records.git_history import CommitAuthorship

NAME, VERSION = "authorship", 2
_PRINTED_ID = regex(r"^\[[^\]\n]*\b([0-9a-f]{7,40})\] ", re.MULTILINE)
_TRAILER = regex(
    r"^(?:claude-session|session|session-id|agent-session)(?:-id)?: *(\S+)$",
    re.IGNORECASE | re.MULTILINE,
)
# All sessions, and all changes: the store's methods need a limit.
_NO_LIMIT = 1_000_000
# Stored as the reason of a link that was found by words.
_BY_WORDS = "its words"


class AuthorshipScores(NamedTuple):
    """The confidence of a link by its evidence. Set by hand in the order of their reliability."""

    printed_id: float = 1.0
    trailer: float = 1.0
    subject: float = 0.95
    # Times the share of the commit's files that the session changed.
    files: float = 0.85
    words: float = 0.7


class AuthorshipThresholds(NamedTuple):
    """What counts as evidence. Wider limits link more commits, and more of them wrongly."""

    # Time between the commit and a session's `git commit` with the same subject: a rebase keeps
    # the subject and changes the time.
    subject_within: timedelta = timedelta(days=1)
    # Time from a session's change of a file to the commit.
    files_within: timedelta = timedelta(hours=12)
    # The clocks of two machines may differ by this.
    clock_difference: timedelta = timedelta(minutes=5)
    # Share of the commit's files that the session must have changed, and how many times as many
    # as the next session.
    files_share: float = 0.6
    files_lead: float = 1.25
    # Time from the end of a session to a commit that is linked by words.
    words_within: timedelta = timedelta(days=3)
    # New commits may change what is found by words for commits of the last days only.
    words_recheck_within: timedelta = timedelta(days=14)
    # Searches by words in one run. Each takes a search of the bank, so this bounds the time after
    # a large history was read; commits beyond it keep the link that they have, if any.
    max_searches: int = 2000


_SCORES = AuthorshipScores()
_THRESHOLDS = AuthorshipThresholds()


class _CommitCall(NamedTuple):
    """A turn that ran `git commit`, with the commit ids that git printed and the subject."""

    turn: Turn
    ids: tuple[str, ...]
    subject: str


class _SessionSpan(NamedTuple):
    """The time in which a commit may be linked to a session by words."""

    host: str
    start: datetime
    end: datetime


def link_all_commits(
    writer: Writer,
    on_progress: Callable[[], None] = lambda: None,
    max_searches: int = _THRESHOLDS.max_searches,
) -> int:
    """Link the commits of every bank that has changed; returns how many commits are linked."""
    done = 0
    for bank in writer.progress.banks_behind(NAME, VERSION):
        on_progress()
        done += link_commits(writer, bank, max_searches)
    return done


def link_commits(writer: Writer, bank: str, max_searches: int = _THRESHOLDS.max_searches) -> int:
    """Link the commits of a bank to sessions again if it has changed; returns how many are."""
    changes = writer.progress.unseen_changes(bank, NAME, VERSION, _NO_LIMIT)
    if not changes:
        return 0
    with writer.transaction():
        changed = {change.session for change in changes}
        has_commits = next(writer.git.commits_uncurated(bank), None) is not None
        linker = _CommitLinker(writer, bank, changed, max_searches) if has_commits else None
        links = linker.links() if linker is not None else []
        writer.git.put_authorship(bank, links)
        writer.progress.mark_seen(bank, NAME, VERSION, changes[-1].number)
    return len({one.commit for one in links})


class _CommitLinker:
    """Links the commits of one bank; `changed` are the sessions with changes since the last run, ""
    for changes of the bank itself."""

    def __init__(self, reader: Writer, bank: str, changed: Set[str], max_searches: int) -> None:
        self._reader = reader
        self._max_searches = max_searches
        self._bank = bank
        self._sessions = {s.id: s for s in reader.sessions.latest(bank, _NO_LIMIT)}
        known = [a for a in reader.git.authorship(bank) if a.session in self._sessions]
        self._known_by_words = {a.commit: a for a in known if a.because == _BY_WORDS}
        self._is_first_run = not known
        self._searches = 0
        self._exchanges = {id: reader.sessions.exchanges(bank, id) for id in self._sessions}
        self._calls_by_subject: dict[str, list[_CommitCall]] = defaultdict(list)
        self._calls_by_id: dict[str, list[_CommitCall]] = defaultdict(list)
        for call in map(_commit_call, reader.turns.with_git_commit(bank)):
            if call.subject:
                self._calls_by_subject[call.subject.casefold()].append(call)
            for printed in call.ids:
                self._calls_by_id[printed[:7]].append(call)
        self._sessions_by_host = {s.host: s for s in self._sessions.values() if not s.parent}
        self._edits = _edits_by_file(self._exchanges.values())
        self._hosts = {s.id: s.host for s in self._sessions.values()}
        self._spans = [span for s in self._sessions.values() if (span := _session_span(s))]
        self._changed = {self._hosts[id] for id in changed if id in self._hosts}
        self._has_new_commits = "" in changed
        times = (
            datetime.fromisoformat(c.time) for c in reader.git.commits_uncurated(bank) if c.time
        )
        self._latest = max(times, default=None)

    def links(self) -> list[CommitAuthorship]:
        return [
            link for c in self._reader.git.commits_uncurated(self._bank) if (link := self._link(c))
        ]

    def _link(self, commit: Commit) -> CommitAuthorship | None:
        found = self._link_by_printed_id(commit) or self._link_by_trailer(commit)
        if found is not None or not commit.time:
            return found
        when = datetime.fromisoformat(commit.time)
        return (
            self._link_by_subject(commit, when)
            or self._link_by_files(commit, when)
            or self._link_by_words(commit, when)
        )

    def _link_by_printed_id(self, commit: Commit) -> CommitAuthorship | None:
        near = self._calls_by_id.get(commit.id[:7], ())
        found = [c for c in near if any(commit.id.startswith(printed) for printed in c.ids)]
        if not found:
            return None
        return self._link_to_turn(commit, found[0].turn, _SCORES.printed_id, "its name")

    def _link_by_trailer(self, commit: Commit) -> CommitAuthorship | None:
        for name in _TRAILER.findall(commit.body):
            session = self._sessions_by_host.get(name.rpartition("/")[2])
            if session is not None:
                return CommitAuthorship(
                    self._bank, commit.id, session.id, "", _SCORES.trailer, "its trailer"
                )
        return None

    def _link_by_subject(self, commit: Commit, when: datetime) -> CommitAuthorship | None:
        same = self._calls_by_subject.get(collapse_spaces(commit.subject).casefold(), ())
        timed = [call.turn for call in same if call.turn.time]
        apart = [(abs(datetime.fromisoformat(turn.time) - when), turn) for turn in timed]
        shortest, nearest = min(apart, key=lambda pair: pair[0], default=(None, None))
        if shortest is None or nearest is None or shortest > _THRESHOLDS.subject_within:
            return None
        return self._link_to_turn(commit, nearest, _SCORES.subject, "its subject")

    def _link_by_files(self, commit: Commit, when: datetime) -> CommitAuthorship | None:
        """Link to the session that changed most of its files in the hours before, if it changed
        clearly more than any other."""
        first = when - _THRESHOLDS.files_within
        latest = when + _THRESHOLDS.clock_difference
        touched: dict[str, set[str]] = defaultdict(set)
        last: dict[str, Exchange] = {}
        for file in commit.files:
            for ended, exchange in self._edits.get(_file_name(file), ()):
                is_near = first <= ended <= latest
                if is_near and any(_same_file(file, f) for f in exchange.files_modified):
                    touched[exchange.session].add(file)
                    last[exchange.session] = exchange
        ranked = sorted(touched.items(), key=lambda pair: (-len(pair[1]), pair[0]))
        if not ranked:
            return None
        session, files = ranked[0]
        if len(files) < _THRESHOLDS.files_share * len(commit.files):
            return None
        if len(ranked) > 1 and len(files) < _THRESHOLDS.files_lead * len(ranked[1][1]):
            return None
        score = round(_SCORES.files * len(files) / len(commit.files), 3)
        exchange = last[session].id
        return CommitAuthorship(self._bank, commit.id, session, exchange, score, "its files")

    def _link_by_words(self, commit: Commit, when: datetime) -> CommitAuthorship | None:
        """Link to the session that clearly matches its words best, if it was active in those days.
        The known link is kept where nothing changed that may change the result, and where there
        were too many searches in this run."""
        near = {s.host for s in self._spans if s.start <= when <= s.end}
        if not near:
            return None
        recent = self._latest is not None and (
            when >= self._latest - _THRESHOLDS.words_recheck_within
        )
        is_due = self._is_first_run or near & self._changed or (self._has_new_commits and recent)
        if not is_due or self._searches >= self._max_searches:
            return self._known_by_words.get(commit.id)
        self._searches += 1
        found = find_discussing_session(self._reader, self._bank, commit.subject, self._hosts)
        if found is None or not found.is_clear or found.host not in near:
            return None
        passage = found.best.passage
        exchange = passage.id if passage.kind == "exchange" else ""
        if passage.kind == "turn":
            exchange = self._exchange_at(passage.session, passage.seq)
        words = _SCORES.words
        return CommitAuthorship(self._bank, commit.id, passage.session, exchange, words, _BY_WORDS)

    def _link_to_turn(
        self, commit: Commit, turn: Turn, score: float, because: str
    ) -> CommitAuthorship:
        exchange = self._exchange_at(turn.session, turn.seq)
        return CommitAuthorship(self._bank, commit.id, turn.session, exchange, score, because)

    def _exchange_at(self, session: str, seq: int) -> str:
        """The id of the exchange at a position in a session; "" if there is none."""
        found = self._exchanges.get(session, ())
        return next((x.id for x in found if x.first_seq <= seq <= x.last_seq), "")


def _commit_call(turn: Turn) -> _CommitCall:
    result = turn.tool.result if turn.tool is not None else ""
    return _CommitCall(turn, tuple(_PRINTED_ID.findall(result)), signals.commit_message(turn))


def _edits_by_file(
    sessions: Iterable[Sequence[Exchange]],
) -> dict[str, list[tuple[datetime, Exchange]]]:
    """Exchanges by the name of each file that they changed, with their end, in order of time."""
    edits: dict[str, list[tuple[datetime, Exchange]]] = defaultdict(list)
    ended = (x for exchanges in sessions for x in exchanges if x.ended)
    for exchange in sorted(ended, key=lambda x: (x.ended, x.id)):
        for name in dict.fromkeys(_file_name(file) for file in exchange.files_modified):
            edits[name].append((datetime.fromisoformat(exchange.ended), exchange))
    return edits


def _session_span(session: Session) -> _SessionSpan | None:
    if not session.started or not session.ended:
        return None
    start, end = map(datetime.fromisoformat, (session.started, session.ended))
    earliest = start - _THRESHOLDS.clock_difference
    return _SessionSpan(session.host, earliest, end + _THRESHOLDS.words_within)


def _file_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _same_file(one: str, other: str) -> bool:
    """Whether one path is the end of the other, so that both may name the same file."""
    other = other.replace("\\", "/").removeprefix("./")
    return one == other or other.endswith("/" + one) or one.endswith("/" + other)
