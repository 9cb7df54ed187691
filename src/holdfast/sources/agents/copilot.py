"""Copilot CLI (0.0.340 to 1.0.102): `~/.copilot/session-state/SESSION/events.jsonl`, one event a
line; older versions have `SESSION.jsonl` in the same folder.

A call stands in the message that asks for it and again where it starts: whichever comes first is
kept. What a subagent says is told in its parent's file.
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
from holdfast.sources.json_fields import Record, first_object, mapping, normal_time, objects, string

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
_CONTENTS = ("Read", "Grep", "Glob")
# Whole families of events that hold no talk.
_HOUSEKEEPING = (
    "session.", "hook.", "permission.", "permissions.", "assistant.turn_", "assistant.usage",
    "assistant.intent", "assistant.streaming", "subagent.", "skill.", "skills.", "external_tool.",
    "user_input.", "elicitation.", "command.", "commands.", "exit_plan_mode.", "tool.execution_p",
    "tool.user_requested", "tools.", "capabilities.", "mcp", "model.", "sampling.", "pending_",
    "auto_mode_switch.", "custom_agents.", "agents.", "extensions.", "workspace",
)  # fmt: skip
_ENDED = re.compile(
    r"\s*<(?:shellId: \S+ |command with id: .*? )?[^<>]*exit(?:ed with)? code (-?\d+)[^<>]*>\s*\Z"
)


def _folders(where: Where) -> Sequence[Path]:
    return [Path(where.env.get("COPILOT_HOME") or where.home / ".copilot") / "session-state"]


def _find(path: Path, problems: list[str]) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    yield from path.glob("*/events.jsonl")
    yield from path.glob("*.jsonl")


def _knows(path: Path, head: bytes) -> bool:
    first = head[:600]
    return b'"type":"session.start"' in first and b'"copilotVersion"' in first


def _about(path: Path, head: bytes) -> DraftSession:
    start = mapping(first_object(head).get("data"))
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
    """Whose words these are: those of a subagent name the call that started it."""
    inner = string(data, "parentToolCallId")
    return f"{file.session.id}:{inner}" if inner else file.session.id


def describe_session(record: Record, file: FileInfo) -> DraftSession:
    """The session of a line, the file's own or that of a subagent."""
    id = _session(mapping(record.get("data")), file)
    if id == file.session.id:
        return file.session
    return file.session._replace(id=id, parent=file.session.id, subagent="subagent")


def read_record(record: Record, file: FileInfo) -> Reading:
    """What one line gives."""
    kind, data = string(record, "type"), mapping(record.get("data"))
    reader = _EVENTS.get(kind)
    if reader is None:
        if kind.startswith("session.compaction"):
            return skipped(Skip.COMPACTION)
        known = kind.startswith(_HOUSEKEEPING)
        return skipped(Skip.HOUSEKEEPING if known else Skip.UNKNOWN_TYPE)
    if not data:
        return Reading(Fate.FAILED, Failure.WRONG_SHAPE.value)
    reading = reader(data, normal_time(record.get("timestamp")), file)
    return reading._replace(ref=string(record, "id"))


def _kept(
    data: Record, file: FileInfo, turns: Sequence[DraftTurn], results: Sequence[DraftResult] = ()
) -> Reading:
    id = _session(data, file)
    return Reading(Fate.CAPTURED, "", id, file.session.branch, turns, results)


def _user(data: Record, time: str, file: FileInfo) -> Reading:
    text = string(data, "content").strip()
    if string(data, "source") not in ("", "user"):
        return skipped(Skip.MACHINE)
    found = prompts.read_prompt(text)
    turns: list[DraftTurn] = []
    ref = string(data, "interactionId") or file.session.id
    trust = Trust.ASSISTANT if string(data, "parentToolCallId") else Trust.USER
    if found.skip is None:
        turns.append(tool_mapping.prompt(found.text, (ref, time, found.text), time, trust))
    for number, attached in enumerate(objects(data.get("attachments"))):
        name = string(attached, "displayName") or string(attached, "path")
        shown = f"[{string(attached, 'type') or 'file'} {name}]"
        turns.append(tool_mapping.prompt(shown, (ref, time, str(number), shown), time, trust))
    return _kept(data, file, turns) if turns else skipped(found.skip or Skip.EMPTY)


def _assistant(data: Record, time: str, file: FileInfo) -> Reading:
    text = string(data, "content").strip()
    key = (string(data, "messageId") or time, text)
    turns: list[DraftTurn] = [tool_mapping.said(text, key, time)] if text else []
    for asked in objects(data.get("toolRequests")):
        turns += _call(asked, string(asked, "name"), time, file)
    if not turns:
        return skipped(Skip.THINKING if data.get("reasoningText") else Skip.EMPTY)
    return _kept(data, file, turns)


def _start(data: Record, time: str, file: FileInfo) -> Reading:
    return _kept(data, file, _call(data, string(data, "toolName"), time, file))


def _call(asked: Record, name: str, time: str, file: FileInfo) -> list[DraftTurn]:
    call = string(asked, "toolCallId")
    given = tool_mapping.arguments(asked.get("arguments"))
    turns = tool_mapping.known(_TOOLS, name or "tool", given, file.root, call, time)
    # It is told twice, and only here and there with the server that a tool is of.
    own = ("copilot-call", file.session.id, call)
    return [turn._replace(key=(*own, str(number))) for number, turn in enumerate(turns)]


def _complete(data: Record, time: str, file: FileInfo) -> Reading:
    call, ok = string(data, "toolCallId"), data.get("success") is True
    result = data.get("result")
    text = string(mapping(result), "content") or string(mapping(data.get("error")), "message")
    ended = _ENDED.search(text[-400:])
    if ended:
        ok = ok and ended[1] == "0"
        text = _ENDED.sub("", text)
    shown = "shellExecution" in data or ended is not None or not ok
    return _kept(data, file, (), [tool_mapping.came(call, ok, text, time, shown)])


def _aborted(data: Record, time: str, file: FileInfo) -> Reading:
    key = ("copilot-abort", file.session.id, time)
    return _kept(data, file, [tool_mapping.prompt(tool_mapping.INTERRUPTED, key, time)])


def _titled(data: Record, time: str, file: FileInfo) -> Reading:
    title = string(data, "title").strip()
    if not title:
        return skipped(Skip.HOUSEKEEPING)
    return Reading(Fate.CAPTURED, session=file.session.id, title=title)


def _thought(data: Record, time: str, file: FileInfo) -> Reading:
    return skipped(Skip.THINKING)


def _put_in(data: Record, time: str, file: FileInfo) -> Reading:
    return skipped(Skip.INJECTED)


def _notice(data: Record, time: str, file: FileInfo) -> Reading:
    return skipped(Skip.MACHINE)


_EVENTS: dict[str, Callable[[Record, str, FileInfo], Reading]] = {
    "user.message": _user,
    "assistant.message": _assistant,
    "assistant.reasoning": _thought,
    "assistant.reasoning_delta": _thought,
    "assistant.message_delta": _notice,
    "tool.execution_start": _start,
    "tool.execution_complete": _complete,
    "abort": _aborted,
    "session.title_changed": _titled,
    "session.error": _notice,
    "session.info": _notice,
    "session.warning": _notice,
    "system.message": _put_in,
    "system.notification": _notice,
}


def printed(record: Record) -> Iterator[tuple[str, str]]:
    """What tools printed, each with the id of its call."""
    data = mapping(record.get("data"))
    if string(record, "type") == "tool.execution_complete":
        yield string(data, "toolCallId"), string(mapping(data.get("result")), "content")


AGENT = Agent(
    NAME,
    "Copilot CLI",
    _folders,
    _find,
    _knows,
    _about,
    read_record,
    describe=describe_session,
    printed=printed,
)
