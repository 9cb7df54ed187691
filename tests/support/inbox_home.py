"""A home with an inbox, and hooks that left things in it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from holdfast.app.memory import Holdfast
from holdfast.capture import journal
from holdfast.capture.home_paths import HomePaths
from holdfast.refine.core.banks import BankMaker
from holdfast.refine.hooks.drain import DrainReport, InjectionNote, drain
from holdfast.refine.hooks.reconcile import ReconcileReport, reconcile
from holdfast.refine.ingest.turns import PrivacyRules
from holdfast.settings import Settings
from holdfast.store.sqlite.store import SqliteStore
from tests.support.empty_memory import put_empty_memory, with_empty_memory

RECORDED = Path(__file__).parents[1] / "recorded" / "hooks"
SESSION = "11111111-0000-4000-8000-000000000001"
NOON_S = 1_790_000_000
NOW = "2026-11-01T00:00:00.000Z"


def recorded(name: str) -> dict[str, Any]:
    """A payload that the real Claude Code gave to a hook."""
    return json.loads((RECORDED / f"{name}.json").read_text("utf-8"))


class Home:
    """Events are put a second apart, long before `now`."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder = folder
        self.places = HomePaths(folder / "home")
        self.inbox = folder / "inbox"
        self.inbox.mkdir(parents=True, exist_ok=True)
        self.places.hooks.mkdir(parents=True, exist_ok=True)
        self.places.inbox_pointer.write_text(f"{self.inbox}\n")
        self.settings = Settings(home=self.places.home, claude_dir=folder / "claude", **settings)
        self.rules = PrivacyRules(
            self.settings.redact_patterns, self.settings.exclude_tools, self.settings.exclude_paths
        )
        self.now = NOW
        self.notes: list[InjectionNote] = []
        self._count = 0

    def put(self, event: str, payload: bytes | dict[str, Any], session: str = SESSION) -> Path:
        """What a hook leaves."""
        self._count += 1
        path = self.inbox / f"1.{event}.{session}.{1000 + self._count}"
        whole = {"session_id": session, "cwd": "/home/dev/proj", "hook_event_name": event}
        data = payload if isinstance(payload, bytes) else json.dumps(whole | payload).encode()
        path.write_bytes(data)
        moment = (NOON_S + self._count) * 10**9
        os.utime(path, ns=(moment, moment))
        return path

    def prompt(self, text: str, **more: Any) -> Path:
        return self.put("UserPromptSubmit", {"prompt": text, **more})

    def stop(self, text: str, **more: Any) -> Path:
        return self.put("Stop", {"last_assistant_message": text, **more})

    def bash(self, call: str, command: str, output: str = "ok", **more: Any) -> Path:
        told = {
            "tool_name": "Bash",
            "tool_use_id": call,
            "tool_input": {"command": command},
            "tool_response": {"stdout": output, "stderr": ""},
            "duration_ms": 250,
        }
        return self.put("PostToolUse", told | more)

    def end(self) -> Path:
        return self.put("SessionEnd", {"reason": "other"})

    def keep(self, notes: Sequence[InjectionNote]) -> bool:
        self.notes += notes
        return True

    def drain(self) -> DrainReport:
        banks = BankMaker(self.settings, lambda: self.now)
        return drain(self.places, banks, self.rules, lambda: self.now, self.keep)

    def reconcile(self) -> ReconcileReport:
        store = SqliteStore(put_empty_memory(self.settings.database))
        try:
            banks = BankMaker(self.settings, lambda: self.now)
            return reconcile(store, banks, self.places, self.rules, lambda: self.now)
        finally:
            store.close()

    def open(self) -> Holdfast:
        return Holdfast(with_empty_memory(self.settings), now=lambda: self.now)

    def ingest(self, *paths: Path) -> None:
        with self.open() as memory:
            memory.ingest(memory.ingestion.find(list(paths)))

    def journal(self, session: str = SESSION) -> list[dict[str, Any]]:
        return list(journal.read(self.places.journal(session)))

    def said(self, session: str = SESSION) -> list[str]:
        """The turns of a session in order, tools by their action."""
        with self.open() as memory:
            bank = memory.reader.banks.id_by_host_session(session.partition(":")[0])
            turns = memory.reader.turns.of_session(bank, session) if bank else []
        return [turn.tool.action if turn.tool else turn.text for turn in turns]
