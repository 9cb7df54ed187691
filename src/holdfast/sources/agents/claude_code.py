"""Claude Code, as one of the agents: its readers are in `sources/claude_code`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import orjson

from holdfast.sources.agent import Agent, Where
from holdfast.sources.claude_code import files, records, tools
from holdfast.sources.draft import DraftSession

_CWD = re.compile(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.)+")')


def _folders(where: Where) -> Sequence[Path]:
    return [
        files.default_folder(Path(where.env.get("CLAUDE_CONFIG_DIR") or where.home / ".claude"))
    ]


def _find(path: Path, problems: list[str]) -> Iterable[Path]:
    return files.find_transcripts(path, problems) if path.is_dir() else [path]


def _knows(path: Path, head: bytes) -> bool:
    return path.suffix == ".jsonl"


def _about(path: Path, head: bytes) -> DraftSession:
    """The folder that the first lines name. Looked for in the bytes, because the first line may
    be a screenshot of many megabytes; inside a JSON string the quotes would be escaped."""
    for match in _CWD.finditer(head):
        try:
            return DraftSession("", "", cwd=str(orjson.loads(match.group(1))))
        except orjson.JSONDecodeError:
            continue
    return DraftSession("", "")


AGENT = Agent(
    files.AGENT,
    "Claude Code",
    _folders,
    _find,
    _knows,
    _about,
    records.read_record,
    records.skip_unparsed,
    records.without_copies,
    records.describe_session,
    tools.printed,
)
