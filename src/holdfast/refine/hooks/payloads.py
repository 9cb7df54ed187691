"""Makes one journal line of one raw event: refined, redacted, without what must not be stored.

Any bytes give a line. An event that cannot be read gives a line with its id and the reason.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import orjson

from holdfast.capture import inbox, journal
from holdfast.capture.home_paths import HomePaths
from holdfast.capture.inbox import RawEvent
from holdfast.capture.redact import Redactor
from holdfast.model.ledgers.lines import FailureReason, SkipReason
from holdfast.refine.core.banks import Banks
from holdfast.refine.ingest.turns import PrivacyRules, parse_line, redact_text, redact_turn
from holdfast.regex import regex
from holdfast.sources.claude_code.events import (
    LINE_VERSION,
    EventContent,
    refine_payload,
    turn_fields,
)
from holdfast.sources.draft import DraftTurn
from holdfast.sources.json_fields import Record, normal_time, string
from holdfast.sources.lines import LINE_LIMIT, Clipper

_ID = regex(r"[A-Za-z0-9_-]{1,100}\Z")
# The session of events that name none.
_NO_SESSION = "none"
# Bytes at the start of an unreadable payload that are searched for its session and folder.
_HEAD_BYTES = 64 * 1024
# The longest path on Linux.
_MAX_PATH_CHARACTERS = 4096
_MAX_AGENT_TYPE_CHARACTERS = 100
# A longer duration of a tool call (115 days) is an error.
_MAX_DURATION_MS = 1e10
_IDENTITY_FIELD = regex(rb'"(session_id|cwd|transcript_path)"\s*:\s*("(?:[^"\\]|\\.)*")')


class Payload(NamedTuple):
    """The content of an event; with a `problem`, `record` has only what could be found."""

    record: Record
    problem: FailureReason | None = None


def read_payload(raw: RawEvent) -> Payload:
    """The content of an event. Of one over `LINE_LIMIT` long values are clipped while reading, so
    that it is never held in memory as a whole."""
    if not raw.size:
        return Payload({})
    held = bytearray()
    clipper: Clipper | None = None
    for piece in inbox.read_chunks(raw):
        if clipper is None and len(held) + len(piece) > LINE_LIMIT:
            clipper = Clipper()
            clipper.feed(bytes(held))
            del held[_HEAD_BYTES:]
        if clipper is not None:
            clipper.feed(piece)
        else:
            held += piece
    found: Any = parse_line(bytes(held) if clipper is None else clipper.finish())
    if clipper is not None and clipper.overflowed:
        found = FailureReason.TOO_LARGE
    if isinstance(found, dict):
        return Payload(found)
    problem = found if isinstance(found, FailureReason) else FailureReason.NOT_AN_OBJECT
    return Payload(_scan_identity(bytes(held[:_HEAD_BYTES])), problem)


def _scan_identity(head: bytes) -> Record:
    """The session, folder and transcript in the start of a payload that cannot be parsed."""
    facts: Record = {}
    for name, value in _IDENTITY_FIELD.findall(head):
        try:
            facts.setdefault(name.decode(), orjson.loads(value))
        except orjson.JSONDecodeError:
            continue
    return facts


def session_of(raw: RawEvent, record: Record) -> str:
    """The session that a payload names, or else the one in the event's file name."""
    named = string(record, "session_id")
    return named if _ID.match(named) else raw.session


def session_start_folder(paths: HomePaths, session: str) -> str:
    """The first folder in a session's journal; "" if it has none."""
    events = journal.read(paths.journal(session))
    return next((folder for event in events if (folder := string(event, "cwd"))), "")


class JournalLineBuilder:
    """Builds journal lines by the privacy rules; `redacted` counts what was redacted so far."""

    def __init__(self, paths: HomePaths, banks: Banks, rules: PrivacyRules) -> None:
        self._paths = paths
        self._banks = banks
        self._rules = rules
        self._redactor = Redactor(rules.patterns)
        self._excluded: dict[str, bool] = {}
        self._start_folders: dict[str, str] = {}
        self.redacted: Counter[str] = Counter()

    def build(self, raw: RawEvent, payload: Payload) -> Record:
        """The journal line of an event."""
        record, problem = payload
        session, cwd = session_of(raw, record), string(record, "cwd")[:_MAX_PATH_CHARACTERS]
        line: Record = {
            "v": LINE_VERSION,
            "id": raw.id,
            "event": raw.event,
            "time": normal_time(raw.changed_ns / 1e9),
            "session": session,
            "cwd": self._redactor.redact_name(cwd),
            "transcript": self._redactor.redact_name(
                string(record, "transcript_path")[:_MAX_PATH_CHARACTERS]
            ),
        }
        agent = string(record, "agent_id")
        if _ID.match(agent):
            agent_type = string(record, "agent_type")[:_MAX_AGENT_TYPE_CHARACTERS]
            line |= {"agent": agent, "agent_type": self._redactor.redact_name(agent_type)}
        prompt = string(record, "prompt_id")
        if raw.event == "UserPromptSubmit" and _ID.match(prompt):
            line["prompt"] = prompt
        if problem is None and session == _NO_SESSION and record:
            problem = FailureReason.WRONG_SHAPE
        if problem is not None:
            line["problem"] = problem.value
        elif self._is_excluded(session, cwd):
            line["skip"] = SkipReason.EXCLUDED.value
        elif record:
            line |= self._content(raw, record, line["time"], cwd)
        return line

    def _content(self, raw: RawEvent, record: Record, time: str, cwd: str) -> Record:
        duration: object = record.get("duration_ms")
        seconds = 0.0
        if isinstance(duration, int) and 0 <= duration < _MAX_DURATION_MS:
            seconds = duration / 1000
        began = normal_time(raw.changed_ns / 1e9 - seconds)
        root = self._banks.project(cwd).root if cwd else ""
        try:
            refined = refine_payload(raw.event, record, root, began, time)
        except RecursionError:
            return {"problem": FailureReason.TOO_DEEP.value}
        if refined.skip is not None:
            return {"skip": refined.skip.value}
        if refined.turn is None:
            return {key: self._redact(value) for key, value in refined.notes}
        return self._turn_fields(refined, refined.turn, root)

    def _turn_fields(self, refined: EventContent, turn: DraftTurn, root: str) -> Record:
        redacted = redact_turn(turn, self._rules, root, self._redactor, self.redacted)
        if isinstance(redacted, SkipReason):
            return {"skip": redacted.value}
        text, tool = redacted
        speaker = self._redactor.redact_name(turn.speaker)
        turn = turn._replace(text=text, tool=tool, speaker=speaker)
        result = refined.result
        if result is not None:
            result = result._replace(result=self._redact(result.result))
        return turn_fields(turn, result)

    def _redact(self, text: str) -> str:
        return redact_text(text, self._redactor, self.redacted)

    def _is_excluded(self, session: str, cwd: str) -> bool:
        """Whether the settings exclude the folder of an event, or the first one of its session."""
        start = self._start_folders.get(session)
        if not start:
            start = session_start_folder(self._paths, session) or cwd
            self._start_folders[session] = start
        return any(self._is_excluded_folder(folder) for folder in {start, cwd} if folder)

    def _is_excluded_folder(self, folder: str) -> bool:
        if folder not in self._excluded:
            self._excluded[folder] = self._banks.is_excluded(folder)
        return self._excluded[folder]
