"""Research sessions on disk: one journal file a session, appended line by line while it runs.

Only the owner can read a journal; to attach to a session is to read on. While a process works on a
session it holds a lock on a second file beside the journal. The kernel releases the lock when the
process dies, so a crash is seen at once and without a timeout. Writing into that file cancels the
session. The latest sessions are kept, up to a number and an age. Callers redact secrets before
they write. What a line contains is in `journal_lines`.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

from holdfast.errors import InputError, NotFoundError
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.locks import is_locked, lock_file
from holdfast.model.research import FINAL_STAGES
from holdfast.operating_system import NO_FOLLOW, OPEN_FLAGS
from holdfast.regex import regex

# Sessions are a convenience, not a record: enough to look back a month, few enough to list.
MAX_SESSIONS = 200
MAX_AGE_DAYS = 30
# A session is read whole for every follow-up, so it must stay short.
MAX_QUESTIONS = 50
_PREFIX = "mem-"
_ID = regex(r"mem-[0-9a-f]{8,40}")
# How often a follower looks for new lines: less than a person notices.
_POLL_S = 0.05
_DAY_MS = 86_400_000
_ENDS = frozenset(stage.value for stage in FINAL_STAGES)
# Never follow a symbolic link, never pass the file to a child process.
_OPEN_FLAGS = NO_FOLLOW | OPEN_FLAGS
# The stage of a line that holds a question.
ASKED = "asked"

Line = dict[str, Any]


class SessionState(StrEnum):
    """The state of a session. CRASHED: its process died before the end."""

    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"
    CRASHED = "crashed"


class SessionSummary(NamedTuple):
    """A session's questions in order, the times of its first and last line, and the confidence of
    its last answer."""

    id: str
    state: SessionState
    questions: tuple[str, ...]
    began: str
    last: str
    confidence: str = ""


def new_id() -> str:
    """A new session id; later ids sort behind earlier ones."""
    return f"{_PREFIX}{time.time_ns() // 1_000_000:011x}{os.urandom(4).hex()}"


class ResearchSessions:
    """The sessions in one folder."""

    def __init__(
        self, folder: Path, makes_home: bool = False, max_sessions: int = MAX_SESSIONS
    ) -> None:
        """With `makes_home` the parent folder is made too: a memory on a server may have no home
        on this machine yet. Of more than `max_sessions` the oldest are deleted."""
        self._folder = folder
        self._makes_home = makes_home
        self._max_sessions = max_sessions

    @contextmanager
    def open_session(self, id: str, follow: bool) -> Generator[ActiveSession | None]:
        """Work on a new session, or with `follow` on an existing one. None where nothing can be
        written: a question is answered without a journal, too."""
        session = self._begin(id, follow)
        try:
            yield session
        finally:
            if session is not None:
                session.close()

    def _begin(self, id: str, follow: bool) -> ActiveSession | None:
        path = self._path(id, must=follow)
        try:
            if not follow:
                # A question creates no home where there is no memory yet.
                if self._makes_home:
                    self._folder.parent.mkdir(0o700, parents=True, exist_ok=True)
                self._folder.mkdir(mode=0o700, exist_ok=True)
                self._prune()
            return ActiveSession(path, follow)
        except BlockingIOError:
            raise InputError(
                f"{id} is running.",
                f"`holdfast research attach {id}` follows it, `research cancel` stops it.",
            ) from None
        except OSError:
            if follow:
                raise InputError(f"{id} cannot be written.", "Ask without a session.") from None
            return None

    def ids(self) -> list[str]:
        """All session ids, the latest first."""
        try:
            names = [path.name for path in self._folder.iterdir()]
        except OSError:
            return []
        known = [name[:-6] for name in names if name.endswith(".jsonl")]
        return sorted((name for name in known if _ID.fullmatch(name)), reverse=True)

    def find(self, id: str) -> str:
        """The full id of the session with this id or the only one with this prefix."""
        if _ID.fullmatch(id) and self.journal(id).exists():
            return id
        found = [known for known in self.ids() if id.startswith(_PREFIX) and known.startswith(id)]
        if len(found) != 1:
            problem = "Several sessions start with" if found else "There is no session"
            raise NotFoundError(f"{problem} {id[:60]!r}.", "`holdfast research list` lists them.")
        return found[0]

    def lines(self, id: str) -> list[Line]:
        """The lines of a session."""
        return list(_lines(self._path(id, must=True)))

    def state(self, id: str) -> SessionState:
        """The state of a session."""
        path = self._path(id, must=True)
        if is_locked(path.with_suffix(".run")):
            return SessionState.RUNNING
        last = next((str(line.get("stage", "")) for line in reversed(list(_lines(path)))), "")
        return SessionState(last) if last in _ENDS else SessionState.CRASHED

    def summary(self, id: str) -> SessionSummary:
        """The summary of a session."""
        lines = self.lines(id)
        asked = [line for line in lines if line.get("stage") == ASKED]
        questions = tuple(str(line.get("question", "")) for line in asked)
        answers = [cast(Line, line["answer"]) for line in lines if line.get("answer")]
        times = [str(line.get("time", "")) for line in lines] or [""]
        confidence = str(answers[-1].get("confidence", "")) if answers else ""
        return SessionSummary(id, self.state(id), questions, times[0], times[-1], confidence)

    def tail(self, id: str, after: int = 0) -> Iterator[Line]:
        """The lines of a session without the first `after`; waits for more until it ends."""
        path = self._path(id, must=True)
        while True:
            # Check the lock before reading, so that the last lines of a session that ends in
            # between are still read.
            running = is_locked(path.with_suffix(".run"))
            for line in list(_lines(path))[after:]:
                after += 1
                yield line
            if not running:
                return
            time.sleep(_POLL_S)

    def cancel(self, id: str) -> bool:
        """Ask the process that works on a session to stop; returns whether there is one."""
        run = self._path(id, must=True).with_suffix(".run")
        if not is_locked(run):
            return False
        with suppress(OSError):
            descriptor = os.open(run, os.O_WRONLY | _OPEN_FLAGS)
            os.write(descriptor, b"cancel\n")
            os.close(descriptor)
        return True

    def remove(self, id: str) -> None:
        """Delete a session."""
        path = self._path(id, must=True)
        path.unlink()
        path.with_suffix(".run").unlink(missing_ok=True)

    def _prune(self) -> None:
        """Delete sessions that are too old or too many. The id has the time, so no file is read."""
        known = self.ids()
        oldest = f"{_PREFIX}{time.time_ns() // 1_000_000 - MAX_AGE_DAYS * _DAY_MS:011x}"
        for id in [*known[self._max_sessions - 1 :], *(id for id in known if id < oldest)]:
            with suppress(OSError, NotFoundError):
                if not is_locked(self.journal(id).with_suffix(".run")):
                    self.remove(id)

    def journal(self, id: str) -> Path:
        """The journal file of a session, which may not exist."""
        return self._folder / f"{id}.jsonl"

    def _path(self, id: str, must: bool) -> Path:
        # The pattern allows no separators, so no id leads out of the folder.
        if not _ID.fullmatch(id) or (must and not self.journal(id).exists()):
            raise NotFoundError(
                f"There is no session {id[:60]!r}.", "`holdfast research list` lists them."
            )
        return self.journal(id)


class ActiveSession:
    """A session that this process works on: it holds the lock until `close`."""

    def __init__(self, path: Path, follow: bool) -> None:
        self._path = path
        self._lock = _lock_run_file(path.with_suffix(".run"))
        create = 0 if follow else os.O_CREAT | os.O_EXCL
        flags = os.O_WRONLY | os.O_APPEND | _OPEN_FLAGS | create
        try:
            self._journal = os.open(path, flags, 0o600)
        except OSError:
            os.close(self._lock)
            raise

    @property
    def cancelled(self) -> bool:
        """Whether `ResearchSessions.cancel` was called for it."""
        return os.fstat(self._lock).st_size > 0

    def lines(self) -> list[Line]:
        """All lines so far."""
        return list(_lines(self._path))

    def write(self, line: Line) -> None:
        """Append a line. A full disk does not stop an investigation."""
        data = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
        with suppress(OSError):
            os.write(self._journal, f"{data}\n".encode("utf-8", "replace"))

    def close(self) -> None:
        """Release the lock."""
        with suppress(OSError):
            self._path.with_suffix(".run").unlink()
        os.close(self._lock)
        os.close(self._journal)


def _lock_run_file(path: Path) -> int:
    """Open and lock the file that marks a session as running; BlockingIOError if another process
    holds it."""
    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | _OPEN_FLAGS, 0o600)
        try:
            if not lock_file(lock, wait=False):
                raise BlockingIOError
            # The other process may have deleted the file between our open and our lock.
            if os.path.samestat(os.fstat(lock), path.stat()):
                os.ftruncate(lock, 0)
                return lock
        except FileNotFoundError:
            pass
        except OSError:
            os.close(lock)
            raise
        os.close(lock)


def _lines(path: Path) -> Iterator[Line]:
    """The complete lines of a journal; one that was cut short by a kill is skipped."""
    try:
        with path.open("rb") as file:
            for raw in file:
                if raw.endswith(b"\n") and (line := _parse(raw)) is not None:
                    yield line
    except OSError:
        return


def _parse(raw: bytes) -> Line | None:
    try:
        line: Any = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return cast(Line, line) if isinstance(line, dict) else None
