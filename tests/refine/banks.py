"""Sessions on given days, for tests of what is known above them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.support.transcripts import Script

from holdfast.app.memory import Holdfast
from holdfast.model.knowledge import Fact
from holdfast.settings import Settings

NOW = "2026-12-01T12:00:00.000Z"


def on(day: str, number: int) -> Script:
    """A session on a day."""
    start = datetime.fromisoformat(f"{day}T09:00:00").replace(tzinfo=UTC)
    return Script(f"{number:08}-0000-4000-8000-000000000001", start=start)


def said(day: str, number: int, *texts: str) -> Script:
    """A session in which a person says some things."""
    script = on(day, number)
    for text in texts:
        script.user(text)
        script.assistant("Understood, I will keep to that.")
    return script


def open_at(home: Path) -> Holdfast:
    """A memory in a folder."""
    settings = Settings(home=home, claude_dir=home / "claude", bank="proj")
    return Holdfast(settings, now=lambda: NOW)


def read_in(memory: Holdfast, scripts: Sequence[Script]) -> None:
    """Read sessions, one after the other."""
    folder = memory.settings.home / "claude" / "projects"
    for script in scripts:
        memory.ingest(memory.ingestion.find([script.write(folder)]))


def filled(home: Path, *scripts: Script) -> Holdfast:
    """A memory that has read some sessions."""
    memory = open_at(home)
    read_in(memory, scripts)
    return memory


def by_words(memory: Holdfast, words: str) -> Fact:
    """The one fact whose content holds some words."""
    found = [fact for fact in memory.browse.facts(all=True) if words in fact.content]
    assert len(found) == 1, [fact.content for fact in memory.browse.facts(all=True)]
    return found[0]
