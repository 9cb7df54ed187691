"""Conversations of any origin: JSON lines with `session`, `id`, `time`, `speaker` and `text`."""

from __future__ import annotations

from holdfast.model.ledgers.lines import LineOutcome, SkipReason
from holdfast.model.records import Role
from holdfast.model.trust import Trust
from holdfast.sources.draft import (
    WRONG_SHAPE,
    DraftSession,
    DraftTurn,
    FileInfo,
    ParsedLine,
    skipped,
)
from holdfast.sources.json_fields import Record, normal_time, string

AGENT = "conversation"
_ASSISTANTS = {"assistant", "ai", "agent", "bot", "model", "claude", "chatgpt", "gemini"}


def read_record(record: Record, file: FileInfo) -> ParsedLine:
    """The turn of one line."""
    text: object = record.get("text")
    if not isinstance(text, str):
        return WRONG_SHAPE
    if not text.strip():
        return skipped(SkipReason.EMPTY)
    session = _session(record, file)
    id: object = record.get("id")
    ref = str(id) if isinstance(id, str | int) else ""
    speaker = string(record, "speaker")
    role = Role.ASSISTANT if speaker.lower() in _ASSISTANTS else Role.USER
    name = "" if speaker.lower() in (*_ASSISTANTS, "user", "human") else speaker
    time = normal_time(record.get("time"))
    key = ("conversation", session, ref, time, speaker, text)
    turn = DraftTurn(key, time, role, Trust.IMPORT, text.strip(), name)
    return ParsedLine(LineOutcome.CAPTURED, session=session, turns=(turn,), ref=ref)


def describe_session(record: Record, file: FileInfo) -> DraftSession:
    """The session that a line names, or the file as one."""
    id = _session(record, file)
    return DraftSession(id, id, cwd=file.root)


def _session(record: Record, file: FileInfo) -> str:
    value: object = record.get("session")
    return str(value) if isinstance(value, str | int) and value != "" else file.stem
