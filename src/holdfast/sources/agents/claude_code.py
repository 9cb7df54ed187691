"""Claude Code: `~/.claude/projects/PROJECT/SESSION.jsonl`. Its readers are in
`sources/claude_code`, because hooks use them as well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import orjson

from holdfast.model.bank import Clue, ClueKind
from holdfast.regex import regex
from holdfast.sources.agent import Agent, home_folders
from holdfast.sources.claude_code import files, records, tools
from holdfast.sources.draft import DraftSession
from holdfast.sources.json_fields import Record, mapping, string
from holdfast.sources.repository_clues import head_clue, pull_clue

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


def _command_folder(record: Record) -> str:
    """The folder of the line, which follows the shell."""
    return string(record, "cwd")


def _repository_clues(record: Record) -> Iterator[Clue]:
    """The pull request of a session, and the worktree that Claude Code made for it."""
    kind = string(record, "type")
    if kind == "pr-link":
        yield from pull_clue("", string(record, "prUrl"))
    elif kind == "worktree-state":
        made = mapping(record.get("worktreeSession"))
        path, original = string(made, "worktreePath"), string(made, "originalCwd")
        if path and original:
            yield Clue(path, ClueKind.WORKTREE, original)
            yield from head_clue(original, string(made, "originalHeadCommit"))


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
    command_folder=_command_folder,
    repository_clues=_repository_clues,
)
