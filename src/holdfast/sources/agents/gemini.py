"""Gemini CLI (0.1 to 0.61): `~/.gemini/tmp/PROJECT/chats/session-*.jsonl`, before 0.30 `*.json`.

A line is a message, or changes what was told before: a message comes again with its tools and
their results, `$set` holds messages as well, `$rewindTo` takes some back. The older documents are
written anew with every message; they are laid out as the lines of the newer ones.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from holdfast.model.ledger import Failure, Fate, Skip
from holdfast.model.trust import Trust
from holdfast.sources import tool_mapping
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
from holdfast.sources.json_fields import (
    Record,
    first_object,
    items,
    mapping,
    normal_time,
    objects,
    string,
)

NAME = "gemini"
_TOOLS = {
    "run_shell_command": "Bash",
    "read_file": "Read",
    "read_many_files": "Read",
    "write_file": "Write",
    "replace": "Edit",
    "edit": "Edit",
    "search_file_content": "Grep",
    "grep_search": "Grep",
    "glob": "Glob",
    "list_directory": "LS",
    "web_fetch": "WebFetch",
    "google_web_search": "WebSearch",
    "write_todos": "TodoWrite",
    "codebase_investigator": "Agent",
    "invoke_agent": "Agent",
    "save_memory": "save_memory",
    "activate_skill": "Skill",
    "ask_user": "ask_user",
    "enter_plan_mode": "enter_plan_mode",
    "exit_plan_mode": "exit_plan_mode",
    "get_internal_docs": "get_internal_docs",
}
_CONTENTS = ("Read", "Grep", "Glob", "LS")
_NOTICES = frozenset("info error warning".split())
_HOOKS = re.compile(r"<hook_context>.*?</hook_context>\s*", re.DOTALL)
_MACHINE_STARTS = ("<session_context>", "<state_snapshot>", "System: ")
_LOCAL = ("/", "?")
_WRAPPED = re.compile(r"\A<untrusted_context>\n?(.*?)\n?</untrusted_context>\s*\Z", re.DOTALL)
_SHELL_HEAD = re.compile(r"\A(?:Command: .*\n|Directory: .*\n|Stdout: |Output: )+")
_SHELL_TAIL = re.compile(
    r"\n(?:Stderr|Error|Exit Code|Signal|Background PIDs|Process Group PGID): .*\Z", re.DOTALL
)
_EXIT = re.compile(r"^Exit Code: (-?\d+)", re.MULTILINE)
_WORKSPACE = re.compile(rb"Workspace Directories:\*\*\\n\s+- (.*?)\\n")
_META = ("sessionId", "projectHash", "startTime", "kind", "directories", "summary")


def _folders(where: Where) -> Sequence[Path]:
    return [Path(where.env.get("GEMINI_CLI_HOME") or where.home) / ".gemini" / "tmp"]


def _find(path: Path, problems: list[str]) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    for ending in ("json", "jsonl"):
        yield from path.glob(f"*/chats/**/*.{ending}")


def _knows(path: Path, head: bytes) -> bool:
    first = head[:2000]
    return b'"sessionId"' in first and b'"projectHash"' in first


def _about(path: Path, head: bytes) -> DraftSession:
    """What the first line says. The project is known by its folder's mark, or by its hash."""
    meta = first_object(head)
    id = string(meta, "sessionId") or path.stem
    inner = string(meta, "kind") == "subagent"
    parent = path.parent.name if inner and path.parent.name != "chats" else ""
    return DraftSession(
        id,
        parent or id,
        parent=parent,
        subagent="subagent" if parent else "",
        cwd=_root(path, meta, head),
        title=string(meta, "summary"),
    )


def _root(path: Path, meta: Record, head: bytes) -> str:
    chats = next((parent for parent in path.parents if parent.name == "chats"), None)
    if chats is not None:
        try:
            return (chats.parent / ".project_root").read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError):
            found = _registered(chats.parent, string(meta, "projectHash"))
            if found:
                return found
    named = [str(folder) for folder in items(meta.get("directories"))]
    told = _WORKSPACE.search(head)
    return named[0] if named else told.group(1).decode("utf-8", "replace") if told else ""


def _registered(folder: Path, hashed: str) -> str:
    """The project of a folder by the list that Gemini CLI keeps: by its name, or by its hash."""
    try:
        told: Any = orjson.loads((folder.parent.parent / "projects.json").read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return ""
    for path, name in mapping(mapping(told).get("projects")).items():
        if name == folder.name or hashlib.sha256(path.encode()).hexdigest() == hashed:
            return path
    return ""


def _stamp(path: Path) -> str:
    return stamp_of(path.stat())


def _lay_out(path: Path) -> bytes:
    """A document as lines, its facts first; what is lines already stays as it is."""
    raw = path.read_bytes()
    first = raw.partition(b"\n")[0]
    spread = len(first.strip()) < 3  # over many lines, as people read it
    try:
        whole = mapping(orjson.loads(raw if spread else first))
    except orjson.JSONDecodeError as error:
        if spread and raw:
            raise OSError(f"{path} is not whole: {error}") from error
        whole = {}
    if "messages" not in whole:
        return raw
    meta = {key: whole[key] for key in _META if key in whole}
    return b"".join(orjson.dumps(line) + b"\n" for line in (meta, *items(whole["messages"])))


def read_record(record: Record, file: FileInfo) -> Reading:
    """What one line gives."""
    if "$set" in record:
        return _set(mapping(record["$set"]), file)
    if "$rewindTo" in record:
        return skipped(Skip.HOUSEKEEPING)
    if "type" not in record and "sessionId" in record:
        return skipped(Skip.HOUSEKEEPING)
    reading = _message(record, file)
    return reading if reading.ref else reading._replace(ref=string(record, "id"))


def _set(changed: Record, file: FileInfo) -> Reading:
    """Facts that changed; where messages are among them, those that are not known yet count."""
    title = string(changed, "summary")
    told = [_message(message, file) for message in objects(changed.get("messages"))]
    kept = [reading for reading in told if reading.fate is Fate.CAPTURED]
    if not kept and not title:
        return told[-1] if told else skipped(Skip.HOUSEKEEPING)
    turns = [turn for reading in kept for turn in reading.turns]
    results = [result for reading in kept for result in reading.results]
    session = file.session
    return Reading(Fate.CAPTURED, "", session.id, "", turns, results, title=title)


def _message(message: Record, file: FileInfo) -> Reading:
    kind = string(message, "type")
    if kind in _NOTICES:
        return skipped(Skip.MACHINE)
    if kind not in ("user", "gemini"):
        return skipped(Skip.UNKNOWN_TYPE)
    time = normal_time(message.get("timestamp"))
    shown: object = message.get("displayContent") or message.get("content")
    if shown.__class__ not in (str, list):
        return Reading(Fate.FAILED, Failure.WRONG_SHAPE.value)
    text = tool_mapping.plain_text(shown).strip()
    ref = string(message, "id")
    if kind == "user":
        return _user(message, text, (ref, text), time, file)
    turns: list[DraftTurn] = [tool_mapping.said(text, (ref, text), time)] if text else []
    results: list[DraftResult] = []
    for number, call in enumerate(objects(message.get("toolCalls"))):
        turn, came = _call(call, f"{ref}.{number}", time, file)
        turns += turn
        results += came
    if not turns:
        return skipped(Skip.THINKING if message.get("thoughts") else Skip.EMPTY)
    return Reading(Fate.CAPTURED, "", file.session.id, "", turns, results)


def _user(message: Record, text: str, key: tuple[str, ...], time: str, file: FileInfo) -> Reading:
    if not text:
        again = any("functionResponse" in part for part in objects(message.get("content")))
        return skipped(Skip.DUPLICATE if again else Skip.EMPTY)
    if text.startswith(_MACHINE_STARTS) or text.startswith(_LOCAL):
        return skipped(Skip.MACHINE)
    text = _HOOKS.sub("", text)
    if not text:
        return skipped(Skip.INJECTED)
    found = prompts.read_prompt(text)
    if found.skip is not None:
        return skipped(found.skip)
    trust = Trust.ASSISTANT if file.session.parent else Trust.USER
    turn = tool_mapping.prompt(found.text, key, time, trust)
    return Reading(Fate.CAPTURED, "", file.session.id, "", [turn])


def _call(
    call: Record, place: str, time: str, file: FileInfo
) -> tuple[list[DraftTurn], list[DraftResult]]:
    name, id = string(call, "name"), string(call, "id") or place
    given = mapping(call.get("args"))
    if name == "write_todos":
        tasks = objects(given.get("todos"))
        given = {"todos": [{**task, "content": string(task, "description")} for task in tasks]}
    if name == "run_shell_command" and not string(given, "command"):
        given = {"command": string(call, "description")}
    turns = tool_mapping.known(
        _TOOLS, name or "tool", given, file.root, id, time, (file.session.id,)
    )
    status = string(call, "status")
    if status not in ("success", "error", "cancelled"):
        return turns, []  # it is still at it: the message comes again when it is done
    ok, text = _outcome(status, call.get("result"))
    came = normal_time(call.get("timestamp")) or time
    shown = _TOOLS.get(name) not in _CONTENTS
    return turns, [tool_mapping.came(id, ok, text, came, shown)]


def _outcome(status: str, result: object) -> tuple[bool, str]:
    told: list[str] = []
    for part in objects(result):
        response = mapping(mapping(part.get("functionResponse")).get("response"))
        told.append(string(response, "output") or string(response, "error") or string(part, "text"))
    text = "\n".join(filter(None, told))
    wrapped = _WRAPPED.match(text)
    text = wrapped.group(1) if wrapped else text
    code = _EXIT.search(text)
    ok = status == "success" and (code is None or code[1] == "0")
    if ok:
        text = _SHELL_TAIL.sub("", _SHELL_HEAD.sub("", text))
    elif status == "cancelled":
        text = text or "cancelled by the user"
    return ok, text


def printed(record: Record) -> Iterator[tuple[str, str]]:
    """What tools printed, each with the id of its call."""
    for call in objects(record.get("toolCalls")):
        _, text = _outcome("success", call.get("result"))
        yield string(call, "id"), text


AGENT = Agent(
    NAME,
    "Gemini CLI",
    _folders,
    _find,
    _knows,
    _about,
    read_record,
    printed=printed,
    layout=Layout(_stamp, _lay_out),
)
