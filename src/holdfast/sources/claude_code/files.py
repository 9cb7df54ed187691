"""Where Claude Code keeps its transcripts and the settings of a project."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from holdfast.regex import regex

AGENT = "claude-code"

# Journals of background workflows are beside the subagents' transcripts and hold no conversation.
_NOT_TRANSCRIPTS = {"journal.jsonl", "history.jsonl"}
_SUBAGENT = regex(r"agent-[0-9A-Za-z_-]+\Z")


def default_folder(config_dir: Path) -> Path:
    """The folder with one subfolder per project."""
    return config_dir / "projects"


def find_project(claude_dir: Path, folder: Path | None) -> Path | None:
    """The nearest folder, from this one upwards, that has settings of its own."""
    for parent in (folder, *folder.parents) if folder else ():
        own = parent / ".claude"
        if own != claude_dir and own.is_dir():
            return parent
    return None


def find_transcripts(
    folder: Path, problems: list[str] | None = None, endings: tuple[str, ...] = (".jsonl",)
) -> Iterator[Path]:
    """Every transcript below a folder, those of subagents included: all files with these endings.
    Linked folders are followed, each once. What cannot be read is added to `problems`."""
    seen: set[tuple[int, int]] = set()

    def note(error: OSError) -> None:
        if problems is not None:
            problems.append(f"{error.filename}: {error.strerror}")

    for place, folders, files in os.walk(folder, onerror=note, followlinks=True):
        known = os.stat(place)  # noqa: PTH116 - one call a folder, of many
        if (known.st_dev, known.st_ino) in seen:
            folders.clear()
            continue
        seen.add((known.st_dev, known.st_ino))
        if "memory.db" in files and "events" in folders:
            folders.remove("events")  # a home of Holdfast: the journals of hooks are no transcripts
        for name in files:
            path = Path(place, name)
            if name.endswith(endings) and name not in _NOT_TRANSCRIPTS and path.is_file():
                yield path


def is_subagent(stem: str) -> bool:
    """Whether a file of this name belongs to a subagent."""
    return _SUBAGENT.match(stem) is not None
