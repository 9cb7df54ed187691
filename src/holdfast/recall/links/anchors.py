"""Where records stand in the history of the code, and what became of their code since.

Told from what was read of the repository: the commits that touched a file after the record was
made, along its renamings. What the session of the record committed itself is no change against
it. A look at the disk tells only what history cannot: that a file is not there, or was changed
and not committed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from holdfast.model.anchors import MAX_COUNTED_COMMITS, CodeAnchor, FileFreshness
from holdfast.model.knowledge import Concept, Fact, Memory, Rule
from holdfast.model.records import Digest, Exchange, Turn
from holdfast.model.team import Commit
from holdfast.model.trust import Freshness
from holdfast.model.uris import parse_uri
from holdfast.recall.links.disk_check import DiskCheck
from holdfast.regex import regex
from holdfast.store.protocol import Reader, Record
from holdfast.store.protocol.git_history import FileTouch

MOST_FILES = 6
# Of a file that is changed all the time it is enough to know that it is.
MOST_TOUCHES = MAX_COUNTED_COMMITS
_EVER = "~"
_MOST_RENAMES = 10
_MOST_EVIDENCE = 5
_PATHS = regex(r"(?:[\w.@~-]+/)*[\w@-][\w.@-]*\.\w{1,8}\b")
_GLOB = frozenset("*?[{")


class Subject(NamedTuple):
    """What a record speaks about: files, as of a time, on a branch; `until` is when the session
    ended that it is of, and `own` are the commits that do not count against it."""

    time: str
    files: tuple[str, ...]
    branch: str = ""
    until: str = ""
    own: frozenset[str] = frozenset()


def anchor(
    reader: Reader, record: Record, disk: DiskCheck, whole: bool = False, held: str = ""
) -> CodeAnchor:
    """Where a record stands; with its commit only if the `whole` of it is asked for, since that
    takes longer. Where somebody said later that it `held`, only what came after that counts."""
    subject = subject_of(reader, record)
    if held > subject.time:
        subject = subject._replace(time=held, until="")
    if not subject.time[:4].isdigit() or not subject.files:
        return CodeAnchor(subject.branch)
    fates = tuple(_fate(reader, record.bank, file, subject, disk) for file in subject.files)
    commit = reader.last_commit(record.bank, subject.time) if whole else ""
    return CodeAnchor(subject.branch, commit, fates)


def subject_of(reader: Reader, record: Record) -> Subject:
    """The files that a record speaks about, and as of when."""
    if isinstance(record, Exchange):
        return _of_exchange(reader, record)
    if isinstance(record, Turn):
        return _of_turn(reader, record)
    if isinstance(record, Digest):
        inside = reader.exchanges(record.bank, record.session)
        files = dict.fromkeys(file for x in inside for file in x.files_modified)
        branch = next((x.branch for x in reversed(inside) if x.branch), "")
        own = frozenset(reader.session_commits(record.bank, record.session))
        return Subject(record.ended, tuple(files)[:MOST_FILES], branch, record.ended, own)
    if isinstance(record, Commit):
        makers = reader.authorship(record.bank, commit=record.id)[:1]
        made = (id for m in makers for id in reader.session_commits(record.bank, m.session))
        return Subject(record.time, record.files[:MOST_FILES], own=frozenset((record.id, *made)))
    if isinstance(record, Concept):
        return Subject(record.updated, record.files[:MOST_FILES])
    if isinstance(record, Fact):
        time = record.last_validated or record.validity.learned
        own = _own(reader, record.bank, record.evidence)
        return Subject(time, record.files[:MOST_FILES], own=own)
    if isinstance(record, Memory):
        time = record.validity.learned or record.when
        named = [part.strip() for part in record.where.split(",")]
        files = tuple(part for part in named if "/" in part or "." in part)
        own = _own(reader, record.bank, record.evidence_for)
        return Subject(time, files[:MOST_FILES], own=own)
    if isinstance(record, Rule):
        plain = (path for path in record.paths if not _GLOB & set(path))
        files = dict.fromkeys([*plain, *_PATHS.findall(record.text)])
        return Subject(record.updated, tuple(files)[:MOST_FILES])
    return Subject("", ())


def _of_exchange(reader: Reader, x: Exchange) -> Subject:
    session = reader.session(x.bank, x.session)
    until = max(session.ended, x.ended) if session else x.ended
    own = frozenset(reader.session_commits(x.bank, x.session))
    files = (x.files_modified or x.files_read)[:MOST_FILES]
    return Subject(x.ended or x.started, files, x.branch, until, own)


def _of_turn(reader: Reader, turn: Turn) -> Subject:
    """The file that a call is about, else those of its exchange that the turn names, else all
    that the exchange changed."""
    x = reader.exchange_at(turn.bank, turn.session, turn.seq)
    if x is None:
        return Subject("", (), turn.branch)
    subject = _of_exchange(reader, x)._replace(time=turn.time or x.ended, branch=turn.branch)
    target = turn.tool.target if turn.tool else ""
    said = target or turn.text
    named = [f for f in (*x.files_modified, *x.files_read) if f.rpartition("/")[2] in said]
    files = tuple(dict.fromkeys(named))[:MOST_FILES] or x.files_modified[:MOST_FILES]
    return subject._replace(files=files)


def _own(reader: Reader, bank: str, evidence: Iterable[str]) -> frozenset[str]:
    """What the sessions committed that a record rests on."""
    found: set[str] = set()
    for name in list(evidence)[-_MOST_EVIDENCE:]:
        named = parse_uri(name)
        for record in reader.find(bank, named.kind, named.id, 1) if named else ():
            if isinstance(record, Exchange | Turn | Digest):
                found |= reader.session_commits(bank, record.session)
    return frozenset(found)


def _fate(reader: Reader, bank: str, file: str, subject: Subject, disk: DiskCheck) -> FileFreshness:
    """What became of one file."""
    path, before = _known(reader, bank, file, subject.time)
    if not path:
        return FileFreshness(file)
    walk = _Walk(subject, path, before)
    walk.follow(reader, bank)
    fate = walk.fate(file)
    if fate.freshness is not Freshness.GONE:
        fate = disk.checked(fate, walk.name, walk.blob, subject.until or subject.time)
    return fate


def _known(reader: Reader, bank: str, file: str, time: str) -> tuple[str, FileTouch | None]:
    """The name that history knows a file by, and the last thing that had become of it; a whole
    path is known by its end."""
    plain = file.replace("\\", "/").removeprefix("./")
    parts = plain.lstrip("/").split("/")
    shorter = range(1, len(parts) - 1) if plain.startswith("/") else ()
    for name in (plain.lstrip("/"), *("/".join(parts[n:]) for n in shorter)):
        before = reader.last_touch(bank, name, time)
        if before is not None or reader.touches(bank, name, time, 1):
            return name, before
    return "", None


def _is_full(touches: Sequence[FileTouch]) -> bool:
    return len(touches) >= MOST_TOUCHES


class _Walk:
    """Goes along what became of a file, from the time of a record on."""

    def __init__(self, subject: Subject, path: str, before: FileTouch | None) -> None:
        self.name = path
        self._own = subject.own
        self._time = subject.time
        self._before = before
        self._start = before.blob if before else ""
        self._known = before is not None and before.fate not in ("D", "W")
        self.blob = self._start
        self._commits: set[str] = set()
        self._lines = 0
        self._since = ""
        self._gone = ""
        self._renamed = False

    def follow(self, reader: Reader, bank: str) -> None:
        since = self._time
        for _ in range(_MOST_RENAMES):
            touches = reader.touches(bank, self.name, since, MOST_TOUCHES)
            last = reader.last_touch(bank, self.name, _EVER) if _is_full(touches) else None
            went = self._along([*touches, *([last] if last else [])])
            if went is None:
                return
            self.name, since = went.other, went.time
            came = reader.last_touch(bank, went.other, went.time)
            if came is not None and came.commit == went.commit:
                self._take(came)
            self._renamed = self._renamed or went.commit not in self._own

    def _along(self, touches: Sequence[FileTouch]) -> FileTouch | None:
        """Take what happened under one name; returns the renaming that ends it."""
        for n, touch in enumerate(touches):
            if touch.fate == "W" and not any(t.fate == "A" for t in touches[n + 1 :]):
                return touch
            self._take(touch)
        return None

    def _take(self, touch: FileTouch) -> None:
        if touch.fate == "D":
            self._gone = touch.time if touch.commit not in self._own else ""
            return
        self._gone = ""
        self.blob = touch.blob
        if touch.commit in self._own or not self._known:
            # Its own work, or the first that history tells: this is what it speaks about.
            self._start = touch.blob if not self._commits else self._start
        elif touch.added or touch.removed or touch.fate not in ("R", "W"):
            self._commits.add(touch.commit)
            self._lines += touch.added + touch.removed
            self._since = touch.time
        self._known = True

    def fate(self, file: str) -> FileFreshness:
        made = self._before.commit if self._before else ""
        told = FileFreshness(file, Freshness.FRESH, commit=made, blob=self._start)
        changes = len(self._commits)
        if self._gone:
            return told._replace(freshness=Freshness.GONE, since=self._gone)
        if changes and self._start and self.blob == self._start:
            changes, self._lines = 0, 0  # changed, and changed back
        told = told._replace(commits=changes, lines=self._lines, since=self._since)
        if self._renamed:
            return told._replace(freshness=Freshness.RENAMED, now=self.name)
        return told._replace(freshness=Freshness.CHANGED) if changes else told
