"""Investigations on disk: one journal a session, appended line by line while it runs.

A session is a file that only its owner can read; attaching to it is reading on. Beside it lies, for
as long as somebody works on it, a file that the kernel holds locked for that process: so a session
whose process died says so, and no clock has a say in it. To cancel is to write into that file. The
latest sessions are kept, up to a number and an age. What is written was cleaned of secrets before.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, cast

from holdfast.errors import InputError, NotFoundError
from holdfast.locks import hold, is_locked
from holdfast.model.research import ENDS
from holdfast.regex import regex

MAX_SESSIONS = 200
MAX_AGE_DAYS = 30
MAX_QUESTIONS = 50
_PREFIX = "mem-"
_ID = regex(r"mem-[0-9a-f]{8,40}")
_POLL_S = 0.05
_DAY_MS = 86_400_000
_ENDS = frozenset(stage.value for stage in ENDS)
_PRIVATE = os.O_NOFOLLOW | os.O_CLOEXEC
ASKED = "asked"

Line = dict[str, Any]


class SessionState(StrEnum):
    """How a session stands: at work, at rest, told to stop, or left by a process that died."""

    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"
    CRASHED = "crashed"


class SessionSummary(NamedTuple):
    """A session in brief: its questions in order, when the first and the last line were written."""

    id: str
    state: SessionState
    questions: tuple[str, ...]
    began: str
    last: str
    confidence: str = ""


def new_id() -> str:
    """A name that nobody has used; later names sort behind earlier ones."""
    return f"{_PREFIX}{time.time_ns() // 1_000_000:011x}{os.urandom(4).hex()}"


class ResearchSessions:
    """The sessions of one home."""

    def __init__(self, folder: Path, makes_home: bool = False) -> None:
        """With `makes_home` the home is made too: a memory elsewhere may have none here yet."""
        self._folder = folder
        self._makes_home = makes_home

    @contextmanager
    def open_session(self, id: str, follow: bool) -> Generator[ActiveSession | None]:
        """Work on a session: a new one, or one that is there already. None where nothing can be
        written: an investigation does not depend on its journal."""
        run = self._begin(id, follow)
        try:
            yield run
        finally:
            if run is not None:
                run.close()

    def _begin(self, id: str, follow: bool) -> ActiveSession | None:
        path = self._path(id, must=follow)
        try:
            if not follow:
                # Where there is no memory yet, asking makes no home for one.
                if self._makes_home:
                    self._folder.parent.mkdir(0o700, parents=True, exist_ok=True)
                self._folder.mkdir(mode=0o700, exist_ok=True)
                self._prune()
            return ActiveSession(path, follow)
        except BlockingIOError:
            raise InputError(
                f"{id} is being worked on.",
                f"`holdfast research attach {id}` follows it, `research cancel` stops it.",
            ) from None
        except OSError:
            if follow:
                raise InputError(f"{id} cannot be written.", "Ask without --session.") from None
            return None

    def ids(self) -> list[str]:
        """All of them, the latest first."""
        try:
            names = [path.name for path in self._folder.iterdir()]
        except OSError:
            return []
        known = [name[:-6] for name in names if name.endswith(".jsonl")]
        return sorted((name for name in known if _ID.fullmatch(name)), reverse=True)

    def find(self, id: str) -> str:
        """The session that is meant, by its name or the start of one."""
        if _ID.fullmatch(id) and self.journal(id).exists():
            return id
        begun = [known for known in self.ids() if id.startswith(_PREFIX) and known.startswith(id)]
        if len(begun) != 1:
            many = "Several sessions start with" if begun else "There is no session"
            raise NotFoundError(f"{many} {id[:60]!r}.", "`holdfast research list` names them.")
        return begun[0]

    def lines(self, id: str, after: int = 0) -> list[Line]:
        """What was written in a session, from a line on."""
        return list(_lines(self._path(id, must=True)))[after:]

    def state(self, id: str) -> SessionState:
        """How a session stands."""
        path = self._path(id, must=True)
        if is_locked(path.with_suffix(".run")):
            return SessionState.RUNNING
        last = ""
        for line in _lines(path):
            last = str(line.get("stage", ""))
        return SessionState(last) if last in _ENDS else SessionState.CRASHED

    def summary(self, id: str) -> SessionSummary:
        """A session in brief."""
        lines = self.lines(id)
        questions = tuple(str(line.get("question", "")) for line in lines if _is_asked(line))
        answers = [cast(Line, line["answer"]) for line in lines if line.get("answer")]
        times = [str(line.get("time", "")) for line in lines] or [""]
        sure = str(answers[-1].get("confidence", "")) if answers else ""
        return SessionSummary(id, self.state(id), questions, times[0], times[-1], sure)

    def tail(self, id: str, after: int = 0) -> Iterator[Line]:
        """The lines of a session from one on, and those to come until it rests."""
        path = self._path(id, must=True)
        while True:
            # Whether it runs is looked at first: what it wrote before it left is read after.
            running = is_locked(path.with_suffix(".run"))
            for line in list(_lines(path))[after:]:
                after += 1
                yield line
            if not running:
                return
            time.sleep(_POLL_S)

    def cancel(self, id: str) -> bool:
        """Tell whoever works on a session to stop; returns whether anybody does."""
        run = self._path(id, must=True).with_suffix(".run")
        if not is_locked(run):
            return False
        with suppress(OSError):
            descriptor = os.open(run, os.O_WRONLY | _PRIVATE)
            os.write(descriptor, b"cancel\n")
            os.close(descriptor)
        return True

    def remove(self, id: str) -> None:
        """Forget a session for good."""
        path = self._path(id, must=True)
        path.unlink()
        path.with_suffix(".run").unlink(missing_ok=True)

    def _prune(self) -> None:
        """Remove what is too old or too many. The time is in the name, so nothing is opened."""
        known = self.ids()
        oldest = f"{_PREFIX}{time.time_ns() // 1_000_000 - MAX_AGE_DAYS * _DAY_MS:011x}"
        for id in [*known[MAX_SESSIONS - 1 :], *(id for id in known if id < oldest)]:
            with suppress(OSError, NotFoundError):
                if not is_locked(self.journal(id).with_suffix(".run")):
                    self.remove(id)

    def journal(self, id: str) -> Path:
        """The file of a session, whether or not it is there."""
        return self._folder / f"{id}.jsonl"

    def _path(self, id: str, must: bool) -> Path:
        # A name is only ever a name: nothing in it can lead out of the folder.
        if not _ID.fullmatch(id) or (must and not self.journal(id).exists()):
            raise NotFoundError(
                f"There is no session {id[:60]!r}.", "`holdfast research list` names them."
            )
        return self.journal(id)


class ActiveSession:
    """A session that this process works on."""

    def __init__(self, path: Path, follow: bool) -> None:
        self._path = path
        self._held = _hold(path.with_suffix(".run"))
        flags = os.O_WRONLY | os.O_APPEND | _PRIVATE | (0 if follow else os.O_CREAT | os.O_EXCL)
        try:
            self._journal = os.open(path, flags, 0o600)
        except OSError:
            os.close(self._held)
            raise

    @property
    def cancelled(self) -> bool:
        """Whether somebody wants it to stop."""
        return os.fstat(self._held).st_size > 0

    def lines(self) -> list[Line]:
        """What was written so far."""
        return list(_lines(self._path))

    def write(self, line: Line) -> None:
        """Add a line. A full disk does not stop an investigation."""
        data = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
        with suppress(OSError):
            os.write(self._journal, f"{data}\n".encode("utf-8", "replace"))

    def close(self) -> None:
        """Let go of it."""
        with suppress(OSError):
            self._path.with_suffix(".run").unlink()
        os.close(self._held)
        os.close(self._journal)


def _hold(path: Path) -> int:
    """The file that says that this process is at work, locked; BlockingIOError if another is."""
    while True:
        held = os.open(path, os.O_RDWR | os.O_CREAT | _PRIVATE, 0o600)
        try:
            if not hold(held, wait=False):
                raise BlockingIOError
            if os.path.samestat(os.fstat(held), path.stat()):
                os.ftruncate(held, 0)
                return held
        except FileNotFoundError:
            pass  # whoever was at work has just left, and taken the file along
        except OSError:
            os.close(held)
            raise
        os.close(held)


def _is_asked(line: Line) -> bool:
    return line.get("stage") == ASKED


def _lines(path: Path) -> Iterator[Line]:
    """The whole lines of a journal; one that a kill cut short is none."""
    try:
        with path.open("rb") as file:
            for raw in file:
                if raw.endswith(b"\n") and (line := _parsed(raw)) is not None:
                    yield line
    except OSError:
        return


def _parsed(raw: bytes) -> Line | None:
    try:
        line: Any = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return cast(Line, line) if isinstance(line, dict) else None
