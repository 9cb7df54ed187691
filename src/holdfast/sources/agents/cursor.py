"""Cursor (0.50 to 2.x): the editor's database `globalStorage/state.vscdb`, and the transcripts of
its agents, `~/.cursor/projects/PROJECT/agent-transcripts/SESSION/SESSION.jsonl`.

A conversation of the database is a list of bubbles. It is read as the source
`state.vscdb/CONVERSATION`, one line a bubble. Transcripts have neither times nor results; those of
conversations that the database has are left out. Neither format is documented.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import orjson

from holdfast.model.ledgers.lines import SkipReason
from holdfast.regex import regex
from holdfast.sources import database, tool_mapping
from holdfast.sources.agent import Agent, LineLayout, UserEnvironment
from holdfast.sources.claude_code import prompts
from holdfast.sources.draft import (
    WRONG_SHAPE,
    DraftResult,
    DraftSession,
    DraftTurn,
    FileInfo,
    ParsedLine,
    captured,
    skipped,
)
from holdfast.sources.fingerprint import stamp_of
from holdfast.sources.json_fields import Record, items, mapping, normal_time, objects, string

_TOOLS = tool_mapping.tool_names(
    {
        "Bash": "run_terminal_cmd run_terminal_command run_terminal_command_v2 Shell",
        "Read": "read_file read_file_v2 Read",
        "Edit": "edit_file edit_file_v2 search_replace StrReplace delete_file Delete",
        "NotebookEdit": "EditNotebook",
        "Write": "write Write create_file",
        tool_mapping.PATCH: "apply_patch ApplyPatch",
        "Grep": "grep grep_search ripgrep_raw_search Grep codebase_search semantic_search_full "
        "SemanticSearch",
        "Glob": "file_search glob_file_search Glob",
        "LS": "list_dir list_dir_v2 LS",
        "WebSearch": "web_search WebSearch",
        "WebFetch": "web_fetch WebFetch",
        "TodoWrite": "todo_write TodoWrite",
        "Agent": "task task_v2 Task",
        "read_lints": "read_lints ReadLints",
        "ask_question": "ask_question AskQuestion",
    },
    own="create_plan",
)
_DATABASE = "state.vscdb"
_USER_QUERY = regex(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)
_ONLY_TAGS = regex(r"\A\s*(?:<([a-z_]+)>.*?</\1>\s*)+\Z", re.DOTALL)
_ABSOLUTE_PATH = regex(rb'"((?:/|[A-Za-z]:\\\\)[^"]{1,300})"')
_NOT_A_WORD = regex(r"[^A-Za-z0-9]+")

_CONVERSATIONS = (
    "SELECT substr(key, 14), length(value), json_extract(CAST(value AS TEXT), '$.lastUpdatedAt') "
    "FROM cursorDiskKV WHERE key >= 'composerData:' AND key < 'composerData;' AND value IS NOT NULL"
    " AND json_valid(CAST(value AS TEXT)) AND coalesce(json_array_length(CAST(value AS TEXT), "
    "'$.fullConversationHeadersOnly'), json_array_length(CAST(value AS TEXT), '$.conversation'), 0)"
)
_VALUE = "SELECT value FROM cursorDiskKV WHERE key = ?"
_BUBBLES = "SELECT key, value FROM cursorDiskKV WHERE key >= ? AND key < ? AND value IS NOT NULL"
_WORKSPACE_CONVERSATIONS = "SELECT value FROM ItemTable WHERE key = 'composer.composerData'"


def _user_folder(user: UserEnvironment) -> Path:
    """The folder of the editor's user data."""
    if user.system == "darwin":
        return user.home / "Library" / "Application Support" / "Cursor" / "User"
    if user.system == "win32":
        return user.folder("APPDATA", "AppData/Roaming") / "Cursor" / "User"
    return user.folder("XDG_CONFIG_HOME", ".config") / "Cursor" / "User"


def _folders(user: UserEnvironment) -> Sequence[Path]:
    return [_user_folder(user) / "globalStorage", user.home / ".cursor" / "projects"]


def _find(path: Path, problems: list[str]) -> Iterator[Path]:
    file = path / _DATABASE if path.is_dir() else path
    if database.is_database(file):
        yield from database.find_sessions(file, _stamps, problems)
    elif path.is_file():
        yield path
    else:
        known = _conversations_in_database(path)
        for transcript in path.glob("*/agent-transcripts/**/*.jsonl"):
            if transcript.stem not in known:
                yield transcript


def _conversations_in_database(projects: Path) -> set[str]:
    """The ids of the conversations in the editor's database, if it is in its default place."""
    home = projects.parents[1]
    for system in ("linux", "darwin", "win32"):
        file = _user_folder(UserEnvironment(home, {}, system)) / "globalStorage" / _DATABASE
        if database.is_database(file):
            return {found.name for found in database.find_sessions(file, _stamps, [])}
    return set()


def _recognises(path: Path, head: bytes) -> bool:
    if database.is_database(path, head):
        return path.name == _DATABASE and path.parent.name == "globalStorage"
    return path.suffix == ".jsonl" and "agent-transcripts" in path.parts


def _is_transcript(path: Path) -> bool:
    return path.suffix == ".jsonl"


def _read_session(path: Path, head: bytes) -> DraftSession:
    if _is_transcript(path):
        parent = path.parent.parent.name if path.parent.name == "subagents" else ""
        role = "subagent" if parent else ""
        return DraftSession(
            path.stem, parent or path.stem, parent, role, cwd=_folder_of_transcript(path, head)
        )
    composer = _composer(path)
    return DraftSession(
        path.name,
        path.name,
        title=string(composer, "name"),
        cwd=_workspace(path, composer),
        branch=string(composer, "createdOnBranch"),
    )


def _folder_of_transcript(path: Path, head: bytes) -> str:
    """The project's folder. Cursor names it with dashes for slashes; a path in the transcript that
    gives this name shows which slashes they were."""
    parts = path.parts
    name = parts[parts.index("agent-transcripts") - 1] if "agent-transcripts" in parts else ""
    for match in _ABSOLUTE_PATH.finditer(head):
        found = Path(match.group(1).decode("utf-8", "replace").replace("\\\\", "\\"))
        for folder in (found, *found.parents):
            if name and _NOT_A_WORD.sub("-", str(folder)).strip("-").lower() == name.lower():
                return str(folder)
    plain = Path("/" + name.replace("-", "/"))
    return str(plain) if name and plain.is_dir() else ""


def _workspace(path: Path, composer: Record) -> str:
    uri = mapping(mapping(composer.get("workspaceIdentifier")).get("uri"))
    if string(uri, "fsPath") or string(uri, "path"):
        return string(uri, "fsPath") or string(uri, "path")
    user_folder = path.parent.parents[1]
    folders = database.cached(path.parent, lambda file: _workspaces(user_folder), "workspaces")
    return folders.get(path.name, "")


def _workspaces(user_folder: Path) -> dict[str, str]:
    """The folder of each conversation, from the lists of the editor's workspaces."""
    found: dict[str, str] = {}
    for file in user_folder.glob(f"workspaceStorage/*/{_DATABASE}"):
        try:
            workspace = mapping(orjson.loads((file.parent / "workspace.json").read_bytes()))
            listed = [_parsed(value) for (value,) in database.query(file, _WORKSPACE_CONVERSATIONS)]
        except (OSError, orjson.JSONDecodeError):
            continue
        folder = unquote(urlsplit(string(workspace, "folder")).path)
        for composer in (one for record in listed for one in objects(record.get("allComposers"))):
            found[string(composer, "composerId")] = folder
    return found


def _parsed(value: Any) -> Record:
    try:
        return mapping(orjson.loads(value or b"{}"))
    except orjson.JSONDecodeError:
        return {}


def _composer(path: Path) -> Record:
    rows = database.query(path.parent, _VALUE, f"composerData:{path.name}")
    return _parsed(rows[0][0]) if rows else {}


def _stamps(file: Path) -> dict[str, str]:
    """A stamp of each conversation; that of one written to just now says that it is open."""
    stamps: dict[str, str] = {}
    for id, length, updated in database.query(file, _CONVERSATIONS):
        is_open = isinstance(updated, int | float) and database.is_open(updated / 1000)
        stamps[str(id)] = f"{length}:{updated}" + (":open" if is_open else "")
    return stamps


def _stamp(path: Path) -> str:
    if _is_transcript(path):
        return stamp_of(path.stat())
    return database.session_stamp(path, _stamps)


def _to_lines(path: Path) -> bytes:
    """The bubbles in their order, up to the first that is still being written."""
    if _is_transcript(path):
        return _numbered_lines(path.read_bytes())
    composer = _composer(path)
    bubbles = {string(one, "bubbleId"): one for one in objects(composer.get("conversation"))}
    start = f"bubbleId:{path.name}:"
    for key, value in database.query(path.parent, _BUBBLES, start, f"{start[:-1]};"):
        bubbles[key[len(start) :]] = _parsed(value)
    ids = [string(h, "bubbleId") for h in objects(composer.get("fullConversationHeadersOnly"))]
    writing = set(map(str, items(composer.get("generatingBubbleIds"))))
    is_open = ":open" in _stamp(path)
    lines: list[Record] = [{"conversation": path.name, "createdAt": composer.get("createdAt")}]
    for id in ids or bubbles:
        if is_open and id in writing:
            break
        lines.append({"bubble": bubbles.get(id, {}), "id": id, "at": composer.get("createdAt")})
    return b"".join(orjson.dumps(line) + b"\n" for line in lines)


def _numbered_lines(raw: bytes) -> bytes:
    """The lines of a transcript, each with its number: nothing else tells two equal ones apart."""
    lines = raw.splitlines(keepends=True)
    return b"".join(
        b'{"at":"line-%d",%b' % (number, line[1:]) if line.startswith(b'{"') else line
        for number, line in enumerate(lines, 1)
    )


def _read_record(record: Record, file: FileInfo) -> ParsedLine:
    if "bubble" in record:
        return _bubble(mapping(record["bubble"]), record, file)
    if "conversation" in record:
        return skipped(SkipReason.HOUSEKEEPING)
    if "role" in record:
        return _message(record, file)
    known = string(record, "type") in ("turn_ended", "turn_started", "session_meta")
    return skipped(SkipReason.HOUSEKEEPING if known else SkipReason.UNKNOWN_TYPE)


def _read_user_text(text: str) -> prompts.Prompt:
    """The user's own text, which Cursor puts into a tag of its prompt."""
    query = "\n\n".join(_USER_QUERY.findall(text))
    if not query and text and _ONLY_TAGS.match(text):
        return prompts.Prompt("", skip=SkipReason.MACHINE)
    return prompts.read_prompt(query or text)


def _bubble(bubble: Record, record: Record, file: FileInfo) -> ParsedLine:
    id, kind = string(record, "id"), bubble.get("type")
    if not bubble:
        return skipped(SkipReason.EMPTY)
    moment = normal_time(bubble.get("createdAt")) or normal_time(record.get("at"))
    text = string(bubble, "text").strip()
    if kind == 1:
        prompt = _read_user_text(text)
        if prompt.skip is not None:
            return skipped(prompt.skip)
        turn = tool_mapping.user_turn(prompt.text, (id, prompt.text), moment)
        return captured(file, [turn], ref=id)
    if kind != 2:
        return WRONG_SHAPE
    turns: list[DraftTurn] = [tool_mapping.assistant_turn(text, (id, text), moment)] if text else []
    tool = mapping(bubble.get("toolFormerData"))
    results: list[DraftResult] = []
    if string(tool, "name"):
        calls, results = _tool(tool, id, moment, file)
        turns += calls
    if not turns:
        return skipped(SkipReason.THINKING if bubble.get("thinking") else SkipReason.EMPTY)
    return captured(file, turns, results, id)


def _tool(
    tool: Record, id: str, moment: str, file: FileInfo
) -> tuple[list[DraftTurn], list[DraftResult]]:
    name, call = string(tool, "name"), string(tool, "toolCallId") or id
    given = tool_mapping.parse_arguments(tool.get("rawArgs") or tool.get("params"))
    turns = tool_mapping.mapped_tool_turns(_TOOLS, name, given, file.root, call, moment, (id,))
    status = string(tool, "status")
    if status not in ("completed", "error", "cancelled"):
        return turns, []
    result = tool_mapping.parse_arguments(tool.get("result"))
    code = result.get("exitCodeV2", result.get("exitCode"))
    ok = status == "completed" and code in (0, None) and result.get("rejected") is not True
    text = string(result, "output") or string(result, "error") or string(result, "contents")
    text = text or string(tool, "error") or ("" if ok else status)
    return turns, tool_mapping.call_results(turns, _TOOLS.get(name), ok, text, moment)


def _message(record: Record, file: FileInfo) -> ParsedLine:
    """A line of a transcript. Its key is its text and its line number."""
    moment = normal_time(record.get("timestamp_ms") or record.get("timestamp"))
    role, place = string(record, "role"), string(record, "at")
    content: object = mapping(record.get("message")).get("content")
    blocks: list[Record] = objects(content)
    if isinstance(content, str):
        blocks = [{"type": "text", "text": content}]
    turns: list[DraftTurn] = []
    results: list[DraftResult] = []
    skip = SkipReason.EMPTY
    for number, block in enumerate(blocks):
        kind, text = string(block, "type"), string(block, "text").strip()
        key = ("cursor", file.session.id, place, str(number), text)
        if kind == "text" and role == "user":
            prompt = _read_user_text(text)
            skip = prompt.skip or skip
            if prompt.skip is None:
                turns.append(tool_mapping.user_turn(prompt.text, key, moment, file.user_trust))
        elif kind == "text" and text:
            turns.append(tool_mapping.assistant_turn(text, key, moment))
        elif kind == "tool_use":
            name, given = string(block, "name"), mapping(block.get("input"))
            mark = (file.session.id, place, str(number))
            call = string(block, "id") or tool_mapping.derived_call_id(*mark)
            turns += tool_mapping.mapped_tool_turns(
                _TOOLS, name, given, file.root, call, moment, mark
            )
        elif kind == "tool_result":
            call, ok = string(block, "tool_use_id"), block.get("is_error") is not True
            output = tool_mapping.plain_text(block.get("content"))
            results.append(tool_mapping.call_result(call, ok, output, moment))
        elif kind in ("thinking", "reasoning", "redacted_thinking"):
            skip = SkipReason.THINKING
    if not turns and not results:
        return skipped(skip)
    return captured(file, turns, results, place)


def _tool_outputs(record: Record) -> Iterator[tuple[str, str]]:
    tool = mapping(mapping(record.get("bubble")).get("toolFormerData"))
    if string(tool, "name"):
        result = tool_mapping.parse_arguments(tool.get("result"))
        yield string(tool, "toolCallId"), string(result, "output") or string(result, "contents")


AGENT = Agent(
    name="cursor",
    title="Cursor",
    folders=_folders,
    find=_find,
    recognises=_recognises,
    read_session=_read_session,
    read_record=_read_record,
    tool_outputs=_tool_outputs,
    layout=LineLayout(stamp=_stamp, to_lines=_to_lines),
)
