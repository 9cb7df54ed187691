"""Copilot CLI (0.0.340 to 1.0.102): `~/.copilot/session-state/SESSION/events.jsonl`, one event a
line; older versions have `SESSION.jsonl` in the same folder.

A call is in the message that requests it and again in the event of its start: whichever comes
first is kept. The turns of a subagent are in the file of its parent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from holdfast.model.ledgers.lines import FailureReason, LineOutcome, SkipReason
from holdfast.model.trust import Trust
from holdfast.sources import tool_mapping
from holdfast.sources.agent import Agent, UserEnvironment
from holdfast.sources.claude_code import prompts
from holdfast.sources.draft import (
    DraftResult,
    DraftSession,
    DraftTurn,
    FileInfo,
    ParsedLine,
    skipped,
)
from holdfast.sources.json_fields import Record, mapping, normal_time, objects, string

NAME = "copilot"
_TOOLS = {
    "bash": "Bash",
    "powershell": "PowerShell",
    "view": "Read",
    "edit": "Edit",
    "create": "Write",
    "str_replace": "Edit",
    "apply_patch": tool_mapping.PATCH,
    "grep": "Grep",
    "rg": "Grep",
    "glob": "Glob",
    "web_fetch": "WebFetch",
    "web_search": "WebSearch",
    "task": "Agent",
    "skill": "Skill",
    "update_todo": "update_todo",
    "report_intent": "report_intent",
    "ask_user": "ask_user",
    "sql": "sql",
    "read_bash": "read_bash",
    "write_bash": "write_bash",
    "stop_bash": "stop_bash",
    "list_bash": "list_bash",
    "read_powershell": "read_powershell",
    "write_powershell": "write_powershell",
    "stop_powershell": "stop_powershell",
    "store_memory": "store_memory",
    "exit_plan_mode": "exit_plan_mode",
    "task_complete": "task_complete",
    "read_agent": "read_agent",
    "list_agents": "list_agents",
}
# How the types of events begin that hold no conversation.
_HOUSEKEEPING = (
    "session.", "hook.", "permission.", "permissions.", "assistant.turn_", "assistant.usage",
    "assistant.intent", "assistant.streaming", "subagent.", "skill.", "skills.", "external_tool.",
    "user_input.", "elicitation.", "command.", "commands.", "exit_plan_mode.", "tool.execution_p",
    "tool.user_requested", "tools.", "capabilities.", "mcp", "model.", "sampling.", "pending_",
    "auto_mode_switch.", "custom_agents.", "agents.", "extensions.", "workspace",
)  # fmt: skip
_EXIT_LINE = re.compile(
    r"\s*<(?:shellId: \S+ |command with id: .*? )?[^<>]*exit(?:ed with)? code (-?\d+)[^<>]*>\s*\Z"
)


def _folders(user: UserEnvironment) -> Sequence[Path]:
    return [Path(user.env.get("COPILOT_HOME") or user.home / ".copilot") / "session-state"]


def _find(path: Path, problems: list[str]) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    yield from path.glob("*/events.jsonl")
    yield from path.glob("*.jsonl")


def _recognises(path: Path, head: bytes) -> bool:
    first = head[:600]
    return b'"type":"session.start"' in first and b'"copilotVersion"' in first


def _read_session(path: Path, head: bytes) -> DraftSession:
    start = mapping(tool_mapping.first_object(head).get("data"))
    context = mapping(start.get("context"))
    named = path.parent.name if path.name == "events.jsonl" else path.stem
    id = string(start, "sessionId") or named
    return DraftSession(
        id,
        id,
        cwd=string(context, "cwd"),
        branch=string(context, "branch"),
        version=string(start, "copilotVersion"),
    )


def _session(data: Record, file: FileInfo) -> str:
    """The id of the session; the events of a subagent name the call that started it."""
    call = string(data, "parentToolCallId")
    return f"{file.session.id}:{call}" if call else file.session.id


def describe_session(record: Record, file: FileInfo) -> DraftSession:
    """The session of a record: that of the file, or a subagent."""
    id = _session(mapping(record.get("data")), file)
    if id == file.session.id:
        return file.session
    return file.session._replace(id=id, parent=file.session.id, subagent="subagent")


def read_record(record: Record, file: FileInfo) -> ParsedLine:
    """The turns and results of one record, or why it has none."""
    kind, data = string(record, "type"), mapping(record.get("data"))
    reader = _EVENTS.get(kind)
    if reader is None:
        if kind.startswith("session.compaction"):
            return skipped(SkipReason.COMPACTION)
        known = kind.startswith(_HOUSEKEEPING)
        return skipped(SkipReason.HOUSEKEEPING if known else SkipReason.UNKNOWN_TYPE)
    if not data:
        return ParsedLine(LineOutcome.FAILED, FailureReason.WRONG_SHAPE.value)
    parsed = reader(data, normal_time(record.get("timestamp")), file)
    return parsed._replace(ref=string(record, "id"))


def _captured(
    data: Record, file: FileInfo, turns: Sequence[DraftTurn], results: Sequence[DraftResult] = ()
) -> ParsedLine:
    id = _session(data, file)
    return ParsedLine(LineOutcome.CAPTURED, "", id, file.session.branch, turns, results)


def _user(data: Record, time: str, file: FileInfo) -> ParsedLine:
    text = string(data, "content").strip()
    if string(data, "source") not in ("", "user"):
        return skipped(SkipReason.MACHINE)
    prompt = prompts.read_prompt(text)
    turns: list[DraftTurn] = []
    ref = string(data, "interactionId") or file.session.id
    trust = Trust.ASSISTANT if string(data, "parentToolCallId") else Trust.USER
    if prompt.skip is None:
        turns.append(tool_mapping.user_turn(prompt.text, (ref, time, prompt.text), time, trust))
    for number, attached in enumerate(objects(data.get("attachments"))):
        name = string(attached, "displayName") or string(attached, "path")
        shown = f"[{string(attached, 'type') or 'file'} {name}]"
        turns.append(tool_mapping.user_turn(shown, (ref, time, str(number), shown), time, trust))
    return _captured(data, file, turns) if turns else skipped(prompt.skip or SkipReason.EMPTY)


def _assistant(data: Record, time: str, file: FileInfo) -> ParsedLine:
    text = string(data, "content").strip()
    key = (string(data, "messageId") or time, text)
    turns: list[DraftTurn] = [tool_mapping.assistant_turn(text, key, time)] if text else []
    for request in objects(data.get("toolRequests")):
        turns += _call(request, string(request, "name"), time, file)
    if not turns:
        return skipped(SkipReason.THINKING if data.get("reasoningText") else SkipReason.EMPTY)
    return _captured(data, file, turns)


def _tool_start(data: Record, time: str, file: FileInfo) -> ParsedLine:
    return _captured(data, file, _call(data, string(data, "toolName"), time, file))


def _call(request: Record, name: str, time: str, file: FileInfo) -> list[DraftTurn]:
    call = string(request, "toolCallId")
    given = tool_mapping.parse_arguments(request.get("arguments"))
    turns = tool_mapping.mapped_tool_turns(_TOOLS, name or "tool", given, file.root, call, time)
    # It comes twice, once without the server of the tool: the key must not depend on that.
    own = ("copilot-call", file.session.id, call)
    return [turn._replace(key=(*own, str(number))) for number, turn in enumerate(turns)]


def _tool_complete(data: Record, time: str, file: FileInfo) -> ParsedLine:
    call, ok = string(data, "toolCallId"), data.get("success") is True
    result = data.get("result")
    text = string(mapping(result), "content") or string(mapping(data.get("error")), "message")
    ended = _EXIT_LINE.search(text[-400:])
    if ended:
        ok = ok and ended[1] == "0"
        text = _EXIT_LINE.sub("", text)
    keep_output = "shellExecution" in data or ended is not None or not ok
    return _captured(data, file, (), [tool_mapping.call_result(call, ok, text, time, keep_output)])


def _aborted(data: Record, time: str, file: FileInfo) -> ParsedLine:
    key = ("copilot-abort", file.session.id, time)
    return _captured(data, file, [tool_mapping.user_turn(tool_mapping.INTERRUPTED, key, time)])


def _title_changed(data: Record, time: str, file: FileInfo) -> ParsedLine:
    title = string(data, "title").strip()
    if not title:
        return skipped(SkipReason.HOUSEKEEPING)
    return ParsedLine(LineOutcome.CAPTURED, session=file.session.id, title=title)


def _reasoning(data: Record, time: str, file: FileInfo) -> ParsedLine:
    return skipped(SkipReason.THINKING)


def _system_message(data: Record, time: str, file: FileInfo) -> ParsedLine:
    return skipped(SkipReason.INJECTED)


def _notice(data: Record, time: str, file: FileInfo) -> ParsedLine:
    return skipped(SkipReason.MACHINE)


_EVENTS: dict[str, Callable[[Record, str, FileInfo], ParsedLine]] = {
    "user.message": _user,
    "assistant.message": _assistant,
    "assistant.reasoning": _reasoning,
    "assistant.reasoning_delta": _reasoning,
    "assistant.message_delta": _notice,
    "tool.execution_start": _tool_start,
    "tool.execution_complete": _tool_complete,
    "abort": _aborted,
    "session.title_changed": _title_changed,
    "session.error": _notice,
    "session.info": _notice,
    "session.warning": _notice,
    "system.message": _system_message,
    "system.notification": _notice,
}


def tool_outputs(record: Record) -> Iterator[tuple[str, str]]:
    """The outputs of tools, each with the id of its call."""
    data = mapping(record.get("data"))
    if string(record, "type") == "tool.execution_complete":
        yield string(data, "toolCallId"), string(mapping(data.get("result")), "content")


AGENT = Agent(
    name=NAME,
    title="Copilot CLI",
    folders=_folders,
    find=_find,
    recognises=_recognises,
    read_session=_read_session,
    read_record=read_record,
    session_of_record=describe_session,
    tool_outputs=tool_outputs,
)
