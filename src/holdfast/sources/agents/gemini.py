"""Gemini CLI (0.1 to 0.61): `~/.gemini/tmp/PROJECT/chats/session-*.jsonl`, before 0.30 `*.json`.

A line is a message or a change of earlier ones: a message is repeated with its tools and their
results, `$set` holds messages as well, `$rewindTo` takes some back. The older documents are written
anew with every message; they are converted to the lines of the newer format.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from holdfast.model.ledgers.lines import LineOutcome, SkipReason
from holdfast.regex import regex
from holdfast.sources import tool_mapping
from holdfast.sources.agent import Agent, LineLayout, find_files, has_marks, home_folders
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
        "Bash": "run_shell_command",
        "Read": "read_file read_many_files",
        "Write": "write_file",
        "Edit": "replace edit",
        "Grep": "search_file_content grep_search",
        "Glob": "glob",
        "LS": "list_directory",
        "WebFetch": "web_fetch",
        "WebSearch": "google_web_search",
        "TodoWrite": "write_todos",
        "Agent": "codebase_investigator invoke_agent",
        "Skill": "activate_skill",
    },
    own="save_memory ask_user enter_plan_mode exit_plan_mode get_internal_docs",
)
_HOOK_CONTEXT = regex(r"<hook_context>.*?</hook_context>\s*", re.DOTALL)
# How text begins that the program wrote as a user message; and commands for the program itself.
_MACHINE_STARTS = ("<session_context>", "<state_snapshot>", "System: ", "/", "?")
_UNTRUSTED = regex(r"\A<untrusted_context>\n?(.*?)\n?</untrusted_context>\s*\Z", re.DOTALL)
_SHELL_HEAD = regex(r"\A(?:Command: .*\n|Directory: .*\n|Stdout: |Output: )+")
_SHELL_TAIL = regex(
    r"\n(?:Stderr|Error|Exit Code|Signal|Background PIDs|Process Group PGID): .*\Z", re.DOTALL
)
_EXIT_CODE = regex(r"^Exit Code: (-?\d+)", re.MULTILINE)
_WORKSPACE = regex(rb"Workspace Directories:\*\*\\n\s+- (.*?)\\n")
_SESSION_FIELDS = ("sessionId", "projectHash", "startTime", "kind", "directories", "summary")


def _read_session(path: Path, head: bytes) -> DraftSession:
    """The facts of the session are on the first line. Its project is found by a file in the folder,
    or by its hash."""
    meta = tool_mapping.first_object(head)
    id = string(meta, "sessionId") or path.stem
    inner = string(meta, "kind") == "subagent"
    parent = path.parent.name if inner and path.parent.name != "chats" else ""
    return DraftSession(
        id,
        parent or id,
        parent=parent,
        subagent="subagent" if parent else "",
        cwd=_project_folder(path, meta, head),
        title=string(meta, "summary"),
    )


def _project_folder(path: Path, meta: Record, head: bytes) -> str:
    chats = next((parent for parent in path.parents if parent.name == "chats"), None)
    if chats is not None:
        try:
            return (chats.parent / ".project_root").read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError):
            found = _registered_project(chats.parent, string(meta, "projectHash"))
            if found:
                return found
    folders = [str(folder) for folder in items(meta.get("directories"))]
    if folders:
        return folders[0]
    workspace = _WORKSPACE.search(head)
    return workspace.group(1).decode("utf-8", "replace") if workspace else ""


def _registered_project(folder: Path, hashed: str) -> str:
    """The project of a folder in the list that Gemini CLI keeps, by name or by hash."""
    try:
        listed: Any = orjson.loads((folder.parent.parent / "projects.json").read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return ""
    for path, name in mapping(mapping(listed).get("projects")).items():
        if name == folder.name or hashlib.sha256(path.encode()).hexdigest() == hashed:
            return path
    return ""


def _stamp(path: Path) -> str:
    return stamp_of(path.stat())


def _to_lines(path: Path) -> bytes:
    """A document as lines, the facts of the session first. A file of lines stays as it is."""
    raw = path.read_bytes()
    first = raw.partition(b"\n")[0]
    is_indented = len(first.strip()) < 3
    try:
        whole = mapping(orjson.loads(raw if is_indented else first))
    except orjson.JSONDecodeError as error:
        if is_indented and raw:
            raise OSError(f"{path} is not whole: {error}") from error
        whole = {}
    if "messages" not in whole:
        return raw
    meta = {key: whole[key] for key in _SESSION_FIELDS if key in whole}
    return b"".join(orjson.dumps(line) + b"\n" for line in (meta, *items(whole["messages"])))


def _read_record(record: Record, file: FileInfo) -> ParsedLine:
    if "$set" in record:
        return _changed_fields(mapping(record["$set"]), file)
    if "$rewindTo" in record or ("type" not in record and "sessionId" in record):
        return skipped(SkipReason.HOUSEKEEPING)
    parsed = _message(record, file)
    return parsed if parsed.ref else parsed._replace(ref=string(record, "id"))


def _changed_fields(changed: Record, file: FileInfo) -> ParsedLine:
    """Fields of the session that changed; messages among them that are not known yet count."""
    title = string(changed, "summary")
    parsed = [_message(message, file) for message in objects(changed.get("messages"))]
    kept = [line for line in parsed if line.outcome is LineOutcome.CAPTURED]
    if not kept and not title:
        return parsed[-1] if parsed else skipped(SkipReason.HOUSEKEEPING)
    turns = [turn for line in kept for turn in line.turns]
    results = [result for line in kept for result in line.results]
    return captured(file, turns, results)._replace(title=title)


def _message(message: Record, file: FileInfo) -> ParsedLine:
    kind = string(message, "type")
    if kind in ("info", "error", "warning"):
        return skipped(SkipReason.MACHINE)
    if kind not in ("user", "gemini"):
        return skipped(SkipReason.UNKNOWN_TYPE)
    time = normal_time(message.get("timestamp"))
    shown: object = message.get("displayContent") or message.get("content")
    if shown.__class__ not in (str, list):
        return WRONG_SHAPE
    text = tool_mapping.plain_text(shown).strip()
    ref = string(message, "id")
    if kind == "user":
        return _user(message, text, (ref, text), time, file)
    turns: list[DraftTurn] = [tool_mapping.assistant_turn(text, (ref, text), time)] if text else []
    results: list[DraftResult] = []
    for number, call in enumerate(objects(message.get("toolCalls"))):
        call_turns, call_results = _call(call, f"{ref}.{number}", time, file)
        turns += call_turns
        results += call_results
    if not turns:
        return skipped(SkipReason.THINKING if message.get("thoughts") else SkipReason.EMPTY)
    return captured(file, turns, results)


def _user(
    message: Record, text: str, key: tuple[str, ...], time: str, file: FileInfo
) -> ParsedLine:
    if not text:
        is_result = any("functionResponse" in part for part in objects(message.get("content")))
        return skipped(SkipReason.DUPLICATE if is_result else SkipReason.EMPTY)
    if text.startswith(_MACHINE_STARTS):
        return skipped(SkipReason.MACHINE)
    text = _HOOK_CONTEXT.sub("", text)
    if not text:
        return skipped(SkipReason.INJECTED)
    prompt = prompts.read_prompt(text)
    if prompt.skip is not None:
        return skipped(prompt.skip)
    return captured(file, [tool_mapping.user_turn(prompt.text, key, time, file.user_trust)])


def _call(
    call: Record, fallback_id: str, time: str, file: FileInfo
) -> tuple[list[DraftTurn], list[DraftResult]]:
    name, id = string(call, "name"), string(call, "id") or fallback_id
    given = mapping(call.get("args"))
    if name == "write_todos":
        tasks = objects(given.get("todos"))
        given = {"todos": [{**task, "content": string(task, "description")} for task in tasks]}
    if name == "run_shell_command" and not string(given, "command"):
        given = {"command": string(call, "description")}
    turns = tool_mapping.mapped_tool_turns(
        _TOOLS, name or "tool", given, file.root, id, time, (file.session.id,)
    )
    status = string(call, "status")
    if status not in ("success", "error", "cancelled"):
        return turns, []  # still running: the message is repeated when it is done
    ok, text = _outcome(status, call.get("result"))
    ended = normal_time(call.get("timestamp")) or time
    return turns, tool_mapping.call_results(turns, _TOOLS.get(name), ok, text, ended)


def _outcome(status: str, result: object) -> tuple[bool, str]:
    parts: list[str] = []
    for part in objects(result):
        response = mapping(mapping(part.get("functionResponse")).get("response"))
        parts.append(
            string(response, "output") or string(response, "error") or string(part, "text")
        )
    text = "\n".join(filter(None, parts))
    wrapped = _UNTRUSTED.match(text)
    text = wrapped.group(1) if wrapped else text
    code = _EXIT_CODE.search(text)
    ok = status == "success" and (code is None or code[1] == "0")
    if ok:
        text = _SHELL_TAIL.sub("", _SHELL_HEAD.sub("", text))
    elif status == "cancelled":
        text = text or "cancelled"
    return ok, text


def _tool_outputs(record: Record) -> Iterator[tuple[str, str]]:
    for call in objects(record.get("toolCalls")):
        _, text = _outcome("success", call.get("result"))
        yield string(call, "id"), text


AGENT = Agent(
    name="gemini",
    title="Gemini CLI",
    folders=home_folders("GEMINI_CLI_HOME", "", ".gemini/tmp"),
    find=find_files("*/chats/**/*.json", "*/chats/**/*.jsonl"),
    recognises=has_marks(2000, b'"sessionId"', b'"projectHash"'),
    read_session=_read_session,
    read_record=_read_record,
    tool_outputs=_tool_outputs,
    layout=LineLayout(stamp=_stamp, to_lines=_to_lines),
)
