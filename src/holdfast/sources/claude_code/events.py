"""Hook events of Claude Code: from the payload to the fields of a journal line, and back to a turn.

Both directions use the readers of transcripts, so that the same text becomes the same turn
whichever way it came. Of an event that adds no text only its name and time are kept.
"""

from __future__ import annotations

from typing import NamedTuple

from holdfast.model.ledgers.lines import FailureReason, LineOutcome, SkipReason
from holdfast.model.records import Role, ToolCall
from holdfast.model.trust import Trust
from holdfast.sources.claude_code import prompts, tools
from holdfast.sources.draft import (
    DraftResult,
    DraftSession,
    DraftTurn,
    FileInfo,
    ParsedLine,
    skipped,
)
from holdfast.sources.json_fields import Record, mapping, string

AGENT = "claude-code-hooks"
LINE_VERSION = 1

PROMPT_EVENT = "UserPromptSubmit"
_TOOL_DONE = "PostToolUse"
_TOOL_FAILED = "PostToolUseFailure"
_ANSWERED = ("Stop", "SubagentStop")
_COMPACTED = "PostCompact"
_WITH_TEXT = (PROMPT_EVENT, _TOOL_DONE, _TOOL_FAILED, *_ANSWERED)

# Fields of other events that are kept.
_NOTED_FIELDS = {
    "SessionStart": ("source", "model"),
    "SessionEnd": ("reason",),
    "PreCompact": ("trigger",),
    _COMPACTED: ("trigger",),
    "StopFailure": ("error",),
}
_MAX_NOTE_CHARS = 200
_REASONS = {reason.value: reason for reason in SkipReason}
_FAILURES = {failure.value for failure in FailureReason}


class EventContent(NamedTuple):
    """What a payload holds: at most one turn, the result of its tool, and short notes; or why there
    is nothing to remember."""

    turn: DraftTurn | None = None
    result: DraftResult | None = None
    notes: tuple[tuple[str, str], ...] = ()
    skip: SkipReason | None = None


def refine_payload(
    event: str, payload: Record, root: str, call_time: str, time: str
) -> EventContent:
    """The content of an event that came at `time`; `call_time` is when its tool was called."""
    if event == PROMPT_EVENT:
        return _prompt(payload, time)
    if event in (_TOOL_DONE, _TOOL_FAILED):
        return _tool(event, payload, root, call_time, time)
    if event in _ANSWERED:
        text = string(payload, "last_assistant_message").strip()
        if not text:
            return EventContent(skip=SkipReason.EMPTY)
        return EventContent(DraftTurn((), time, Role.ASSISTANT, Trust.ASSISTANT, text))
    fields = _NOTED_FIELDS.get(event, ())
    notes = [(key, string(payload, key)[:_MAX_NOTE_CHARS]) for key in fields]
    summary = prompts.read_summary(string(payload, "compact_summary"))
    turn = DraftTurn((), time, Role.SUMMARY, Trust.ASSISTANT, summary) if summary else None
    return EventContent(turn, notes=tuple((key, value) for key, value in notes if value))


def _prompt(payload: Record, time: str) -> EventContent:
    text = string(payload, "prompt")
    prompt = prompts.read_typed(text)
    if report := prompts.read_report(text):
        return EventContent(DraftTurn((), time, Role.ASSISTANT, Trust.ASSISTANT, report))
    if prompt.skip is not None:
        return EventContent(skip=prompt.skip)
    trust = Trust.ASSISTANT if prompt.speaker or payload.get("agent_id") else Trust.USER
    return EventContent(DraftTurn((), time, Role.USER, trust, prompt.text, prompt.speaker))


def _tool(event: str, payload: Record, root: str, call_time: str, time: str) -> EventContent:
    name = string(payload, "tool_name") or "tool"
    call = string(payload, "tool_use_id")
    tool = tools.read_call(name, payload.get("tool_input"), root, call)
    tool = tools.with_written_text(tool, payload.get("tool_input"))
    turn = DraftTurn((), call_time, Role.TOOL, tools.trust_of(name), tool=tool)
    if event == _TOOL_FAILED:
        block: Record = {"is_error": True, "content": string(payload, "error")}
        ok, result, lines = tools.read_result(block, {})
    else:
        response = payload.get("tool_response")
        block = {"content": _output_shown(response)}
        ok, result, lines = tools.read_result(block, {"toolUseResult": response})
    return EventContent(turn, DraftResult(call, ok, result, lines, time))


def _output_shown(response: object) -> object:
    """The part of a tool's response that the model was shown, as far as the response has it."""
    detail = mapping(response)
    if not detail:
        return response
    answers = mapping(detail.get("answers"))
    if answers:
        return ", ".join(f'"{question}"="{answer}"' for question, answer in answers.items())
    return "\n".join(filter(None, (string(detail, "stdout"), string(detail, "stderr"))))


def turn_fields(turn: DraftTurn, result: DraftResult | None) -> Record:
    """A redacted turn as the fields of a journal line."""
    fields: Record = {"role": turn.role.value, "trust": turn.trust.value, "at": turn.time}
    if turn.tool is not None:
        name, target, lines, action, *_, call = turn.tool
        fields |= {"tool": name, "target": target, "lines": lines, "action": action, "call": call}
    else:
        fields |= {"text": turn.text, "speaker": turn.speaker}
    if result is not None:
        fields |= {"ok": result.ok, "result": result.result, "touched": result.lines}
    return {key: value for key, value in fields.items() if value != ""}


def read_record(record: Record, file: FileInfo) -> ParsedLine:
    """The turn and result of one line of a journal, or why it has none."""
    if record.get("v") != LINE_VERSION:
        return skipped(SkipReason.UNKNOWN_TYPE)
    if "problem" in record:
        problem = string(record, "problem")
        known = problem if problem in _FAILURES else FailureReason.WRONG_SHAPE.value
        return ParsedLine(LineOutcome.FAILED, known)
    if "skip" in record:
        return skipped(_REASONS.get(string(record, "skip"), SkipReason.UNKNOWN_TYPE))
    turn = _turn(record)
    if turn is None:
        is_empty = string(record, "event") in _WITH_TEXT
        return skipped(SkipReason.EMPTY if is_empty else SkipReason.HOUSEKEEPING)
    results = (_result(record),) if "ok" in record else ()
    return ParsedLine(
        LineOutcome.CAPTURED,
        session=describe_session(record, file).id,
        turns=(turn,),
        results=results,
        ref=string(record, "id"),
    )


def _turn(record: Record) -> DraftTurn | None:
    try:
        role, trust = Role(string(record, "role")), Trust(string(record, "trust"))
    except ValueError:
        return None
    time, id = string(record, "at"), string(record, "id")
    name = string(record, "tool")
    if name:
        target, action = string(record, "target"), string(record, "action")
        call = string(record, "call")
        tool = ToolCall(name, target, string(record, "lines"), action, call=call)
        # The same key as that of the call in a transcript.
        return DraftTurn(("call", call or id, name, target, action), time, role, trust, tool=tool)
    text = string(record, "text")
    if not text:
        return None
    # Where hooks are installed twice, the same prompt comes in two events.
    prompt = string(record, "prompt")
    key = ("prompt", prompt, text) if prompt else ("event", id, text)
    return DraftTurn(key, time, role, trust, text, string(record, "speaker"))


def _result(record: Record) -> DraftResult:
    touched, result = string(record, "touched"), string(record, "result")
    ok = record.get("ok") is True
    return DraftResult(string(record, "call"), ok, result, touched, string(record, "time"))


def describe_session(record: Record, file: FileInfo) -> DraftSession:
    """What a line says about its session; its id is the same as in the transcript."""
    host = string(record, "session") or file.stem
    agent = string(record, "agent")
    return DraftSession(
        f"{host}:{agent}" if agent else host,
        host,
        parent=host if agent else "",
        subagent=string(record, "agent_type") or agent,
        cwd=string(record, "cwd"),
    )
