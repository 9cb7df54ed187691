"""Codex CLI (0.40 to 0.166): `$CODEX_HOME/sessions/YYYY/MM/DD/rollout-*.jsonl`.

What the model saw and wrote is in `response_item` records; `event_msg` records repeat most of it
for the screen. Each file of an `apply_patch` call is a turn of its own. Newer versions run scripts
that call the tools (`sources/tool_scripts.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from holdfast.model.ledgers.lines import SkipReason
from holdfast.regex import regex
from holdfast.sources import tool_mapping
from holdfast.sources.agent import Agent, find_files, has_marks, home_folders
from holdfast.sources.claude_code import prompts, tools
from holdfast.sources.draft import (
    WRONG_SHAPE,
    DraftSession,
    DraftTurn,
    FileInfo,
    ParsedLine,
    captured,
    skipped,
)
from holdfast.sources.json_fields import Record, items, mapping, normal_time, objects, string
from holdfast.sources.tool_scripts import NO_SCRIPT, read_script

_SESSION_ID = regex(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")

_THINKING = b'"type":"reasoning"'
_HOUSEKEEPING = frozenset(
    "turn_context world_state token_usage_record session_state inter_agent_communication "
    "inter_agent_communication_metadata ghost_snapshot session_meta".split()
)
# How text begins that the program wrote as a user message.
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
# The tool whose input is a script that calls other tools, and how its output begins.
_SCRIPT = "exec"
_SCRIPT_FAILED = "Script failed"
_SCRIPT_HEADS = (_SCRIPT_FAILED, "Script completed", "Script running")
_IDE_REQUEST = "## My request for Codex:"
_IDE_START = "# Context from my IDE setup:"
_EXIT_CODE = regex(r"(?:Process exited with code|Exit code:|exit code) (-?\d+)", re.IGNORECASE)
_OUTPUT_HEADER = regex(r"\A(?:.*\n){0,8}?Output:\n")
# Codex puts exit code and timings over an output. They are looked for in its first characters.
_HEADER_CHARS = 600
_EXIT_CODE_WITHIN = 200
_FAILED_STARTS = ("apply_patch verification failed", "exec_command failed", "execution error",
                  "failed to", "unsupported call", "Error:", "err:", "tool call error",
                  "patch rejected", "aborted by user")  # fmt: skip
# How the source of a session is called that an agent or Codex itself started, not a person.
_STARTED_BY_AGENT = ("subagent", "sub_agent", "internal")
# Where such a session names the one that it serves, and what stands for it where none is named: no
# session has this id.
_PARENTS = ("parent_thread_id", "session_id", "forked_from_id")
_UNKNOWN_PARENT = "unknown"


def _read_session(path: Path, head: bytes) -> DraftSession:
    """The facts of the session are on the first line of its file."""
    meta = mapping(tool_mapping.first_object(head).get("payload"))
    named = _SESSION_ID.search(path.stem)
    id = string(meta, "id") or (named.group() if named else path.stem)
    parent, role = _parent_and_role(id, meta)
    return DraftSession(
        id,
        string(meta, "session_id") or (id if parent in ("", _UNKNOWN_PARENT) else parent),
        parent=parent,
        subagent=role,
        cwd=string(meta, "cwd"),
        branch=string(mapping(meta.get("git")), "branch"),
        version=string(meta, "cli_version"),
    )


def _parent_and_role(id: str, meta: Record) -> tuple[str, str]:
    """The session that started this one, and the role of this one in it. Reviews, approvals and
    summaries that Codex has made by itself often do not name the session that they serve."""
    source = mapping(meta.get("source"))
    found = next((source[name] for name in _STARTED_BY_AGENT if source.get(name)), None)
    if found is None:
        return "", ""
    kinds = mapping(found)
    spawn = mapping(kinds.get("thread_spawn"))
    named = string(spawn, "agent_role") or string(spawn, "agent_nickname")
    role = named or string(kinds, "other") or (found if isinstance(found, str) else "subagent")
    parents = (string(spawn, "parent_thread_id"), *(string(meta, name) for name in _PARENTS))
    return next((one for one in parents if one and one != id), _UNKNOWN_PARENT), role


def _skip_line(line: bytes) -> SkipReason | None:
    """Reasoning is long and encrypted; its lines are not parsed."""
    at = line.find(b'"payload":{', 0, 200)
    return SkipReason.THINKING if at >= 0 and line.startswith(_THINKING, at + 11) else None


def _read_record(record: Record, file: FileInfo) -> ParsedLine:
    kind = string(record, "type")
    payload = mapping(record.get("payload"))
    if kind in _HOUSEKEEPING:
        return skipped(SkipReason.HOUSEKEEPING)
    if kind == "compacted":
        return _compacted(payload, string(record, "timestamp"), file)
    if not payload:
        return WRONG_SHAPE
    reader = _READERS.get(kind, {}).get(string(payload, "type"))
    if reader is None:
        return skipped(SkipReason.HOUSEKEEPING if kind == "event_msg" else SkipReason.UNKNOWN_TYPE)
    timestamp = string(record, "timestamp")
    time = normal_time(timestamp)
    parsed = skipped(reader) if isinstance(reader, SkipReason) else reader(payload, time, file)
    return parsed if parsed.ref else parsed._replace(ref=timestamp)


def _ref(payload: Record, time: str) -> str:
    """What identifies a record: its id, or else its time."""
    return string(payload, "id") or f"codex@{time}"


def _message(payload: Record, time: str, file: FileInfo) -> ParsedLine:
    role = string(payload, "role")
    if role not in ("user", "assistant"):
        return skipped(SkipReason.INJECTED)
    ref = _ref(payload, time)
    turns: list[DraftTurn] = []
    skip = SkipReason.EMPTY
    for number, part in enumerate(objects(payload.get("content"))):
        text = string(part, "text").strip()
        if string(part, "type") in ("input_image", "image"):
            text = "[image]"
        key = (ref, str(number), text)
        if role == "assistant" and text:
            turns.append(tool_mapping.assistant_turn(text, key, time))
        elif role == "user" and text:
            prompt = _read_user_text(text)
            if prompt.skip is None:
                turns.append(tool_mapping.user_turn(prompt.text, key, time, file.user_trust))
            skip = prompt.skip or skip
    return captured(file, turns, ref=string(payload, "id")) if turns else skipped(skip)


def _compacted(payload: Record, timestamp: str, file: FileInfo) -> ParsedLine:
    """The summary of the session so far. Later versions keep it encrypted."""
    time = normal_time(timestamp)
    key = ("codex-summary", file.session.id, time)
    turn = tool_mapping.summary_turn(string(payload, "message"), key, time)
    return captured(file, [turn], ref=timestamp) if turn.text else skipped(SkipReason.COMPACTION)


def _read_user_text(text: str) -> prompts.Prompt:
    """The user's own text in a user message. An editor puts the open files before it."""
    if text.startswith(_MACHINE_STARTS):
        return prompts.Prompt("", skip=SkipReason.MACHINE)
    if text.startswith(_IDE_START):
        _, marked, request = text.partition(_IDE_REQUEST)
        text = request.strip() if marked else ""
    return prompts.read_prompt(text)


def _aborted(payload: Record, time: str, file: FileInfo) -> ParsedLine:
    if string(payload, "reason") not in ("interrupted", ""):
        return skipped(SkipReason.MACHINE)
    key = ("codex-aborted", file.session.id, string(payload, "turn_id"), time)
    return captured(file, [tool_mapping.user_turn(tool_mapping.INTERRUPTED, key, time)])


def _call(payload: Record, time: str, file: FileInfo) -> ParsedLine:
    given = tool_mapping.parse_arguments(payload.get("arguments", payload.get("input")))
    turns = list(_call_turns(payload, given, time, file))
    return captured(file, turns, ref=string(payload, "id") or string(payload, "call_id"))


def _call_turns(payload: Record, given: Record, time: str, file: FileInfo) -> Iterator[DraftTurn]:
    name, call = string(payload, "name"), string(payload, "call_id")
    space = string(payload, "namespace")
    if space:
        name = f"{space}__{name.lstrip('_')}"
    script = read_script(string(given, "input")) if name == _SCRIPT else NO_SCRIPT
    patch = string(given, "input") or string(given, "patch") if name == "apply_patch" else ""
    command = script.command or _command(name, given)
    if command.startswith(("apply_patch", "applypatch")):
        patch = patch or command
    # The result of a script is that of its commands.
    edited = f"{call}.edit" if script.command else call
    edits = tool_mapping.edits_of_patch(script.patch or patch, file.root, edited)
    yield from (tool_mapping.call_turn(edit, time, (time,)) for edit in edits)
    if edits and not script.command:
        return
    mapped, arguments = _map_tool(name, given, command)
    tool = tools.read_call(mapped, arguments, file.root, call or _ref(payload, time))
    yield tool_mapping.call_turn(tool, time, (time,), given=arguments)


def _command(name: str, given: Record) -> str:
    if name not in ("exec_command", "shell", "shell_command", "container.exec", "local_shell"):
        return ""
    command = given.get("cmd", given.get("command", given.get("input")))
    words = [str(word) for word in items(command)]
    if words:
        # Of `bash -lc COMMAND` only the command counts.
        return words[-1] if len(words) == 3 and words[1] in ("-lc", "-c") else " ".join(words)
    return command if isinstance(command, str) else ""


def _map_tool(name: str, given: Record, command: str) -> tuple[str, Record]:
    """Claude Code's name and arguments for a call."""
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


def _shell_call(payload: Record, time: str, file: FileInfo) -> ParsedLine:
    action = mapping(payload.get("action"))
    call = {**payload, "name": "local_shell", "arguments": action}
    return _call(call, time, file)


def _web_search(payload: Record, time: str, file: FileInfo) -> ParsedLine:
    action = mapping(payload.get("action"))
    query = string(action, "query") or string(action, "pattern")
    given: Record = {"url": string(action, "url"), "query": query}
    if not query and not given["url"]:
        return skipped(SkipReason.EMPTY)
    call = string(payload, "id") or f"web@{time}"
    tool = tools.read_call("WebSearch", given, file.root, call)
    turn = tool_mapping.call_turn(tool, time, (time,))
    result = tool_mapping.call_result(call, True, "", time)
    return captured(file, [turn], [result], string(payload, "id"))


def _output(payload: Record, time: str, file: FileInfo) -> ParsedLine:
    call = string(payload, "call_id")
    inner = mapping(payload.get("output"))
    content = inner.get("content") or inner.get("output") or inner.get("body")
    text = tool_mapping.plain_text(content if inner else payload.get("output"))
    ok, text = _outcome(text)
    return captured(file, (), [tool_mapping.call_result(call, ok, text, time)], call)


def _outcome(text: str) -> tuple[bool, str]:
    """Whether a call worked, and its output without the header that Codex puts over it."""
    if text.startswith("{"):
        inner = tool_mapping.parse_arguments(text)
        code = mapping(inner.get("metadata")).get("exit_code")
        if isinstance(inner.get("output"), str):
            return code in (0, None), string(inner, "output")
    head = text[:_HEADER_CHARS]
    if head.startswith(_SCRIPT_HEADS):
        return _script_outcome(text)
    exited = _EXIT_CODE.search(head)
    body = _OUTPUT_HEADER.match(head)
    if body:
        return exited is None or exited[1] == "0", text[body.end() :]
    if exited and exited.start() < _EXIT_CODE_WITHIN:
        return exited[1] == "0", text
    return not head.startswith(_FAILED_STARTS), text


def _script_outcome(text: str) -> tuple[bool, str]:
    """Whether a script worked, and its output. A script may print the result of a command as it is,
    with the exit code."""
    _, _, output = text.partition("Output:\n")
    ok = not text.startswith(_SCRIPT_FAILED)
    if not output.lstrip().startswith("{"):
        return ok, output.strip("\n")
    printed = tool_mapping.parse_arguments(output.strip())
    code = printed.get("exit_code")
    return ok and code in (0, None), string(printed, "output") if "output" in printed else output


def _patch_end(payload: Record, time: str, file: FileInfo) -> ParsedLine:
    """The results of all files of a patch but the first, which has the result of the call."""
    call, count = string(payload, "call_id"), len(mapping(payload.get("changes")))
    ok = payload.get("success") is True
    message = "" if ok else string(payload, "stderr")
    results = [
        tool_mapping.call_result(tool_mapping.edit_call_id(call, number), ok, message, time)
        for number in range(1, count)
    ]
    return captured(file, (), results, call) if results else skipped(SkipReason.DUPLICATE)


# How each type of payload is read, or why it is skipped, by the type of its record.
_READERS: dict[str, dict[str, Callable[[Record, str, FileInfo], ParsedLine] | SkipReason]] = {
    "response_item": {
        "message": _message,
        "function_call": _call,
        "custom_tool_call": _call,
        "local_shell_call": _shell_call,
        "function_call_output": _output,
        "custom_tool_call_output": _output,
        "web_search_call": _web_search,
        "reasoning": SkipReason.THINKING,
        "tool_search_call": SkipReason.HOUSEKEEPING,
        "tool_search_output": SkipReason.HOUSEKEEPING,
        "ghost_snapshot": SkipReason.HOUSEKEEPING,
        "compaction": SkipReason.COMPACTION,
        "compaction_summary": SkipReason.COMPACTION,
        "context_compaction": SkipReason.COMPACTION,
    },
    "event_msg": {
        "patch_apply_end": _patch_end,
        "turn_aborted": _aborted,
        "agent_reasoning": SkipReason.THINKING,
        "agent_reasoning_raw_content": SkipReason.THINKING,
        # Repetitions for the screen; the records themselves are on other lines.
        "user_message": SkipReason.DUPLICATE,
        "agent_message": SkipReason.DUPLICATE,
        "mcp_tool_call_end": SkipReason.DUPLICATE,
        "web_search_end": SkipReason.DUPLICATE,
        "exec_command_end": SkipReason.DUPLICATE,
        "item_completed": SkipReason.DUPLICATE,
    },
}


def _tool_outputs(record: Record) -> Iterator[tuple[str, str]]:
    payload = mapping(record.get("payload"))
    if string(payload, "type").endswith("_call_output"):
        yield string(payload, "call_id"), tool_mapping.plain_text(payload.get("output"))


AGENT = Agent(
    name="codex",
    title="Codex CLI",
    folders=home_folders("CODEX_HOME", ".codex", "sessions", "archived_sessions"),
    find=find_files("**/rollout-*.jsonl"),
    recognises=has_marks(4000, b'"type":"session_meta"', b'"payload":{'),
    read_session=_read_session,
    read_record=_read_record,
    skip_line=_skip_line,
    tool_outputs=_tool_outputs,
)
