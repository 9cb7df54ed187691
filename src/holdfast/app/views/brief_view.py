"""Briefs line by line: what the next session of a bank is told, and what a session was told, as its
transcript has it. Every line that is about a record names it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, cast

from holdfast.app.memory import Holdfast
from holdfast.app.views.record_view import correctable_text, fingerprint
from holdfast.brief.frame import Brief
from holdfast.brief.injection_outcomes import (
    RecordOutcome,
    contradicting_turn,
    record_outcomes,
)
from holdfast.brief.prepared_files import prepared_brief
from holdfast.capture.home_paths import HomePaths
from holdfast.capture.redact import Redactor
from holdfast.framed_text import OWN_TAG
from holdfast.language import content_stems
from holdfast.learn.curation import CORRECTABLE_KINDS
from holdfast.model.ledgers.injections import Injection, InjectionUse
from holdfast.model.records import Session, Turn
from holdfast.model.uris import parse_uri
from holdfast.recall.ranking.hits import estimate_tokens
from holdfast.refine.rules.rule_roots import memory_file_stamps
from holdfast.regex import regex
from holdfast.sources.rule_locations import MEMORY_FILE, file_stamp

# A line names its record in brackets, `(fact/1a2b3c4d)`; the index of exchanges begins with the id.
_NAMED = regex(r"\b([a-z]+)/([0-9a-f]{8})\b")
_INDEXED = regex(r"- ([0-9a-f]{8}) ")
_OF_MEMORY_FILE = f"From {MEMORY_FILE}"
# Only what a person can take back here; rules are lines of a file of the project.
_NOT_FORGETTABLE = ("rule",)
# Briefs kept by a server; each is a few kilobytes.
_MAX_CACHED = 64
# A turn that shares so many words with a line is about it.
_MIN_SHARED_WORDS = 2
# A line of a transcript, and all of one that is looked through for a brief.
_MAX_LINE_BYTES = 4_000_000
_MAX_FILE_BYTES = 400_000_000


class BriefLine(NamedTuple):
    """A line of a brief. `uri` is the record it is about, "" for headings and the like; `words` are
    those that a correction replaces, None if it cannot be corrected; `seen` is their fingerprint.
    `outcome` is what the session did with it, None if that is not asked for or not known."""

    text: str
    uri: str = ""
    words: str | None = None
    seen: str = ""
    can_forget: bool = False
    outcome: RecordOutcome | None = None


class BriefView(NamedTuple):
    """What the next session of a bank is told; no lines if there is nothing to tell."""

    id: str
    text: str
    lines: tuple[BriefLine, ...]
    tokens: int
    limit_tokens: int


class InjectedText(NamedTuple):
    """What a session was told at one moment. `text` is "" and `lines` are missing if no transcript
    has it any more; `records` are then all that is known."""

    injection: Injection
    text: str
    lines: tuple[BriefLine, ...]
    tokens: int


class BriefCache:
    """The briefs of a server by bank: as prepared for the hooks if that is still right, else made
    once and made again when anything was written or a file that they quote changed. The words that
    a restricted principal may read of a bank are all of it, so one brief serves everybody."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[object, Brief]] = {}
        # Two that want a brief at once make it once.
        self._making = Lock()

    def get(self, memory: Holdfast, bank: str) -> Brief:
        """The brief of a bank by its id."""
        reader, settings = memory.reader, memory.settings
        files = memory_file_stamps(reader, bank)
        state = (reader.generation(), [file_stamp(file) for file in files])
        with self._making:
            known = self._made.get(bank)
            if known is None or known[0] != state:
                if len(self._made) >= _MAX_CACHED:
                    self._made.clear()
                places = HomePaths(settings.home)
                brief = prepared_brief(memory.store, places, bank, settings.brief)
                known = self._made[bank] = (state, brief or memory.briefs.session_brief(bank))
            return known[1]


def next_brief(memory: Holdfast, bank: str, cache: BriefCache | None = None) -> BriefView:
    """What the next session of a bank is told at its start, with what can be done about each
    line."""
    brief = (cache or BriefCache()).get(memory, bank)
    lines = tuple(_with_actions(memory, bank, line) for line in brief_lines(brief))
    tokens = estimate_tokens(brief.text) if brief.text else 0
    return BriefView(brief.id, brief.text, lines, tokens, memory.settings.brief.tokens)


def injected_texts(memory: Holdfast, session: Session) -> list[InjectedText]:
    """What a session was told, in order, each line with what became of it. Subagents are told
    nothing."""
    if session.parent:
        return []
    injections = memory.store.injections.latest(session.bank, session.host)[::-1]
    texts = _texts_of(memory, session, [one.id.partition(".")[0] for one in injections])
    sessions = [session, *memory.reader.sessions.subagents(session.bank, session.id)]
    found: list[InjectedText] = []
    for one in injections:
        brief = one.id.partition(".")[0]
        text = texts.get(brief, "")
        lines: Sequence[BriefLine] = ()
        if text:
            lines = brief_lines(Brief(brief, text, one.records))
            if one.use is not InjectionUse.UNKNOWN:
                outcomes = record_outcomes(memory.store, one, sessions)
                wrong = contradicting_turn(memory.store, one, sessions)
                lines = _with_outcomes(lines, one.records, outcomes, wrong)
        found.append(InjectedText(one, text, tuple(lines), estimate_tokens(text) if text else 0))
    return found


def brief_lines(brief: Brief) -> list[BriefLine]:
    """The lines of a brief without its frame, each with the record that it is about. A line that
    is indented belongs to the one above it."""
    by_short: dict[tuple[str, str], str] = {}
    rules: list[str] = []
    for name in brief.records:
        if named := parse_uri(name):
            by_short.setdefault((named.kind, named.id[:8]), name)
            rules += [name] if named.kind == "rule" else []
    lines: list[BriefLine] = []
    in_file = False
    for text in brief.text.split("\n")[1:-1]:
        if text and not text.startswith(("-", " ")):
            in_file = text.startswith(_OF_MEMORY_FILE)
        name = _record_of(text, by_short)
        if text.startswith("- ") and in_file and rules:
            name = rules.pop(0)
        elif text.startswith("  ") and lines:
            name = lines[-1].uri
        lines.append(BriefLine(text, name))
    return lines


def _record_of(text: str, by_short: Mapping[tuple[str, str], str]) -> str:
    """The record that a line names; "" if it names none of those of the brief."""
    if not text.startswith("- "):
        return ""
    if found := _INDEXED.match(text):
        return by_short.get(("exchange", found.group(1)), "")
    names = (by_short.get((kind, id), "") for kind, id in _NAMED.findall(text))
    return next(filter(None, names), "")


def _with_actions(memory: Holdfast, bank: str, line: BriefLine) -> BriefLine:
    named = parse_uri(line.uri) if line.uri and line.text.startswith("- ") else None
    if named is None:
        return line
    record = next(iter(memory.reader.records.find(bank, named.kind, named.id, 1)), None)
    if record is None or named.kind in _NOT_FORGETTABLE:
        return line
    if named.kind not in CORRECTABLE_KINDS:
        return line._replace(can_forget=True)
    words = correctable_text(record)
    return line._replace(words=words, seen=fingerprint(words), can_forget=True)


def _with_outcomes(
    lines: Sequence[BriefLine],
    records: Sequence[str],
    outcomes: Mapping[str, RecordOutcome],
    wrong: Turn | None,
) -> list[BriefLine]:
    """Lines with what became of them. The line that a turn contradicts is the one that it shares
    most words with; none if it shares too few with any."""
    made = [line._replace(outcome=_line_outcome(line, records, outcomes)) for line in lines]
    if wrong is None:
        return made
    said = content_stems(wrong.text)
    shared = [len(said & content_stems(line.text)) if line.outcome else 0 for line in made]
    at = max(range(len(made)), key=lambda n: shared[n])
    if shared[at] >= _MIN_SHARED_WORDS:
        outcome = RecordOutcome(InjectionUse.CONTRADICTED, wrong)
        made[at] = made[at]._replace(outcome=outcome)
    return made


def _line_outcome(
    line: BriefLine, records: Sequence[str], outcomes: Mapping[str, RecordOutcome]
) -> RecordOutcome | None:
    """The strongest outcome of a line's record and of the turns that stand behind it, which follow
    it in the list of records."""
    if not line.text.startswith("- ") or line.uri not in outcomes:
        return None
    at = records.index(line.uri) + 1
    behind = 0
    while at + behind < len(records) and "/turn/" in records[at + behind]:
        behind += 1
    group = [outcomes[name] for name in (line.uri, *records[at : at + behind]) if name in outcomes]
    return next((one for one in group if one.use is not InjectionUse.IGNORED), group[0])


def _texts_of(memory: Holdfast, session: Session, briefs: Sequence[str]) -> dict[str, str]:
    """The briefs that the transcript of a session has, by their ids, without secrets."""
    source = memory.reader.sources.get(session.source)
    missing, found = set(briefs), dict[str, str]()
    if source is None or not missing:
        return found
    redactor = Redactor(memory.settings.redact_patterns)
    try:
        with Path(source.path).open("rb") as file:
            for line in iter(lambda: file.readline(_MAX_LINE_BYTES), b""):
                for brief in [one for one in missing if one.encode() in line]:
                    if text := _text_in(line, brief):
                        found[brief] = redactor.redact(text).text
                        missing.discard(brief)
                if not missing or file.tell() > _MAX_FILE_BYTES:
                    break
    except OSError:
        return found
    return found


def _text_in(line: bytes, brief: str) -> str:
    """The brief in a line of a transcript, with its frame; "" if the line only mentions it."""
    try:
        record: object = json.loads(line)
    except ValueError:
        return ""
    start, end = f'<{OWN_TAG} id="{brief}">', f"</{OWN_TAG}>"
    for text in _strings(record):
        at = text.find(start)
        if at >= 0 and (stop := text.find(end, at)) >= 0:
            return text[at : stop + len(end)]
    return ""


def _strings(value: object) -> Iterator[str]:
    """Every text in a JSON value."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += cast("dict[str, Any]", one).values()
        elif isinstance(one, list):
            waiting += cast("list[Any]", one)
