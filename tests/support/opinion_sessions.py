"""Memories with a clock of their own, and sessions on consecutive days."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from holdfast.app.memory import Holdfast
from holdfast.settings import Settings
from tests.support.empty_memory import with_empty_memory
from tests.support.transcripts import Script

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.day = 0.0
        self._ticks = 0

    def __call__(self) -> str:
        self._ticks += 1
        now = START + timedelta(days=self.day, milliseconds=self._ticks)
        return now.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def open_dated_memory(
    home: Path, clock: Callable[[], str] | None = None, bank: str = "proj"
) -> Holdfast:
    """A memory with a clock of its own."""
    settings = Settings(home=home, claude_dir=home / "claude", bank=bank)
    return Holdfast(with_empty_memory(settings), clock or Clock())


def session_on_day(number: int, *said: str, cwd: str = "/home/dev/proj") -> Script:
    """A session on a day, by its number, in which a person says something and is answered."""
    session = f"{number:08d}-0000-4000-8000-000000000001"
    script = Script(session, cwd, start=START + timedelta(days=number))
    for text in said:
        script.user(text)
        script.assistant("Understood.")
    return script


def ingest_and_update(memory: Holdfast, *scripts: Script) -> None:
    """Ingest sessions and run all stages."""
    folder = memory.settings.home / "claude" / "projects"
    memory.ingest(memory.ingestion.find([script.write(folder) for script in scripts]))
    memory.ingestion.update()
