"""One raw event becomes one line of the journal: what may be kept of it, refined and redacted.

Any bytes give a line. What cannot be read keeps its name and the reason.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, NamedTuple

import orjson

from holdfast.capture import inbox, journal
from holdfast.capture.inbox import RawEvent
from holdfast.capture.places import Places
from holdfast.capture.redact import Redactor
from holdfast.model.ledger import Failure, Skip
from holdfast.refine.core.banks import Banks
from holdfast.refine.ingest.turns import Rules, parse, redact_text, redact_turn
from holdfast.sources.claude_code.events import LINE_VERSION, Told, refine_payload, spell_turn
from holdfast.sources.draft import DraftTurn
from holdfast.sources.json_fields import Record, normal_time, string
from holdfast.sources.lines import LINE_LIMIT, Clipper

_SESSION = re.compile(r"[A-Za-z0-9_-]{1,100}\Z")
_NOBODY = "none"
_HEAD = 64 * 1024
_PATH_LIMIT = 4096
_FACT = re.compile(rb'"(session_id|cwd|transcript_path)"\s*:\s*("(?:[^"\\]|\\.)*")')


class Payload(NamedTuple):
    """What an event carries; `problem` says why it is not all of it."""

    record: Record
    problem: Failure | None = None


def read_payload(raw: RawEvent) -> Payload:
    """The content of an event, never held whole where it is huge."""
    if not raw.size:
        return Payload({})
    held = bytearray()
    clipper: Clipper | None = None
    for piece in inbox.pieces(raw):
        if clipper is None and len(held) + len(piece) > LINE_LIMIT:
            clipper = Clipper()
            clipper.feed(bytes(held))
            del held[_HEAD:]
        if clipper is not None:
            clipper.feed(piece)
        else:
            held += piece
    found: Any = parse(bytes(held) if clipper is None else clipper.finish())
    if clipper is not None and clipper.overflowed:
        found = Failure.TOO_LARGE
    if isinstance(found, dict):
        return Payload(found)
    problem = found if isinstance(found, Failure) else Failure.NOT_AN_OBJECT
    return Payload(_facts(bytes(held[:_HEAD])), problem)


def _facts(head: bytes) -> Record:
    """Whose event it is, from the start of a payload that cannot be read."""
    facts: Record = {}
    for name, value in _FACT.findall(head):
        try:
            facts.setdefault(name.decode(), orjson.loads(value))
        except orjson.JSONDecodeError:
            continue
    return facts


def session_of(raw: RawEvent, record: Record) -> str:
    """The session that a payload names, or else its file."""
    named = string(record, "session_id")
    return named if _SESSION.match(named) else raw.session


def first_folder(places: Places, session: str) -> str:
    """Where the journal says that a session began."""
    events = journal.read(places.journal(session))
    return next((folder for event in events if (folder := string(event, "cwd"))), "")


class Scribe:
    """Writes lines of the journal, by the rules in force."""

    def __init__(self, places: Places, banks: Banks, rules: Rules) -> None:
        self._places = places
        self._banks = banks
        self._rules = rules
        self._redactor = Redactor(rules.patterns)
        self._excluded: dict[str, bool] = {}
        self._began: dict[str, str] = {}
        self.taken: Counter[str] = Counter()

    def line(self, raw: RawEvent, payload: Payload) -> Record:
        """The line of an event."""
        record, problem = payload
        session, cwd = session_of(raw, record), string(record, "cwd")[:_PATH_LIMIT]
        line: Record = {
            "v": LINE_VERSION,
            "id": raw.id,
            "event": raw.event,
            "time": normal_time(raw.changed_ns / 1e9),
            "session": session,
            "cwd": self._redactor.name(cwd),
            "transcript": self._redactor.name(string(record, "transcript_path")[:_PATH_LIMIT]),
        }
        agent = string(record, "agent_id")
        if _SESSION.match(agent):
            kind = self._redactor.name(string(record, "agent_type")[:100])
            line |= {"agent": agent, "agent_type": kind}
        prompt = string(record, "prompt_id")
        if raw.event == "UserPromptSubmit" and _SESSION.match(prompt):
            line["prompt"] = prompt
        if problem is None and session == _NOBODY and record:
            problem = Failure.WRONG_SHAPE
        if problem is not None:
            line["problem"] = problem.value
        elif self._keeps_out(session, cwd):
            line["skip"] = Skip.EXCLUDED.value
        elif record:
            line |= self._words(raw, record, line["time"], cwd)
        return line

    def _words(self, raw: RawEvent, record: Record, time: str, cwd: str) -> Record:
        spent: object = record.get("duration_ms")
        seconds = spent / 1000 if isinstance(spent, int) and 0 <= spent < 1e10 else 0
        began = normal_time(raw.changed_ns / 1e9 - seconds)
        root = self._banks.project(cwd).root if cwd else ""
        try:
            told = refine_payload(raw.event, record, root, began, time)
        except RecursionError:
            return {"problem": Failure.TOO_DEEP.value}
        if told.skip is not None:
            return {"skip": told.skip.value}
        if told.turn is None:
            return {key: self._clean(value) for key, value in told.notes}
        return self._turn(told, told.turn, root)

    def _turn(self, told: Told, turn: DraftTurn, root: str) -> Record:
        kept = redact_turn(turn, self._rules, root, self._redactor, self.taken)
        if isinstance(kept, Skip):
            return {"skip": kept.value}
        text, tool = kept
        speaker = self._redactor.name(turn.speaker)
        turn = turn._replace(text=text, tool=tool, speaker=speaker)
        result = told.result
        if result is not None:
            result = result._replace(result=self._clean(result.result))
        return spell_turn(turn, result)

    def _clean(self, text: str) -> str:
        return redact_text(text, self._redactor, self.taken)

    def _keeps_out(self, session: str, cwd: str) -> bool:
        """Whether the settings keep an event out: by the folder that it came from, or by the
        one that its session began in."""
        began = self._began.get(session)
        if not began:
            began = self._began[session] = first_folder(self._places, session) or cwd
        return any(self._excludes(folder) for folder in {began, cwd} if folder)

    def _excludes(self, folder: str) -> bool:
        if folder not in self._excluded:
            self._excluded[folder] = self._banks.is_excluded(folder)
        return self._excluded[folder]
