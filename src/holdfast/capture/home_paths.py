"""Paths in the home that hooks, workers and servers share.

The shell script of the hooks and the script that answers them use the same names; a test compares
them. A file whose name starts with another `EVENT_VERSION` belongs to another version of the
program and is left alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

EVENT_VERSION = 1
# The event that our own hook leaves when it has injected context into a session.
INJECTED_EVENT = "HoldfastInjected"


class HomePaths(NamedTuple):
    """The paths below one home."""

    home: Path

    @property
    def hooks(self) -> Path:
        """The scripts that the agent runs, and their configuration."""
        return self.home / "hooks"

    @property
    def interpreter(self) -> Path:
        """Line 1: the interpreter that can import this program; line 2: its flags."""
        return self.hooks / "python"

    @property
    def inbox_pointer(self) -> Path:
        """A file with the path of the inbox."""
        return self.hooks / "inbox"

    @property
    def names_only_flag(self) -> Path:
        """Exists where events must not contain payloads, because there is no folder in memory."""
        return self.hooks / "names-only"

    @property
    def worker_pid(self) -> Path:
        """The worker's process, for shell scripts. Line 1: its process id; line 2: its start
        time as in /proc, because process ids are reused."""
        return self.hooks / "worker.pid"

    @property
    def starting_worker(self) -> Path:
        """The same for a worker that a hook has just started and that has not read the inbox
        yet."""
        return self.hooks / "nudged"

    @property
    def worker_lock(self) -> Path:
        """Locked by the worker for as long as it runs."""
        return self.home / "worker.lock"

    @property
    def summary_lock(self) -> Path:
        """Locked while a process asks a model service for summaries."""
        return self.home / "asking.lock"

    @property
    def worker_log(self) -> Path:
        """The log of the worker."""
        return self.home / "worker.log"

    @property
    def last_scan(self) -> Path:
        """Its time is that of the worker's last complete scan of all transcripts."""
        return self.home / "looked"

    @property
    def journals(self) -> Path:
        """Redacted events, one file per session."""
        return self.home / "events"

    def journal(self, session: str) -> Path:
        """The journal of a session."""
        return self.journals / f"{session}.jsonl"

    @property
    def research(self) -> Path:
        """Investigations, one file per session."""
        return self.home / "research"

    @property
    def session_marks(self) -> Path:
        """Marks of what was already done for a session."""
        return self.home / "marks"

    @property
    def briefs(self) -> Path:
        """Prepared briefs, which hooks only have to read."""
        return self.home / "briefs"

    def inbox(self) -> Path | None:
        """The folder of raw events; None where hooks were never installed."""
        try:
            named = self.inbox_pointer.read_text("utf-8").strip()
        except OSError:
            return None
        return Path(named) if named else None

    def socket(self) -> Path | None:
        """The socket of a running server."""
        inbox = self.inbox()
        return inbox / "ask.sock" if inbox else None
