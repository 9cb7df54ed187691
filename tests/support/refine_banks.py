"""Memories with sessions on given days, for tests of facts and of what uses them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from holdfast.app.memory import Holdfast
from holdfast.model.knowledge import Fact
from holdfast.settings import Settings
from tests.support.empty_memory import with_empty_memory
from tests.support.transcripts import Script

NOW = "2026-12-01T12:00:00.000Z"


def session_on(day: str, number: int) -> Script:
    """A session on a day."""
    start = datetime.fromisoformat(f"{day}T09:00:00").replace(tzinfo=UTC)
    return Script(f"{number:08}-0000-4000-8000-000000000001", start=start)


def session_saying(day: str, number: int, *texts: str) -> Script:
    """A session on a day in which a person says these texts."""
    script = session_on(day, number)
    for text in texts:
        script.user(text)
        script.assistant("Understood, I will keep to that.")
    return script


def open_memory(home: Path) -> Holdfast:
    """A memory in a folder."""
    settings = Settings(home=home, claude_dir=home / "claude", bank="proj")
    return Holdfast(with_empty_memory(settings), now=lambda: NOW)


def ingest_scripts(memory: Holdfast, scripts: Sequence[Script], update_every: int = 1) -> None:
    """Write sessions as transcripts and ingest them one after the other. What is derived from all
    sessions is derived after every so many, and at the end."""
    folder = memory.settings.home / "claude" / "projects"
    for number, script in enumerate(scripts, 1):
        inputs = memory.ingestion.find([script.write(folder)])
        memory.ingestion.ingest(inputs, then_know=number % update_every == 0)
    if len(scripts) % update_every:
        memory.ingestion.update()


def open_filled(home: Path, *scripts: Script, update_every: int = 1) -> Holdfast:
    """A memory that has read some sessions, as `ingest_scripts` reads them."""
    memory = open_memory(home)
    ingest_scripts(memory, scripts, update_every)
    return memory


def open_filled_at_once(home: Path, *scripts: Script) -> Holdfast:
    """A memory that has read some sessions, and derived what all of them say once."""
    return open_filled(home, *scripts, update_every=len(scripts))


def find_fact(memory: Holdfast, words: str) -> Fact:
    """The only fact whose content contains these words."""
    found = [fact for fact in memory.browse.facts(all=True) if words in fact.content]
    assert len(found) == 1, [fact.content for fact in memory.browse.facts(all=True)]
    return found[0]
