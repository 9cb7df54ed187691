"""Paths in the home that hooks, workers and servers share.

The shell script of the hooks and the script that answers them use the same names; a test compares
them. A file whose name starts with another `EVENT_VERSION` belongs to another version of the
program and is left alone.
"""

from __future__ import annotations

from pathlib import Path

EVENT_VERSION = 1
# The event that our own hook leaves when it has injected context into a session.
INJECTED_EVENT = "HoldfastInjected"
# The end of the name of a file in `session_marks` with what was injected into a session.
INJECTED_SUFFIX = ".injected"


class HomePaths:
    """The paths below one home."""

    def __init__(self, home: Path) -> None:
        self.home = home
        # The scripts that the agent runs, and their configuration.
        self.hooks = home / "hooks"
        # Line 1: the interpreter that can import this program; line 2: its flags.
        self.interpreter = self.hooks / "python"
        # A file with the path of the inbox.
        self.inbox_pointer = self.hooks / "inbox"
        # Exists where events must not contain payloads, because there is no folder in memory.
        self.names_only_flag = self.hooks / "names-only"
        # The worker's process, for shell scripts. Line 1: its process id; line 2: its start time
        # as in /proc, because process ids are reused.
        self.worker_pid = self.hooks / "worker.pid"
        # The same for a worker that a hook has just started and that has not read the inbox yet.
        self.starting_worker = self.hooks / "nudged"
        # The sessions with prompts in their journals that no brief knows yet (`unread_mark`).
        self.unread_prompts = self.hooks / "unread"
        # Locked by the worker for as long as it runs.
        self.worker_lock = home / "worker.lock"
        # Locked while a process asks a model service for summaries.
        self.summary_lock = home / "asking.lock"
        # The log of the worker.
        self.worker_log = home / "worker.log"
        # Its time is that of the worker's last complete scan of all transcripts.
        self.last_scan = home / "looked"
        # A file for each large bank: its time is that at which the worker last built its concepts.
        self.grouping_marks = home / "grouping"
        # Redacted events, one file per session.
        self.journals = home / "events"
        # Investigations, one file per session.
        self.research = home / "research"
        # Marks of what was already done for a session.
        self.session_marks = home / "marks"
        # The socket on which a running `holdfast browse` hands out links.
        self.browse_socket = home / "browse.sock"
        # When each reader of the pages was last there.
        # Prepared briefs, which hooks only have to read.
        self.briefs = home / "briefs"
        # What setup changed in settings files, and the record of it for agents other than Claude
        # Code.
        self.backups = home / "backups"
        self.agents_record = self.backups / "agents.json"

    def journal(self, session: str) -> Path:
        """The journal of a session."""
        return self.journals / f"{session}.jsonl"

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
