"""Cursor (0.50 to 2.x): the editor's database `globalStorage/state.vscdb`, and the transcripts of
its agents, `~/.cursor/projects/PROJECT/agent-transcripts/SESSION/SESSION.jsonl`.

A conversation of the database is a list of bubbles; it is the source `state.vscdb/CONVERSATION`,
laid out as a line a bubble. Transcripts have neither times nor results; those of conversations
that the database holds are passed over. Neither format is documented by its maker.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import time
from typing import Any
from urllib.parse import unquote, urlsplit

import orjson

from holdfast.model.ledger import Failure, Fate, Skip
from holdfast.model.trust import Trust
from holdfast.sources import database, tool_mapping
from holdfast.sources.agent import Agent, Layout, Where
from holdfast.sources.claude_code import prompts
from holdfast.sources.draft import (
    DraftResult,
    DraftSession,
    DraftTurn,
    FileInfo,
    Reading,
    skipped,
)
from holdfast.sources.file_stamp import stamp_of
from holdfast.sources.json_fields import Record, items, mapping, normal_time, objects, string

NAME = "cursor"
_TOOLS = {
    "run_terminal_cmd": "Bash", "run_terminal_command": "Bash", "run_terminal_command_v2": "Bash",
    "Shell": "Bash", "read_file": "Read", "read_file_v2": "Read", "Read": "Read",
    "edit_file": "Edit", "edit_file_v2": "Edit", "search_replace": "Edit", "StrReplace": "Edit",
    "EditNotebook": "NotebookEdit", "write": "Write", "Write": "Write", "create_file": "Write",
    "delete_file": "Edit", "Delete": "Edit", "apply_patch": tool_mapping.PATCH,
    "ApplyPatch": tool_mapping.PATCH,
    "grep": "Grep", "grep_search": "Grep", "ripgrep_raw_search": "Grep", "Grep": "Grep",
    "codebase_search": "Grep", "semantic_search_full": "Grep", "SemanticSearch": "Grep",
    "file_search": "Glob", "glob_file_search": "Glob", "Glob": "Glob", "list_dir": "LS",
    "list_dir_v2": "LS", "LS": "LS", "web_search": "WebSearch", "WebSearch": "WebSearch",
    "web_fetch": "WebFetch", "WebFetch": "WebFetch", "todo_write": "TodoWrite",
    "TodoWrite": "TodoWrite", "task": "Agent", "task_v2": "Agent", "Task": "Agent",
    "read_lints": "read_lints", "ReadLints": "read_lints", "create_plan": "create_plan",
    "ask_question": "ask_question", "AskQuestion": "ask_question",
}  # fmt: skip
_CONTENTS = ("Read", "Grep", "Glob", "LS")
_DATABASE = "state.vscdb"
_STILL_S = 600
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
_QUERY = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)
_TAGGED = re.compile(r"\A\s*(?:<([a-z_]+)>.*?</\1>\s*)+\Z", re.DOTALL)
_PATHS = re.compile(rb'"((?:/|[A-Za-z]:\\\\)[^"]{1,300})"')
_NOT_A_WORD = re.compile(r"[^A-Za-z0-9]+")

_CONVERSATIONS = (
    "SELECT substr(key, 14), length(value), json_extract(CAST(value AS TEXT), '$.lastUpdatedAt') "
    "FROM cursorDiskKV WHERE key >= 'composerData:' AND key < 'composerData;' AND value IS NOT NULL"
    " AND json_valid(CAST(value AS TEXT)) AND coalesce(json_array_length(CAST(value AS TEXT), "
    "'$.fullConversationHeadersOnly'), json_array_length(CAST(value AS TEXT), '$.conversation'), 0)"
)
_VALUE = "SELECT value FROM cursorDiskKV WHERE key = ?"
_BUBBLES = "SELECT key, value FROM cursorDiskKV WHERE key >= ? AND key < ? AND value IS NOT NULL"
_LISTED = "SELECT value FROM ItemTable WHERE key = 'composer.composerData'"


def _users(where: Where) -> Path:
    """Where the editor keeps what is a user's."""
    if where.system == "darwin":
        return where.home / "Library" / "Application Support" / "Cursor" / "User"
    if where.system == "win32":
        roaming = where.env.get("APPDATA") or where.home / "AppData" / "Roaming"
        return Path(roaming) / "Cursor" / "User"
    config = where.env.get("XDG_CONFIG_HOME") or where.home / ".config"
    return Path(config) / "Cursor" / "User"


def _folders(where: Where) -> Sequence[Path]:
    return [_users(where) / "globalStorage", where.home / ".cursor" / "projects"]


def _find(path: Path, problems: list[str]) -> Iterator[Path]:
    file = path / _DATABASE if path.is_dir() else path
    if database.is_database(file):
        try:
            yield from (file / id for id in database.kept(file, _stamps))
        except OSError as error:
            problems.append(f"{file}: {error}")
    elif path.is_file():
        yield path
    else:
        held = _held(path)
        for transcript in path.glob("*/agent-transcripts/**/*.jsonl"):
            if transcript.stem not in held:
                yield transcript


def _held(projects: Path) -> set[str]:
    """The conversations that the editor's database has, for transcripts in the usual place."""
    home = projects.parents[1]
    for system in ("linux", "darwin", "win32"):
        file = _users(Where(home, {}, system)) / "globalStorage" / _DATABASE
        if database.is_database(file):
            try:
                return set(database.kept(file, _stamps))
            except OSError:
                return set()
    return set()


def _knows(path: Path, head: bytes) -> bool:
    if database.is_database(path, head):
        return path.name == _DATABASE and path.parent.name == "globalStorage"
    return path.suffix == ".jsonl" and "agent-transcripts" in path.parts


def _is_file(path: Path) -> bool:
    return path.suffix == ".jsonl"


def _about(path: Path, head: bytes) -> DraftSession:
    if _is_file(path):
        parent = path.parent.parent.name if path.parent.name == "subagents" else ""
        role = "subagent" if parent else ""
        return DraftSession(path.stem, parent or path.stem, parent, role, cwd=_folder(path, head))
    composer = _composer(path)
    return DraftSession(
        path.name,
        path.name,
        title=string(composer, "name"),
        cwd=_workspace(path, composer),
        branch=string(composer, "createdOnBranch"),
    )


def _folder(path: Path, head: bytes) -> str:
    """A project's folder is known by its name with dashes; which it is shows by the paths in the
    transcript."""
    parts = path.parts
    name = parts[parts.index("agent-transcripts") - 1] if "agent-transcripts" in parts else ""
    for match in _PATHS.finditer(head):
        told = Path(match.group(1).decode("utf-8", "replace").replace("\\\\", "\\"))
        for folder in (told, *told.parents):
            if name and _NOT_A_WORD.sub("-", str(folder)).strip("-").lower() == name.lower():
                return str(folder)
    plain = Path("/" + name.replace("-", "/"))
    return str(plain) if name and plain.is_dir() else ""


def _workspace(path: Path, composer: Record) -> str:
    told = mapping(mapping(composer.get("workspaceIdentifier")).get("uri"))
    if string(told, "fsPath") or string(told, "path"):
        return string(told, "fsPath") or string(told, "path")
    users = path.parent.parents[1]
    folders = database.kept(path.parent, lambda file: _workspaces(users), "workspaces")
    return folders.get(path.name, "")


def _workspaces(users: Path) -> dict[str, str]:
    """The folder of each conversation, as the editor's workspaces list them."""
    found: dict[str, str] = {}
    for file in users.glob(f"workspaceStorage/*/{_DATABASE}"):
        try:
            workspace = mapping(orjson.loads((file.parent / "workspace.json").read_bytes()))
            listed = [_parsed(value) for (value,) in database.rows(file, _LISTED)]
        except (OSError, orjson.JSONDecodeError):
            continue
        folder = unquote(urlsplit(string(workspace, "folder")).path)
        for composer in (one for told in listed for one in objects(told.get("allComposers"))):
            found[string(composer, "composerId")] = folder
    return found


def _parsed(value: Any) -> Record:
    try:
        return mapping(orjson.loads(value or b"{}"))
    except orjson.JSONDecodeError:
        return {}


def _composer(path: Path) -> Record:
    for (value,) in database.rows(path.parent, _VALUE, f"composerData:{path.name}"):
        return _parsed(value)
    return {}


def _stamps(file: Path) -> dict[str, str]:
    """What changes with each conversation; one that was written to just now is looked at again."""
    told: dict[str, str] = {}
    for id, length, updated in database.rows(file, _CONVERSATIONS):
        still = isinstance(updated, int | float) and abs(time() - updated / 1000) < _STILL_S
        told[str(id)] = f"{length}:{updated}" + (":open" if still else "")
    return told


def _stamp(path: Path) -> str:
    if _is_file(path):
        return stamp_of(path.stat())
    stamps = database.kept(path.parent, _stamps)
    if path.name not in stamps:
        raise FileNotFoundError(f"{path} is not there")
    return stamps[path.name]


def _lay_out(path: Path) -> bytes:
    """The bubbles in their order, without those that are still being written."""
    if _is_file(path):
        return _numbered(path.read_bytes())
    composer = _composer(path)
    kept = {string(bubble, "bubbleId"): bubble for bubble in objects(composer.get("conversation"))}
    start = f"bubbleId:{path.name}:"
    for key, value in database.rows(path.parent, _BUBBLES, start, f"{start[:-1]};"):
        kept[key[len(start) :]] = _parsed(value)
    named = [string(h, "bubbleId") for h in objects(composer.get("fullConversationHeadersOnly"))]
    writing = set(map(str, items(composer.get("generatingBubbleIds"))))
    open = ":open" in _stamp(path)
    lines: list[Record] = [{"conversation": path.name, "createdAt": composer.get("createdAt")}]
    for id in named or kept:
        if open and id in writing:
            break
        lines.append({"bubble": kept.get(id, {}), "id": id, "at": composer.get("createdAt")})
    return b"".join(orjson.dumps(line) + b"\n" for line in lines)


def _numbered(raw: bytes) -> bytes:
    """The lines of a transcript, each with its place: nothing else tells two like ones apart."""
    lines = raw.splitlines(keepends=True)
    return b"".join(
        b'{"at":"line-%d",%b' % (number, line[1:]) if line.startswith(b'{"') else line
        for number, line in enumerate(lines, 1)
    )


def read_record(record: Record, file: FileInfo) -> Reading:
    """What one line gives."""
    if "bubble" in record:
        return _bubble(mapping(record["bubble"]), record, file)
    if "conversation" in record:
        return skipped(Skip.HOUSEKEEPING)
    if "role" in record:
        return _message(record, file)
    known = string(record, "type") in ("turn_ended", "turn_started", "session_meta")
    return skipped(Skip.HOUSEKEEPING if known else Skip.UNKNOWN_TYPE)


def _kept(
    file: FileInfo, turns: Sequence[DraftTurn], results: Sequence[DraftResult] = (), ref: str = ""
) -> Reading:
    session = file.session
    return Reading(Fate.CAPTURED, "", session.id, session.branch, turns, results, ref)


def _typed(text: str) -> prompts.Prompt:
    """A person's words, which the agent's prompts put into a tag."""
    asked = "\n\n".join(_QUERY.findall(text))
    if not asked and text and _TAGGED.match(text):
        return prompts.Prompt("", skip=Skip.MACHINE)
    return prompts.read_prompt(asked or text)


def _bubble(bubble: Record, record: Record, file: FileInfo) -> Reading:
    id, kind = string(record, "id"), bubble.get("type")
    if not bubble:
        return skipped(Skip.EMPTY)
    moment = normal_time(bubble.get("createdAt")) or normal_time(record.get("at"))
    text = string(bubble, "text").strip()
    if kind == 1:
        found = _typed(text)
        if found.skip is not None:
            return skipped(found.skip)
        return _kept(file, [tool_mapping.prompt(found.text, (id, found.text), moment)], ref=id)
    if kind != 2:
        return Reading(Fate.FAILED, Failure.WRONG_SHAPE.value)
    turns: list[DraftTurn] = [tool_mapping.said(text, (id, text), moment)] if text else []
    tool = mapping(bubble.get("toolFormerData"))
    results: list[DraftResult] = []
    if string(tool, "name"):
        made, results = _tool(tool, id, moment, file)
        turns += made
    if not turns:
        return skipped(Skip.THINKING if bubble.get("thinking") else Skip.EMPTY)
    return _kept(file, turns, results, id)


def _tool(
    tool: Record, id: str, moment: str, file: FileInfo
) -> tuple[list[DraftTurn], list[DraftResult]]:
    name, call = string(tool, "name"), string(tool, "toolCallId") or id
    given = tool_mapping.arguments(tool.get("rawArgs") or tool.get("params"))
    turns = tool_mapping.known(_TOOLS, name, given, file.root, call, moment, (id,))
    status = string(tool, "status")
    if status not in ("completed", "error", "cancelled"):
        return turns, []
    came = tool_mapping.arguments(tool.get("result"))
    code = came.get("exitCodeV2", came.get("exitCode"))
    ok = status == "completed" and code in (0, None) and came.get("rejected") is not True
    words = string(came, "output") or string(came, "error") or string(came, "contents")
    words = words or string(tool, "error") or ("" if ok else status)
    shown = _TOOLS.get(name) not in _CONTENTS
    calls = [turn.tool.call for turn in turns if turn.tool]
    return turns, [tool_mapping.came(one, ok, words, moment, shown) for one in calls]


def _message(record: Record, file: FileInfo) -> Reading:
    """A line of a transcript. What tells it from others is what it says, and where it stands."""
    moment = normal_time(record.get("timestamp_ms") or record.get("timestamp"))
    role, place = string(record, "role"), string(record, "at")
    content: object = mapping(record.get("message")).get("content")
    blocks: list[Record] = objects(content)
    if isinstance(content, str):
        blocks = [{"type": "text", "text": content}]
    turns: list[DraftTurn] = []
    results: list[DraftResult] = []
    otherwise = Skip.EMPTY
    for number, block in enumerate(blocks):
        kind, text = string(block, "type"), string(block, "text").strip()
        key = ("cursor", file.session.id, place, str(number), text)
        if kind == "text" and role == "user":
            found = _typed(text)
            otherwise = found.skip or otherwise
            if found.skip is None:
                trust = Trust.ASSISTANT if file.session.parent else Trust.USER
                turns.append(tool_mapping.prompt(found.text, key, moment, trust))
        elif kind == "text" and text:
            turns.append(tool_mapping.said(text, key, moment))
        elif kind == "tool_use":
            name, call = string(block, "name"), string(block, "id")
            given = mapping(block.get("input"))
            mark = (file.session.id, place, str(number))
            call = call or tool_mapping.made_up_call(*mark)
            turns += tool_mapping.known(_TOOLS, name, given, file.root, call, moment, mark)
        elif kind == "tool_result":
            said = tool_mapping.plain_text(block.get("content"))
            ok = block.get("is_error") is not True
            results.append(tool_mapping.came(string(block, "tool_use_id"), ok, said, moment))
        elif kind in ("thinking", "reasoning", "redacted_thinking"):
            otherwise = Skip.THINKING
    if not turns and not results:
        return skipped(otherwise)
    return _kept(file, turns, results, place)


def printed(record: Record) -> Iterator[tuple[str, str]]:
    """What tools printed, each with the id of its call."""
    tool = mapping(mapping(record.get("bubble")).get("toolFormerData"))
    if string(tool, "name"):
        came = tool_mapping.arguments(tool.get("result"))
        yield string(tool, "toolCallId"), string(came, "output") or string(came, "contents")


AGENT = Agent(
    NAME,
    "Cursor",
    _folders,
    _find,
    _knows,
    _about,
    read_record,
    printed=printed,
    layout=Layout(_stamp, _lay_out),
)
