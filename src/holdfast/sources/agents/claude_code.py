"""Claude Code: `~/.claude/projects/PROJECT/SESSION.jsonl`. Its readers are in
`sources/claude_code`, because hooks use them as well."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import orjson

from holdfast.regex import regex
from holdfast.sources.agent import Agent, home_folders
from holdfast.sources.claude_code import files, records, tools
from holdfast.sources.draft import DraftSession

_CWD = regex(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.)+")')


def _find(path: Path, problems: list[str]) -> Iterable[Path]:
    return files.find_transcripts(path, problems) if path.is_dir() else [path]


def _recognises(path: Path, head: bytes) -> bool:
    return path.suffix == ".jsonl"


def _read_session(path: Path, head: bytes) -> DraftSession:
    """The folder that the first lines name. It is searched for in the bytes, because the first line
    may be a screenshot of many megabytes; inside a JSON string the quotes would be escaped."""
    for match in _CWD.finditer(head):
        try:
            return DraftSession("", "", cwd=str(orjson.loads(match.group(1))))
        except orjson.JSONDecodeError:
            continue
    return DraftSession("", "")


AGENT = Agent(
    name=files.AGENT,
    title="Claude Code",
    folders=home_folders("CLAUDE_CONFIG_DIR", ".claude", "projects"),
    find=_find,
    recognises=_recognises,
    read_session=_read_session,
    read_record=records.read_record,
    skip_line=records.skip_unparsed,
    shorten_line=records.without_file_copies,
    session_of_record=records.describe_session,
    tool_outputs=tools.tool_outputs,
)
