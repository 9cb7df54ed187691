"""Where things lie in the home that hooks, workers and servers share.

The shell script and the script that answers hooks know the same names; a test holds them
to it. A name that starts with another `VERSION` belongs to another version of the program and
is left alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

EVENT_VERSION = 1
# What an event is called that our own hook leaves behind when it put something into a session.
INJECTED_EVENT = "HoldfastInjected"


class HomePaths(NamedTuple):
    """The paths below one home."""

    home: Path

    @property
    def hooks(self) -> Path:
        """The scripts that the agent runs, and what they must know."""
        return self.home / "hooks"

    @property
    def interpreter(self) -> Path:
        """Line 1 the interpreter that can import this program, line 2 its flags."""
        return self.hooks / "python"

    @property
    def inbox_line(self) -> Path:
        """Names the folder of raw events."""
        return self.hooks / "inbox"

    @property
    def names_only(self) -> Path:
        """Is there where events must not carry words, for want of a folder in memory."""
        return self.hooks / "names-only"

    @property
    def pid(self) -> Path:
        """The worker's process, for a shell to look at: line 1 its number, line 2 when it
        started, as /proc tells it, for numbers are used again."""
        return self.hooks / "worker.pid"

    @property
    def nudged(self) -> Path:
        """The same of a worker that a hook has just started and that has not looked yet."""
        return self.hooks / "nudged"

    @property
    def lock(self) -> Path:
        """Held by the worker for as long as it lives."""
        return self.home / "worker.lock"

    @property
    def asking(self) -> Path:
        """Held by whoever asks a model service for summaries."""
        return self.home / "asking.lock"

    @property
    def log(self) -> Path:
        """What the worker could tell nobody else."""
        return self.home / "worker.log"

    @property
    def looked(self) -> Path:
        """As old as the worker's last look through all transcripts that missed none."""
        return self.home / "looked"

    @property
    def journals(self) -> Path:
        """Redacted events, one file a session."""
        return self.home / "events"

    def journal(self, session: str) -> Path:
        """The journal of a session."""
        return self.journals / f"{session}.jsonl"

    @property
    def research(self) -> Path:
        """Investigations, one file a session."""
        return self.home / "research"

    @property
    def marks(self) -> Path:
        """What was already done for a session."""
        return self.home / "marks"

    @property
    def briefs(self) -> Path:
        """What hooks only have to read."""
        return self.home / "briefs"

    def inbox(self) -> Path | None:
        """The folder of raw events; None where hooks were never set up."""
        try:
            named = self.inbox_line.read_text("utf-8").strip()
        except OSError:
            return None
        return Path(named) if named else None

    def socket(self) -> Path | None:
        """Where a running server can be asked."""
        inbox = self.inbox()
        return inbox / "ask.sock" if inbox else None
