"""Codex CLI (0.40 to 0.166): `$CODEX_HOME/sessions/YYYY/MM/DD/rollout-*.jsonl`.

What the model saw and said stands in `response_item`; `event_msg` tells most of it once more for
the screen. Of edits by `apply_patch` each file is a turn of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from holdfast.model.ledger import Failure, Fate, Skip
from holdfast.model.trust import Trust
from holdfast.sources import tool_mapping
from holdfast.sources.agent import Agent, Where
from holdfast.sources.claude_code import prompts
from holdfast.sources.draft import (
    DraftResult,
    DraftSession,
    DraftTurn,
    FileInfo,
    Reading,
    skipped,
)
from holdfast.sources.json_fields import (
    Record,
    first_object,
    items,
    mapping,
    normal_time,
    objects,
    string,
)

NAME = "codex"
_FOLDERS = ("sessions", "archived_sessions")
_SESSION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")

_THINKING = b'"type":"reasoning"'
_HOUSEKEEPING = frozenset(
    "turn_context world_state token_usage_record session_state inter_agent_communication "
    "inter_agent_communication_metadata ghost_snapshot session_meta".split()
)
# What the program wrote in the user's place.
_MACHINE_STARTS = (
    "# AGENTS.md instructions",
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<turn_aborted>",
    "<user_shell_command>",
    "<subagent_notification>",
    "<skill>",
    "<INSTRUCTIONS>",
    "<hook_prompt",
    "<collaboration_mode>",
    "<goal_context>",
)
_IDE_REQUEST = "## My request for Codex:"
_IDE_START = "# Context from my IDE setup:"
_EXIT = re.compile(r"(?:Process exited with code|Exit code:|exit code) (-?\d+)", re.IGNORECASE)
_OUTPUT = re.compile(r"\A(?:.*\n){0,8}?Output:\n")
_HEADER = 600
_FAILED_STARTS = ("apply_patch verification failed", "exec_command failed", "execution error",
                  "failed to", "unsupported call", "Error:", "err:", "tool call error",
                  "patch rejected", "aborted by user")  # fmt: skip


def _folders(where: Where) -> Sequence[Path]:
    home = Path(where.env.get("CODEX_HOME") or where.home / ".codex")
    return [home / name for name in _FOLDERS]


def _find(path: Path, problems: list[str]) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    yield from path.rglob("rollout-*.jsonl")


def _knows(path: Path, head: bytes) -> bool:
    first = head[:4000]
    return b'"type":"session_meta"' in first and b'"payload":{' in first


def _about(path: Path, head: bytes) -> DraftSession:
    """What the first line says: Codex writes one file a session, and its facts on top."""
    meta = mapping(first_object(head).get("payload"))
    named = _SESSION.search(path.stem)
    id = string(meta, "id") or (named.group() if named else path.stem)
    parent, role = _spawned(meta.get("source"))
    return DraftSession(
        id,
        string(meta, "session_id") or parent or id,
        parent=parent,
        subagent=role,
        cwd=string(meta, "cwd"),
        branch=string(mapping(meta.get("git")), "branch"),
        version=string(meta, "cli_version"),
    )


def _spawned(source: object) -> tuple[str, str]:
    """The session that started this one, and as what."""
    told = mapping(source).get("subagent", mapping(source).get("sub_agent"))
    if isinstance(told, str):
        return "", ""
    spawn = mapping(mapping(told).get("thread_spawn"))
    parent = string(spawn, "parent_thread_id")
    role = string(spawn, "agent_role") or string(spawn, "agent_nickname")
    return parent, (role or "subagent") if parent else ""


def _skip(line: bytes) -> Skip | None:
    """Reasoning is long and encrypted, and never parsed."""
    at = line.find(b'"payload":{', 0, 200)
    return Skip.THINKING if at >= 0 and line.startswith(_THINKING, at + 11) else None


def read_record(record: Record, file: FileInfo) -> Reading:
    """What one line gives."""
    kind = string(record, "type")
    payload = mapping(record.get("payload"))
    if kind in _HOUSEKEEPING:
        return skipped(Skip.HOUSEKEEPING)
    if kind == "compacted":
        return skipped(Skip.COMPACTION)
    if not payload:
        return Reading(Fate.FAILED, Failure.WRONG_SHAPE.value)
    inner = string(payload, "type")
    reader = (_ITEMS if kind == "response_item" else _EVENTS if kind == "event_msg" else {}).get(
        inner
    )
    if reader is None:
        return skipped(Skip.HOUSEKEEPING if kind == "event_msg" else Skip.UNKNOWN_TYPE)
    moment = string(record, "timestamp")
    reading = reader(payload, normal_time(moment), file)
    return reading if reading.ref else reading._replace(ref=moment)


def _kept(
    file: FileInfo, turns: Sequence[DraftTurn], results: Sequence[DraftResult] = (), ref: str = ""
) -> Reading:
    session = file.session
    return Reading(Fate.CAPTURED, "", session.id, session.branch, turns, results, ref)


def _ref(payload: Record, time: str) -> str:
    """What tells a record from all others: its id, or else the moment."""
    return string(payload, "id") or f"codex@{time}"


def _message(payload: Record, time: str, file: FileInfo) -> Reading:
    role = string(payload, "role")
    if role not in ("user", "assistant"):
        return skipped(Skip.INJECTED)
    ref = _ref(payload, time)
    turns: list[DraftTurn] = []
    otherwise = Skip.EMPTY
    for number, part in enumerate(objects(payload.get("content"))):
        text = string(part, "text").strip()
        if string(part, "type") in ("input_image", "image"):
            text = "[image]"
        key = (ref, str(number), text)
        if role == "assistant" and text:
            turns.append(tool_mapping.said(text, key, time))
        elif role == "user" and text:
            found = _typed(text)
            if found.skip is None:
                trust = Trust.ASSISTANT if file.session.parent else Trust.USER
                turns.append(tool_mapping.prompt(found.text, key, time, trust))
            otherwise = found.skip or otherwise
    return _kept(file, turns, ref=string(payload, "id")) if turns else skipped(otherwise)


def _typed(text: str) -> prompts.Prompt:
    """A person's words in the user's place. An editor puts what is open before the request."""
    if text.startswith(_MACHINE_STARTS):
        return prompts.Prompt("", skip=Skip.MACHINE)
    if text.startswith(_IDE_START):
        _, marked, request = text.partition(_IDE_REQUEST)
        text = request.strip() if marked else ""
    return prompts.read_prompt(text)


def _reasoning(payload: Record, time: str, file: FileInfo) -> Reading:
    return skipped(Skip.THINKING)


def _again(payload: Record, time: str, file: FileInfo) -> Reading:
    """Told once more for the screen; the record itself stands on another line."""
    return skipped(Skip.DUPLICATE)


def _aborted(payload: Record, time: str, file: FileInfo) -> Reading:
    if string(payload, "reason") not in ("interrupted", ""):
        return skipped(Skip.MACHINE)
    key = ("codex-aborted", file.session.id, string(payload, "turn_id"), time)
    return _kept(file, [tool_mapping.prompt(tool_mapping.INTERRUPTED, key, time)])


def _call(payload: Record, time: str, file: FileInfo) -> Reading:
    given = tool_mapping.arguments(payload.get("arguments", payload.get("input")))
    turns = list(_deeds(payload, given, time, file))
    return _kept(file, turns, ref=string(payload, "id") or string(payload, "call_id"))


def _deeds(payload: Record, given: Record, time: str, file: FileInfo) -> Iterator[DraftTurn]:
    name, call = string(payload, "name"), string(payload, "call_id")
    space = string(payload, "namespace")
    if space:
        name = f"{space}__{name.lstrip('_')}"
    patch = string(given, "input") or string(given, "patch") if name == "apply_patch" else ""
    command = _command(name, given)
    if not patch and command.startswith(("apply_patch", "applypatch")):
        patch = command
    edits = tool_mapping.patched(patch, file.root, call) if patch else []
    if edits:
        yield from (tool_mapping.turn_of(edit, time, (time,)) for edit in edits)
        return
    known, told = _named(name, given, command)
    yield tool_mapping.did(known, told, file.root, call or _ref(payload, time), time, (time,))


def _command(name: str, given: Record) -> str:
    if name not in ("exec_command", "shell", "shell_command", "container.exec", "local_shell"):
        return ""
    told = given.get("cmd", given.get("command", given.get("input")))
    words = [str(word) for word in items(told)]
    if words:
        # What a shell runs is the last word; the rest only starts the shell.
        return words[-1] if len(words) == 3 and words[1] in ("-lc", "-c") else " ".join(words)
    return told if isinstance(told, str) else ""


def _named(name: str, given: Record, command: str) -> tuple[str, Record]:
    """A call under the name that memory knows it by."""
    if command:
        return "Bash", {"command": command}
    if name == "update_plan":
        steps = objects(given.get("plan"))
        tasks = [{"content": string(s, "step"), "status": string(s, "status")} for s in steps]
        return "TodoWrite", {"todos": tasks}
    if name in ("view_image", "read_file"):
        return "Read", {"file_path": string(given, "path") or string(given, "file_path")}
    if name == "spawn_agent":
        task = string(given, "message") or string(given, "task_name")
        kind = string(given, "agent_type")
        return "Agent", {"subagent_type": kind, "description": task}
    if name == "grep_files":
        return "Grep", {"pattern": string(given, "pattern"), "path": string(given, "path")}
    return name or "tool", given


def _shell_call(payload: Record, time: str, file: FileInfo) -> Reading:
    action = mapping(payload.get("action"))
    call = {**payload, "name": "local_shell", "arguments": action}
    return _call(call, time, file)


def _web_search(payload: Record, time: str, file: FileInfo) -> Reading:
    action = mapping(payload.get("action"))
    query = string(action, "query") or string(action, "pattern")
    given: Record = {"url": string(action, "url"), "query": query}
    if not query and not given["url"]:
        return skipped(Skip.EMPTY)
    call = string(payload, "id") or f"web@{time}"
    turn = tool_mapping.did("WebSearch", given, file.root, call, time, (time,))
    return _kept(file, [turn], [tool_mapping.came(call, True, "", time)], string(payload, "id"))


def _output(payload: Record, time: str, file: FileInfo) -> Reading:
    call = string(payload, "call_id")
    inner = mapping(payload.get("output"))
    told = inner.get("content") or inner.get("output") or inner.get("body")
    text = tool_mapping.plain_text(told if inner else payload.get("output"))
    ok, text = _outcome(text)
    return _kept(file, (), [tool_mapping.came(call, ok, text, time)], call)


def _outcome(text: str) -> tuple[bool, str]:
    """Whether a call worked, and what it printed below the head that Codex puts over it."""
    if text.startswith("{"):
        inner = tool_mapping.arguments(text)
        code = mapping(inner.get("metadata")).get("exit_code")
        if isinstance(inner.get("output"), str):
            return code in (0, None), string(inner, "output")
    head = text[:_HEADER]
    exited = _EXIT.search(head)
    body = _OUTPUT.match(head)
    if body:
        return exited is None or exited[1] == "0", text[body.end() :]
    if exited and exited.start() < 200:
        return exited[1] == "0", text
    return not head.startswith(_FAILED_STARTS), text


def _patch_end(payload: Record, time: str, file: FileInfo) -> Reading:
    """What came of the further files of a patch; of the first the output itself tells."""
    call, count = string(payload, "call_id"), len(mapping(payload.get("changes")))
    ok = payload.get("success") is True
    told = "" if ok else string(payload, "stderr")
    results = [
        tool_mapping.came(tool_mapping.extra_call(call, number), ok, told, time)
        for number in range(1, count)
    ]
    return _kept(file, (), results, call) if results else skipped(Skip.DUPLICATE)


_Reader = Callable[[Record, str, FileInfo], Reading]
_ITEMS: dict[str, _Reader] = {
    "message": _message,
    "reasoning": _reasoning,
    "function_call": _call,
    "custom_tool_call": _call,
    "local_shell_call": _shell_call,
    "function_call_output": _output,
    "custom_tool_call_output": _output,
    "web_search_call": _web_search,
    "tool_search_call": lambda payload, time, file: skipped(Skip.HOUSEKEEPING),
    "tool_search_output": lambda payload, time, file: skipped(Skip.HOUSEKEEPING),
    "ghost_snapshot": lambda payload, time, file: skipped(Skip.HOUSEKEEPING),
    "compaction": lambda payload, time, file: skipped(Skip.COMPACTION),
    "compaction_summary": lambda payload, time, file: skipped(Skip.COMPACTION),
    "context_compaction": lambda payload, time, file: skipped(Skip.COMPACTION),
}
_EVENTS: dict[str, _Reader] = {
    "user_message": _again,
    "agent_message": _again,
    "agent_reasoning": _reasoning,
    "agent_reasoning_raw_content": _reasoning,
    "mcp_tool_call_end": _again,
    "web_search_end": _again,
    "exec_command_end": _again,
    "item_completed": _again,
    "patch_apply_end": _patch_end,
    "turn_aborted": _aborted,
}


def _printed(record: Record) -> Iterator[tuple[str, str]]:
    payload = mapping(record.get("payload"))
    if string(payload, "type").endswith("_call_output"):
        yield string(payload, "call_id"), tool_mapping.plain_text(payload.get("output"))


AGENT = Agent(
    NAME,
    "Codex CLI",
    _folders,
    _find,
    _knows,
    _about,
    read_record,
    _skip,
    printed=_printed,
)
