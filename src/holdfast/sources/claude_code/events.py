"""What the hooks of Claude Code tell: a payload refined as its transcript would be, and a line of
the journal read back.

Both ways go through the readers of transcripts, so that the same words become the same turn
whichever way they came. Of an event that says nothing new only its name and time are kept.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from holdfast.model.ledger import Failure, Fate, Skip
from holdfast.model.records import Role, ToolCall
from holdfast.model.trust import Trust
from holdfast.sources.claude_code import prompts, tools
from holdfast.sources.draft import (
    DraftResult,
    DraftSession,
    DraftTurn,
    FileInfo,
    Reading,
    skipped,
)
from holdfast.sources.json_fields import Record, mapping, string

AGENT = "claude-code-hooks"
LINE_VERSION = 1

_PROMPT = "UserPromptSubmit"
_DONE = "PostToolUse"
_FAILED = "PostToolUseFailure"
_SAID = ("Stop", "SubagentStop")
_WITH_WORDS = (_PROMPT, _DONE, _FAILED, *_SAID)

# What else is worth keeping of an event: never a summary, which repeats what came before.
_NOTES = {
    "SessionStart": ("source", "model"),
    "SessionEnd": ("reason",),
    "PreCompact": ("trigger",),
    "PostCompact": ("trigger",),
    "StopFailure": ("error",),
}
_NOTE_LIMIT = 200
_REASONS = {reason.value: reason for reason in Skip}
_FAILURES = {failure.value for failure in Failure}


class Told(NamedTuple):
    """What a payload gives: at most one turn, the result of its tool, short notes; or why there
    is nothing to remember."""

    turn: DraftTurn | None = None
    result: DraftResult | None = None
    notes: tuple[tuple[str, str], ...] = ()
    skip: Skip | None = None


def refine_payload(event: str, payload: Record, root: str, call_time: str, time: str) -> Told:
    """What is kept of an event that came at `time`; `call_time` is when its tool was called."""
    if event == _PROMPT:
        return _prompt(payload, time)
    if event in (_DONE, _FAILED):
        return _tool(event, payload, root, call_time, time)
    if event in _SAID:
        text = string(payload, "last_assistant_message").strip()
        if not text:
            return Told(skip=Skip.EMPTY)
        return Told(DraftTurn((), time, Role.ASSISTANT, Trust.ASSISTANT, text))
    wanted = _NOTES.get(event, ())
    notes = [(key, string(payload, key)[:_NOTE_LIMIT]) for key in wanted]
    return Told(notes=tuple((key, value) for key, value in notes if value))


def _prompt(payload: Record, time: str) -> Told:
    prompt = prompts.read_typed(string(payload, "prompt"))
    if prompt.skip is not None:
        return Told(skip=prompt.skip)
    trust = Trust.ASSISTANT if prompt.speaker or payload.get("agent_id") else Trust.USER
    return Told(DraftTurn((), time, Role.USER, trust, prompt.text, prompt.speaker))


def _tool(event: str, payload: Record, root: str, call_time: str, time: str) -> Told:
    name = string(payload, "tool_name") or "tool"
    call = string(payload, "tool_use_id")
    given: Any = payload.get("tool_input")
    asked = mapping(given) if given.__class__ is dict else {"input": given}
    tool = tools.read_call(name, asked, root, call)
    turn = DraftTurn((), call_time, Role.TOOL, tools.trust_of(name), tool=tool)
    if event == _FAILED:
        block: Record = {"is_error": True, "content": string(payload, "error")}
        ok, result, lines = tools.read_result(block, {})
    else:
        response = payload.get("tool_response")
        block = {"content": _shown(response)}
        ok, result, lines = tools.read_result(block, {"toolUseResult": response})
    return Told(turn, DraftResult(call, ok, result, lines, time))


def _shown(response: object) -> object:
    """What the model was shown of a response, as far as the response itself tells it."""
    detail = mapping(response)
    if not detail:
        return response
    answers = mapping(detail.get("answers"))
    if answers:
        return ", ".join(f'"{asked}"="{answer}"' for asked, answer in answers.items())
    return "\n".join(filter(None, (string(detail, "stdout"), string(detail, "stderr"))))


def spell_turn(turn: DraftTurn, result: DraftResult | None) -> Record:
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


def read_record(record: Record, file: FileInfo) -> Reading:
    """What one line of a journal gives."""
    if record.get("v") != LINE_VERSION:
        return skipped(Skip.UNKNOWN_TYPE)
    if "problem" in record:
        problem = string(record, "problem")
        known = problem if problem in _FAILURES else Failure.WRONG_SHAPE.value
        return Reading(Fate.FAILED, known)
    if "skip" in record:
        return skipped(_REASONS.get(string(record, "skip"), Skip.UNKNOWN_TYPE))
    turn = _turn(record)
    if turn is None:
        wordless = string(record, "event") in _WITH_WORDS
        return skipped(Skip.EMPTY if wordless else Skip.HOUSEKEEPING)
    results = (_result(record),) if "ok" in record else ()
    return Reading(
        Fate.CAPTURED,
        session=session_id(record, file),
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
        # The key of the same call in a transcript.
        return DraftTurn(("call", call or id, name, target, action), time, role, trust, tool=tool)
    text = string(record, "text")
    if not text:
        return None
    # Where hooks are set up twice, the same prompt comes in two events.
    prompt = string(record, "prompt")
    key = ("prompt", prompt, text) if prompt else ("event", id, text)
    return DraftTurn(key, time, role, trust, text, string(record, "speaker"))


def _result(record: Record) -> DraftResult:
    touched, result = string(record, "touched"), string(record, "result")
    ok = record.get("ok") is True
    return DraftResult(string(record, "call"), ok, result, touched, string(record, "time"))


def session_id(record: Record, file: FileInfo) -> str:
    """The session of a line, called as its transcript would call it."""
    host = string(record, "session") or file.stem
    agent = string(record, "agent")
    return f"{host}:{agent}" if agent else host


def describe_session(record: Record, file: FileInfo) -> DraftSession:
    """What a line tells about its session."""
    host = string(record, "session") or file.stem
    agent = string(record, "agent")
    return DraftSession(
        session_id(record, file),
        host,
        parent=host if agent else "",
        subagent=string(record, "agent_type") or agent,
        cwd=string(record, "cwd"),
    )


def skip_unparsed(line: bytes) -> Skip | None:
    """Every line of a journal is worth parsing."""
    return None
