"""Where Claude Code keeps its transcripts, and how to know one when a user points at it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

AGENT = "claude-code"

# Journals of background workflows lie beside the subagents' transcripts and hold no talk.
_NOT_TRANSCRIPTS = {"journal.jsonl", "history.jsonl"}
_SUBAGENT = re.compile(r"agent-[0-9A-Za-z_-]+\Z")


def default_folder(config_dir: Path) -> Path:
    """The folder with one subfolder per project."""
    return config_dir / "projects"


def find_transcripts(folder: Path) -> Iterator[Path]:
    """Every transcript below a folder, subagents' included."""
    for path in folder.rglob("*.jsonl"):
        if path.name not in _NOT_TRANSCRIPTS and path.is_file():
            yield path


def is_subagent(stem: str) -> bool:
    """Whether a file of this name belongs to a subagent."""
    return _SUBAGENT.match(stem) is not None
