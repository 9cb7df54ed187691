"""Copilot CLI (0.0.340 to 1.0.102): `~/.copilot/session-state/SESSION/events.jsonl`, one event a
line; older versions have `SESSION.jsonl` in the same folder.

A call is in the message that requests it and again in the event of its start: whichever comes
first is kept. The turns of a subagent are in the file of its parent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from holdfast.model.ledgers.lines import LineOutcome, SkipReason
from holdfast.model.trust import Trust
from holdfast.regex import regex
from holdfast.sources import tool_mapping
from holdfast.sources.agent import Agent, find_files, has_marks, home_folders
from holdfast.sources.claude_code import prompts
from holdfast.sources.draft import (
    WRONG_SHAPE,
    DraftResult,
    DraftSession,
    DraftTurn,
    FileInfo,
    ParsedLine,
    skipped,
)
from holdfast.sources.json_fields import Record, mapping, normal_time, objects, string

_TOOLS = tool_mapping.tool_names(
    {
        "Bash": "bash",
        "PowerShell": "powershell",
        "Read": "view",
        "Edit": "edit str_replace",
        "Write": "create",
        tool_mapping.PATCH: "apply_patch",
        "Grep": "grep rg",
        "Glob": "glob",
        "WebFetch": "web_fetch",
        "WebSearch": "web_search",
        "Agent": "task",
        "Skill": "skill",
    },
    own="update_todo report_intent ask_user sql read_bash write_bash stop_bash list_bash "
    "read_powershell write_powershell stop_powershell store_memory exit_plan_mode task_complete "
    "read_agent list_agents",
)
# How the types of events begin that hold no conversation.
_HOUSEKEEPING = (
    "session.", "hook.", "permission.", "permissions.", "assistant.turn_", "assistant.usage",
    "assistant.intent", "assistant.streaming", "subagent.", "skill.", "skills.", "external_tool.",
    "user_input.", "elicitation.", "command.", "commands.", "exit_plan_mode.", "tool.execution_p",
    "tool.user_requested", "tools.", "capabilities.", "mcp", "model.", "sampling.", "pending_",
    "auto_mode_switch.", "custom_agents.", "agents.", "extensions.", "workspace",
)  # fmt: skip
_EXIT_LINE = regex(
    r"\s*<(?:shellId: \S+ |command with id: .*? )?[^<>]*exit(?:ed with)? code (-?\d+)[^<>]*>\s*\Z"
)


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


def _describe_session(record: Record, file: FileInfo) -> DraftSession:
    id = _session(mapping(record.get("data")), file)
    if id == file.session.id:
        return file.session
    return file.session._replace(id=id, parent=file.session.id, subagent="subagent")


def _read_record(record: Record, file: FileInfo) -> ParsedLine:
    kind, data = string(record, "type"), mapping(record.get("data"))
    reader = _EVENTS.get(kind)
    if reader is None:
        if kind.startswith("session.compaction"):
            return _summary(data, string(record, "id"), normal_time(record.get("timestamp")), file)
        known = kind.startswith(_HOUSEKEEPING)
        return skipped(SkipReason.HOUSEKEEPING if known else SkipReason.UNKNOWN_TYPE)
    if not data:
        return WRONG_SHAPE
    time = normal_time(record.get("timestamp"))
    parsed = skipped(reader) if isinstance(reader, SkipReason) else reader(data, time, file)
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


def _summary(data: Record, id: str, time: str, file: FileInfo) -> ParsedLine:
    """The agent's summary of the session so far, which comes when its compaction is complete."""
    key = ("copilot-summary", file.session.id, id or time)
    turn = tool_mapping.summary_turn(string(data, "summaryContent"), key, time)
    if not turn.text:
        return skipped(SkipReason.COMPACTION)
    return _captured(data, file, [turn])._replace(ref=id)


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
    text = string(mapping(data.get("result")), "content")
    text = text or string(mapping(data.get("error")), "message")
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


_EVENTS: dict[str, Callable[[Record, str, FileInfo], ParsedLine] | SkipReason] = {
    "user.message": _user,
    "assistant.message": _assistant,
    "assistant.reasoning": SkipReason.THINKING,
    "assistant.reasoning_delta": SkipReason.THINKING,
    "assistant.message_delta": SkipReason.MACHINE,
    "tool.execution_start": _tool_start,
    "tool.execution_complete": _tool_complete,
    "abort": _aborted,
    "session.title_changed": _title_changed,
    "session.error": SkipReason.MACHINE,
    "session.info": SkipReason.MACHINE,
    "session.warning": SkipReason.MACHINE,
    "system.message": SkipReason.INJECTED,
    "system.notification": SkipReason.MACHINE,
}


def _tool_outputs(record: Record) -> Iterator[tuple[str, str]]:
    data = mapping(record.get("data"))
    if string(record, "type") == "tool.execution_complete":
        yield string(data, "toolCallId"), string(mapping(data.get("result")), "content")


AGENT = Agent(
    name="copilot",
    title="Copilot CLI",
    folders=home_folders("COPILOT_HOME", ".copilot", "session-state"),
    find=find_files("*/events.jsonl", "*.jsonl"),
    recognises=has_marks(600, b'"type":"session.start"', b'"copilotVersion"'),
    read_session=_read_session,
    read_record=_read_record,
    session_of_record=_describe_session,
    tool_outputs=_tool_outputs,
)
