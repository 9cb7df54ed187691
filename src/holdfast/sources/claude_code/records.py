"""Reads one line of a Claude Code transcript: its turns and results, or why it has none.

No state is kept from line to line, so any part of a file may be read by any process.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, cast

from holdfast.model.ledgers.lines import LineOutcome, SkipReason
from holdfast.model.records import Role
from holdfast.model.trust import Trust
from holdfast.sources.claude_code import prompts, tools
from holdfast.sources.claude_code.leaves import find_leaf
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

READER_VERSION = 1

# In Python 3.11 a member of an enum takes seven times as long to reach as a global.
_CAPTURED = LineOutcome.CAPTURED
_EMPTY = SkipReason.EMPTY
_TOOL_ROLE = Role.TOOL
_ASSISTANT_ROLE = Role.ASSISTANT
_BY_ASSISTANT = Trust.ASSISTANT
_NO_PROMPT = prompts.Prompt("", skip=SkipReason.MACHINE)

# Lines that begin with one of these hold no conversation and need not be parsed.
_HOUSEKEEPING_STARTS = tuple(
    f'{{"type":"{kind}"'.encode()
    for kind in (
        "api-request api-request-shape atis-latch cost-state file-history-delta "
        "file-history-snapshot last-prompt mode permission-mode queue-operation tools-used "
        "worktree-state".split()
    )
)

_OPENS_WITH_TYPE = b'{"type":"'
_PROGRESS = b'"type":"progress","data":'
_THINKING = b'[{"type":"thinking"'
_ASSISTANT = b'"type":"assistant"'
_TEXT = b'"type":"text"'
_TOOL = b'tool_use"'
# How far into a line its type and the start of its content are looked for.
_TYPE_WITHIN_BYTES = 1000

_HOUSEKEEPING_TYPES = frozenset(
    "agent-name api-request api-request-shape atis-latch attribution-snapshot "
    "content-replacement continued-in cost-state derived-from file-history-delta "
    "file-history-snapshot fork-context-ref frame-link last-prompt mode permission-mode "
    "pr-link progress queue-operation relocated result started system tag task-summary "
    "tools-used worktree-state".split()
)
_TITLE_KEYS = {"summary": "summary", "custom-title": "customTitle", "ai-title": "aiTitle"}
_INJECTED_ATTACHMENTS = ("hook_", "async_hook_")


def skip_unparsed(line: bytes) -> SkipReason | None:
    """Why a line holds nothing, where its bytes show it without parsing. Inside a JSON string
    quotes are escaped, so no text can imitate these bytes."""
    if line.startswith(_OPENS_WITH_TYPE):
        return SkipReason.HOUSEKEEPING if line.startswith(_HOUSEKEEPING_STARTS) else None
    # The first object inside the line's own, and the first array in that.
    inner = line.find(b"{", 1, _TYPE_WITHIN_BYTES)
    if line.endswith(_PROGRESS, 0, inner):
        return SkipReason.HOUSEKEEPING
    content = line.find(b"[", inner, inner + _TYPE_WITHIN_BYTES)
    if line.startswith(_THINKING, content) and _ASSISTANT in line:
        return None if _TEXT in line or _TOOL in line else SkipReason.THINKING
    return None


# The line of a result also holds the whole file that was read or edited: from the first of each
# pair to the second.
_FILE_COPIES = (
    (b'"toolUseResult":{"filePath":"', b'","structuredPatch":'),
    (b'"toolUseResult":{"type":"text","file":{"filePath":"', b'","numLines":'),
    (b'"toolUseResult":{"type":"update","filePath":"', b'","structuredPatch":'),
)
# In shorter lines there is too little to cut.
_MIN_BYTES_TO_CUT = 3000


def without_file_copies(line: bytes) -> bytes:
    """The line without copies of files, which are a third of all bytes to parse and never used."""
    if len(line) < _MIN_BYTES_TO_CUT:
        return line
    at = line.find(b'"toolUseResult":{')
    for head, end in _FILE_COPIES if at >= 0 else ():
        if line.startswith(head, at):
            stop = line.find(end, at)
            return line[: at + len(head)] + line[stop:] if stop > 0 else line
    return line


def read_record(record: Record, file: FileInfo) -> ParsedLine:
    """The turns and results of one record, or why it has none."""
    kind: Any = record.get("type")
    if kind == "assistant":
        return _assistant(record, file)
    if kind == "user":
        return _user(record, file)
    kind = string(record, "type")
    if kind == "attachment":
        return _attachment(record, file)
    if kind == "api-request-blob":
        return skipped(SkipReason.INJECTED)
    if kind in _TITLE_KEYS:
        return _title(record, file, _TITLE_KEYS[kind])
    if kind in _HOUSEKEEPING_TYPES:
        return skipped(SkipReason.HOUSEKEEPING)
    return skipped(SkipReason.UNKNOWN_TYPE)


def session_id(record: Record, file: FileInfo) -> str:
    """The id of a line's session; a subagent's is made of its parent's and its own."""
    host: Any = record.get("sessionId")
    if host.__class__ is not str or not host:
        if "leafUuid" in record and (found := _titled_line(record, file)):
            return session_id(*found)
        host = file.stem
    if "agentId" in record and string(record, "agentId"):
        return f"{host}:{record['agentId']}"
    if record.get("isSidechain") is True:
        return f"{host}:sidechain"  # before 2.0 a subagent's lines were in its parent's file
    return host


def describe_session(record: Record, file: FileInfo) -> DraftSession:
    """What a line says about its session."""
    id = session_id(record, file)
    host = string(record, "sessionId") or id.partition(":")[0]
    inner = id.partition(":")[2] if id != host else ""
    return DraftSession(
        id,
        host,
        parent=host if inner else "",
        subagent=string(record, "attributionAgent") or inner,
        cwd=string(record, "cwd"),
        branch=string(record, "gitBranch"),
        version=string(record, "version"),
    )


def _time(record: Record) -> str:
    value: Any = record.get("timestamp")
    if value.__class__ is str and len(value) == 24 and value[23] == "Z":
        try:
            datetime.fromisoformat(value)
        except ValueError:
            return ""
        return value
    return normal_time(value)


def _blocks(record: Record) -> list[Record] | None:
    """The content of a message as blocks; None where it is no message."""
    message: Any = record.get("message")
    content: Any = message.get("content") if message.__class__ is dict else message
    if content.__class__ is str:
        return [{"type": "text", "text": content}]
    if content.__class__ is not list:
        return None
    for block in content:
        if block.__class__ is not dict:
            return [mapping(b) or {"type": "text", "text": b} for b in cast(list[Any], content)]
    return content


def _captured(
    record: Record,
    file: FileInfo,
    turns: Sequence[DraftTurn],
    results: Sequence[DraftResult],
    skip: SkipReason,
) -> ParsedLine:
    if not turns and not results:
        return skipped(skip)
    return ParsedLine(
        _CAPTURED,
        "",
        session_id(record, file),
        string(record, "gitBranch"),
        turns,
        results,
        string(record, "uuid"),
    )


def _assistant(record: Record, file: FileInfo) -> ParsedLine:
    blocks = _blocks(record)
    if blocks is None:
        return WRONG_SHAPE
    if record.get("isApiErrorMessage") or _is_synthetic(record["message"]):
        return skipped(SkipReason.MACHINE)
    ref = string(record, "uuid") or _fallback_ref(record, file)
    time = _time(record)
    turns: list[DraftTurn] = []
    skip = _EMPTY
    for number, block in enumerate(blocks):
        kind = block.get("type")
        if kind == "tool_use" or kind == "server_tool_use":
            turns.append(_tool_turn(block, number, ref, time, file))
        elif kind == "text":
            text = string(block, "text").strip()
            if text:
                key = (ref, str(number), text)
                turns.append(DraftTurn(key, time, _ASSISTANT_ROLE, _BY_ASSISTANT, text))
        elif kind == "thinking" or kind == "redacted_thinking":
            skip = SkipReason.THINKING
    return _captured(record, file, turns, (), skip)


def _is_synthetic(message: Any) -> bool:
    """Words that the program put into the assistant's mouth."""
    return message.__class__ is dict and message.get("model") == "<synthetic>"


def _tool_turn(block: Record, number: int, ref: str, time: str, file: FileInfo) -> DraftTurn:
    name = string(block, "name") or "tool"
    call = string(block, "id")
    tool = tools.read_call(name, block.get("input"), file.root, call)
    key = ("call", call or f"{ref}.{number}", name, tool.target, tool.action)
    tool = tools.with_written_text(tool, block.get("input"))
    return DraftTurn(key, time, _TOOL_ROLE, tools.trust_of(name), tool=tool)


def _fallback_ref(record: Record, file: FileInfo) -> str:
    """Identifies a record without a uuid: its session and its time."""
    return f"{string(record, 'sessionId') or file.stem}@{_time(record)}"


def _user(record: Record, file: FileInfo) -> ParsedLine:
    if record.get("isCompactSummary") or record.get("repeatsCompactSummary"):
        return _summary(record, file)
    if record.get("isMeta"):
        return skipped(SkipReason.MACHINE)
    blocks = _blocks(record)
    if blocks is None:
        return WRONG_SHAPE
    machine = record.get("turnOrigin") == "task_notification"
    ref = string(record, "uuid") or _fallback_ref(record, file)
    time = _time(record)
    turns: list[DraftTurn] = []
    results: list[DraftResult] = []
    skip = SkipReason.MACHINE if machine else _EMPTY
    for number, block in enumerate(blocks):
        kind = block.get("type")
        if kind == "tool_result":
            ok, result, lines = tools.read_result(block, record)
            results.append(DraftResult(string(block, "tool_use_id"), ok, result, lines, time))
        elif kind == "image" and not machine:
            key = (ref, str(number), "[image]")
            turns.append(_prompt_turn(prompts.Prompt("[image]"), key, time, record))
        elif kind == "text":
            text = string(block, "text")
            prompt = prompts.read_prompt(text) if not machine else _NO_PROMPT
            if prompt.skip is None:
                turns.append(_prompt_turn(prompt, (ref, str(number), prompt.text), time, record))
            elif report := prompts.read_report(text):
                turns.append(_report_turn(report, (ref, str(number), report), time))
            else:
                skip = prompt.skip
    return _captured(record, file, turns, results, skip)


def _summary(record: Record, file: FileInfo) -> ParsedLine:
    """The agent's summary of its session so far, which replaces what it was given until then. A
    line that repeats one is skipped."""
    blocks = _blocks(record)
    if blocks is None:
        return WRONG_SHAPE
    text = prompts.read_summary("\n\n".join(string(block, "text") for block in blocks))
    if not text or record.get("repeatsCompactSummary"):
        return skipped(SkipReason.COMPACTION)
    ref = string(record, "uuid") or _fallback_ref(record, file)
    turn = DraftTurn((ref, "summary", text), _time(record), Role.SUMMARY, _BY_ASSISTANT, text)
    return _captured(record, file, [turn], (), SkipReason.COMPACTION)


def _prompt_turn(
    prompt: prompts.Prompt, key: tuple[str, ...], time: str, record: Record
) -> DraftTurn:
    """A user message. In the session of a subagent, or from a teammate, an agent wrote it."""
    is_subagent = bool(record.get("agentId")) or record.get("isSidechain") is True
    trust = Trust.ASSISTANT if prompt.speaker or is_subagent else Trust.USER
    return DraftTurn(key, time, Role.USER, trust, prompt.text, prompt.speaker)


def _report_turn(report: str, key: tuple[str, ...], time: str) -> DraftTurn:
    """What an agent in the background reported: its words, though the line is a user's."""
    return DraftTurn(key, time, _ASSISTANT_ROLE, _BY_ASSISTANT, report)


def _attachment(record: Record, file: FileInfo) -> ParsedLine:
    attachment = mapping(record.get("attachment"))
    kind = string(attachment, "type")
    if kind.startswith(_INJECTED_ATTACHMENTS):
        return skipped(SkipReason.INJECTED)
    if kind != "queued_command":
        return skipped(SkipReason.HOUSEKEEPING)
    # Typed while the agent was busy: a person's text that appears nowhere else.
    text = _prompt_text(attachment.get("prompt"))
    prompt, ref = prompts.read_prompt(text), string(record, "uuid") or _fallback_ref(record, file)
    if report := prompts.read_report(text):
        turn = _report_turn(report, (ref, "0", report), _time(record))
    elif prompt.skip is not None or attachment.get("commandMode") == "task-notification":
        return skipped(prompt.skip or SkipReason.MACHINE)
    else:
        turn = _prompt_turn(prompt, (ref, "0", prompt.text), _time(record), record)
    return _captured(record, file, [turn], [], SkipReason.EMPTY)


def _prompt_text(prompt: object) -> str:
    """The text of a prompt that is a string, or blocks of text and images."""
    if isinstance(prompt, str):
        return prompt
    parts = [string(b, "text") or f"[{string(b, 'type')}]" for b in objects(prompt)]
    return "\n\n".join(parts)


def _title(record: Record, file: FileInfo, key: str) -> ParsedLine:
    title = string(record, key).strip()
    titled = string(record, "sessionId") or _titled_line(record, file)
    if not title or not titled:
        return skipped(SkipReason.HOUSEKEEPING)  # of a session whose transcript is gone
    return ParsedLine(LineOutcome.CAPTURED, session=session_id(record, file), title=title)


def _titled_line(record: Record, file: FileInfo) -> tuple[Record, FileInfo] | None:
    """The last line of the session that a summary without a session titles, and its file. Before
    2.0 summaries stood at the start of later files."""
    found = find_leaf(file.path, string(record, "leafUuid"))
    return (found[0], file._replace(stem=found[1])) if found and found[0] else None
