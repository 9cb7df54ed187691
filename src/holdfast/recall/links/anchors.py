"""Code anchors: which files a record is about, and whether they have changed since.

Computed from the stored git history: the commits that touched a file after the record was made,
across renames. Commits of the record's own session do not count as changes. The disk is checked
only for what history cannot know: a file is missing, or has uncommitted changes.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.anchors import MAX_COUNTED_COMMITS, CodeAnchor, FileFreshness
from holdfast.model.knowledge import Concept, Fact, Memory, Rule
from holdfast.model.records import Digest, Exchange, Turn
from holdfast.model.team import Commit
from holdfast.model.trust import Freshness
from holdfast.model.uris import parse_uri
from holdfast.recall.links.disk_check import DiskCheck
from holdfast.regex import regex
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Reader
from holdfast.store.records.git_history import FileTouch

# The files of a record that are checked: each costs a few queries per hit.
MAX_FILES = 6
# Counting the changes of one file stops here.
MAX_TOUCHES = MAX_COUNTED_COMMITS
_END_OF_TIME = "~"
# Renames of one file that are followed; guards against cycles.
_MAX_RENAMES = 10
# The latest evidence of a record whose sessions are asked for their own commits.
_MAX_EVIDENCE = 5
_PATH = regex(r"(?:[\w.@~-]+/)*[\w@-][\w.@-]*\.\w{1,8}\b")
_GLOB = frozenset("*?[{")


class Subject(NamedTuple):
    """The files that a record is about, its time and branch. `until` is when its session ended, and
    `own` are the commits that do not count as changes."""

    time: str
    files: tuple[str, ...]
    branch: str = ""
    until: str = ""
    own: frozenset[str] = frozenset()


def anchor(
    reader: Reader,
    record: Record,
    disk: DiskCheck,
    with_commit: bool = False,
    confirmed: str = "",
) -> CodeAnchor:
    """The anchor of a record. With `with_commit` it names the last commit before the record, which
    takes longer. `confirmed` is when somebody last confirmed the record: earlier changes do not
    count."""
    subject = subject_of(reader, record)
    if confirmed > subject.time:
        subject = subject._replace(time=confirmed, until="")
    if not subject.time[:4].isdigit() or not subject.files:
        return CodeAnchor(subject.branch)
    files = (_file_freshness(reader, record.bank, file, subject, disk) for file in subject.files)
    commit = reader.git.last_commit(record.bank, subject.time) if with_commit else ""
    return CodeAnchor(subject.branch, commit, tuple(files))


def subject_of(reader: Reader, record: Record) -> Subject:
    """The files that a record is about, and as of when."""
    if isinstance(record, Exchange):
        return _of_exchange(reader, record)
    if isinstance(record, Turn):
        return _of_turn(reader, record)
    if isinstance(record, Digest):
        inside = reader.sessions.exchanges(record.bank, record.session)
        files = dict.fromkeys(file for x in inside for file in x.files_modified)
        branch = next((x.branch for x in reversed(inside) if x.branch), "")
        own = frozenset(reader.git.session_commits(record.bank, record.session))
        return Subject(record.ended, tuple(files)[:MAX_FILES], branch, record.ended, own)
    if isinstance(record, Commit):
        makers = reader.git.authorship(record.bank, commit=record.id)[:1]
        made = (id for m in makers for id in reader.git.session_commits(record.bank, m.session))
        return Subject(record.time, record.files[:MAX_FILES], own=frozenset((record.id, *made)))
    if isinstance(record, Concept):
        return Subject(record.updated, record.files[:MAX_FILES])
    if isinstance(record, Fact):
        time = record.last_validated or record.validity.learned
        branch, own = _origin(reader, record.bank, record.evidence[::-1])
        return Subject(time, record.files[:MAX_FILES], branch, own=own)
    if isinstance(record, Memory):
        time = record.validity.learned or record.when
        named = [part.strip() for part in record.where.split(",")]
        files = tuple(part for part in named if "/" in part or "." in part)
        branch, own = _origin(reader, record.bank, record.evidence_for)
        return Subject(time, files[:MAX_FILES], branch, own=own)
    if isinstance(record, Rule):
        plain = (path for path in record.paths if not _GLOB & set(path))
        files = dict.fromkeys([*plain, *_PATH.findall(record.text)])
        return Subject(record.updated, tuple(files)[:MAX_FILES])
    return Subject("", ())


def _of_exchange(reader: Reader, x: Exchange) -> Subject:
    session = reader.sessions.get(x.bank, x.session)
    until = max(session.ended, x.ended) if session else x.ended
    own = frozenset(reader.git.session_commits(x.bank, x.session))
    files = (x.files_modified or x.files_read)[:MAX_FILES]
    return Subject(x.ended or x.started, files, x.branch, until, own)


def _of_turn(reader: Reader, turn: Turn) -> Subject:
    """The file of a tool call, else the files of its exchange that the turn names, else all files
    that the exchange changed."""
    x = reader.sessions.exchange_at(turn.bank, turn.session, turn.seq)
    if x is None:
        return Subject("", (), turn.branch)
    subject = _of_exchange(reader, x)._replace(time=turn.time or x.ended, branch=turn.branch)
    target = turn.tool.target if turn.tool else ""
    said = target or turn.text
    named = [f for f in (*x.files_modified, *x.files_read) if f.rpartition("/")[2] in said]
    files = tuple(dict.fromkeys(named))[:MAX_FILES] or x.files_modified[:MAX_FILES]
    return subject._replace(files=files)


def _origin(reader: Reader, bank: str, evidence: Sequence[str]) -> tuple[str, frozenset[str]]:
    """The branch of a record's latest evidence, and the commits of the sessions that the evidence
    is from. The latest evidence is given first."""
    branch, own = "", set[str]()
    for name in evidence[:_MAX_EVIDENCE]:
        named = parse_uri(name)
        for record in reader.records.find(bank, named.kind, named.id, 1) if named else ():
            if isinstance(record, Exchange | Turn | Digest):
                own |= reader.git.session_commits(bank, record.session)
            if isinstance(record, Exchange | Turn):
                branch = branch or record.branch
    return branch, frozenset(own)


def _file_freshness(
    reader: Reader, bank: str, file: str, subject: Subject, disk: DiskCheck
) -> FileFreshness:
    """Whether one file has changed, was renamed or is gone."""
    path, before = _find_in_history(reader, bank, file, subject.time)
    if not path:
        return FileFreshness(file)
    walk = _FileHistory(subject, path, before)
    walk.follow(reader, bank)
    freshness = walk.freshness(file)
    if freshness.freshness is not Freshness.GONE:
        freshness = disk.checked(freshness, walk.name, walk.blob, subject.until or subject.time)
    return freshness


def _find_in_history(
    reader: Reader, bank: str, file: str, time: str
) -> tuple[str, FileTouch | None]:
    """The path of a file in the history, and its last touch before a time; "" if it is unknown. An
    absolute path is found by its end."""
    plain = file.replace("\\", "/").removeprefix("./")
    parts = plain.lstrip("/").split("/")
    shorter = range(1, len(parts) - 1) if plain.startswith("/") else ()
    for name in (plain.lstrip("/"), *("/".join(parts[n:]) for n in shorter)):
        before = reader.git.last_touch(bank, name, time)
        if before is not None or reader.git.touches(bank, name, time, 1):
            return name, before
    return "", None


def _is_full(touches: Sequence[FileTouch]) -> bool:
    return len(touches) >= MAX_TOUCHES


class _FileHistory:
    """Follows the changes of one file from the time of a record on."""

    def __init__(self, subject: Subject, path: str, before: FileTouch | None) -> None:
        self.name = path
        self._own = subject.own
        self._time = subject.time
        self._before = before
        self._start = before.blob if before else ""
        self._exists = before is not None and before.fate not in ("D", "W")
        self.blob = self._start
        self._commits: set[str] = set()
        self._lines = 0
        self._since = ""
        self._gone = ""
        self._renamed = False

    def follow(self, reader: Reader, bank: str) -> None:
        since = self._time
        for _ in range(_MAX_RENAMES):
            touches = reader.git.touches(bank, self.name, since, MAX_TOUCHES)
            last = (
                reader.git.last_touch(bank, self.name, _END_OF_TIME) if _is_full(touches) else None
            )
            renaming = self._read_touches([*touches, *([last] if last else [])])
            if renaming is None:
                return
            self.name, since = renaming.other, renaming.time
            arrival = reader.git.last_touch(bank, renaming.other, renaming.time)
            if arrival is not None and arrival.commit == renaming.commit:
                self._read_touch(arrival)
            self._renamed = self._renamed or renaming.commit not in self._own

    def _read_touches(self, touches: Sequence[FileTouch]) -> FileTouch | None:
        """Read what happened under one name; returns the rename that ends it, if any."""
        for n, touch in enumerate(touches):
            if touch.fate == "W" and not any(t.fate == "A" for t in touches[n + 1 :]):
                return touch
            self._read_touch(touch)
        return None

    def _read_touch(self, touch: FileTouch) -> None:
        if touch.fate == "D":
            self._gone = touch.time if touch.commit not in self._own else ""
            return
        self._gone = ""
        self.blob = touch.blob
        if touch.commit in self._own or not self._exists:
            # Its session's own commit, or the first one known: the state that the record is about.
            self._start = touch.blob if not self._commits else self._start
        elif touch.added or touch.removed or touch.fate not in ("R", "W"):
            self._commits.add(touch.commit)
            self._lines += touch.added + touch.removed
            self._since = touch.time
        self._exists = True

    def freshness(self, file: str) -> FileFreshness:
        made = self._before.commit if self._before else ""
        result = FileFreshness(file, Freshness.FRESH, commit=made, blob=self._start)
        changes = len(self._commits)
        if self._gone:
            return result._replace(freshness=Freshness.GONE, since=self._gone)
        if changes and self._start and self.blob == self._start:
            changes, self._lines = 0, 0  # changed, and changed back
        result = result._replace(commits=changes, lines=self._lines, since=self._since)
        if self._renamed:
            return result._replace(freshness=Freshness.RENAMED, now=self.name)
        return result._replace(freshness=Freshness.CHANGED) if changes else result
