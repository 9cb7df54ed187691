"""L1: the lines of a segment become redacted turns, and every line gets its fate.

A pure function of the bytes, the file's facts and the rules, so any process may do it.
"""

from __future__ import annotations

import gc
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatch
from typing import Any, NamedTuple

import orjson

from holdfast.capture.redact import Redactor
from holdfast.model.ids import content_id
from holdfast.model.ledger import Failure, Fate, Skip
from holdfast.model.records import Role, ToolCall
from holdfast.model.trust import Trust
from holdfast.sources import conversation
from holdfast.sources.agent import every_line
from holdfast.sources.claude_code import events
from holdfast.sources.draft import DraftSession, DraftTurn, FileInfo, Reading
from holdfast.sources.lines import Line
from holdfast.sources.registry import FIRST, agents

EXCERPT_LIMIT = 2000
_HALF_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
_EMPTY = Skip.EMPTY
_PATH_BORDER = re.compile(r"[\s\"'=:,;|&()<>{}\[\]]+")
_LAST_WORD = re.compile(r"[^\s\"',\[\]{}]{1,200}\Z")
_ONLY_PRIVATE = re.compile(r"(?:\s|\[redacted:private\])*\Z")


class SourceReader(NamedTuple):
    """How the lines of one agent are read: what a line gives, which need not even be parsed,
    what of the others need not, what a line says of its session, and whose session that is."""

    read: Callable[[dict[str, Any], FileInfo], Reading]
    skip: Callable[[bytes], Skip | None]
    lighten: Callable[[bytes], bytes]
    describe: Callable[[dict[str, Any], FileInfo], DraftSession]
    host: str


# What is read besides the agents' own files: the journals of hooks, and any dialogue.
_OTHERS = {
    events.AGENT: SourceReader(
        events.read_record, every_line, bytes, events.describe_session, FIRST
    ),
    conversation.AGENT: SourceReader(
        conversation.read_record,
        every_line,
        bytes,
        conversation.describe_session,
        conversation.AGENT,
    ),
}


def reader_of(agent: str) -> SourceReader:
    """How the lines of an agent are read."""
    known = agents().get(agent)
    if known is None:
        return _OTHERS[agent]
    return SourceReader(known.read, known.skip, known.lighten, known.describe, known.name)


@dataclass(frozen=True, slots=True)
class Rules:
    """What must not be kept: secrets by shape, and whole tools or paths by the settings."""

    patterns: tuple[tuple[str, str], ...] = ()
    tools: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    def excludes(self, tool: ToolCall, root: str) -> bool:
        """Whether a tool's turn is left out entirely: for its name, or for a path that it is
        about or that its command mentions."""
        if self.tools and any(fnmatch(tool.name, pattern) for pattern in self.tools):
            return True
        if not self.paths:
            return False
        named = [tool.target, *_PATH_BORDER.split(tool.action)]
        paths = [path.replace("\\", "/").removeprefix("./") for path in named if path]
        whole = [*paths, *(f"{root}/{path}" for path in paths)]
        patterns = [
            p for given in self.paths for p in (given.rstrip("/"), given.rstrip("/") + "/*")
        ]
        return any(fnmatch(path.rstrip("/"), pattern) for path in whole for pattern in patterns)


class RefinedTurn(NamedTuple):
    """A turn that still lacks its bank, its place in the session and its source's number."""

    id: str
    session: str
    time: str
    role: Role
    trust: Trust
    text: str
    speaker: str
    branch: str
    tool: ToolCall | None
    line: int
    offset: int
    ref: str


class RefinedResult(NamedTuple):
    """The outcome of an earlier tool call in the same session."""

    session: str
    call: str
    ok: bool
    result: str
    lines: str
    time: str
    line: int


@dataclass(slots=True)
class Refined:
    """What a run of lines gave. Line numbers count from 1 within the run; `stop` is the
    offset after the last line that was whole."""

    stop: int
    lines: int = 0
    events: list[RefinedTurn | RefinedResult] = field(
        default_factory=list[RefinedTurn | RefinedResult]
    )
    sessions: dict[str, DraftSession] = field(default_factory=dict[str, DraftSession])
    captured: set[int] = field(default_factory=set[int])
    skipped: Counter[str] = field(default_factory=Counter[str])
    failed: list[tuple[int, int, str, str]] = field(default_factory=list[tuple[int, int, str, str]])
    redacted: Counter[str] = field(default_factory=Counter[str])


def refine(lines: Iterable[Line], start: int, file: FileInfo, rules: Rules) -> Refined:
    """Read every line of a run; a torn last line is left for the next time."""
    # Parsed JSON has no cycles; looking for some took a quarter of the time.
    collecting = gc.isenabled()
    gc.disable()
    try:
        return _refine(lines, start, file, rules)
    finally:
        if collecting:
            gc.enable()


def _refine(lines: Iterable[Line], start: int, file: FileInfo, rules: Rules) -> Refined:
    done = Refined(stop=start)
    redactor = Redactor(rules.patterns)
    reader = reader_of(file.agent)
    skipped = done.skipped
    captured = Fate.CAPTURED
    for offset, length, data, ended, too_large in lines:
        if not ended and not _complete(data):
            break
        done.lines += 1
        done.stop = offset + length
        sure = reader.skip(data)
        if sure is not None:
            skipped[sure] += 1
            continue
        record: Any = Failure.TOO_LARGE if too_large else parse(reader.lighten(data))
        if record.__class__ is not dict:
            _note_unreadable(record, data, offset, redactor, done)
            continue
        reading = _read(reader, record, file)
        if reading.fate is captured:
            if reading.title:
                title = redact_text(reading.title, redactor, done.redacted)
                reading = reading._replace(title=title)
            known = done.sessions.get(reading.session)
            if known is None or not known.cwd or reading.title:
                _meet_session(done.sessions, reading, record, file, redactor)
            _settle(reading, offset, rules, file.root, redactor, done)
        elif reading.fate is Fate.SKIPPED:
            skipped[reading.reason] += 1
        else:
            _note_unreadable(Failure(reading.reason), data, offset, redactor, done)
    done.skipped = Counter({str(reason): count for reason, count in skipped.items()})
    return done


def _read(reader: SourceReader, record: dict[str, Any], file: FileInfo) -> Reading:
    try:
        return reader.read(record, file)
    except RecursionError:
        return Reading(Fate.FAILED, Failure.TOO_DEEP.value)


def _complete(data: bytes) -> bool:
    """Whether a last line without a newline is a whole object: no prefix of one parses."""
    try:
        return isinstance(orjson.loads(data), dict)
    except orjson.JSONDecodeError:
        return False


def parse(data: bytes) -> Any:
    """What stands on a line, None for a blank line, or why nothing can be read."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return _parse_leniently(data)


def _parse_leniently(data: bytes) -> Any:
    """Bytes that are not UTF-8, and halves of characters, cost a sign, not the line."""
    if not data.strip():
        return None
    text = _HALF_CHARACTER.sub(r"\\ufffd", data.decode("utf-8-sig", "replace"))
    try:
        return orjson.loads(text.replace("\x00", ""))
    except orjson.JSONDecodeError as error:
        why = str(error).lower()
        return Failure.TOO_DEEP if "depth" in why or "recursion" in why else Failure.NOT_JSON


def _note_unreadable(
    found: object, data: bytes, offset: int, redactor: Redactor, done: Refined
) -> None:
    """A blank line is skipped; anything else that is not an object is a failure, kept."""
    if found is None and not data.strip():
        done.skipped[Skip.BLANK.value] += 1
        return
    why = found if isinstance(found, Failure) else Failure.NOT_AN_OBJECT
    text = data[:EXCERPT_LIMIT].decode("utf-8", "replace").replace('\\"', '"')
    if len(data) > EXCERPT_LIMIT:
        text = _LAST_WORD.sub("", text)  # half a key would not be known as one
    excerpt = redact_text(text.strip(), redactor, done.redacted)
    done.failed.append((done.lines, offset, why.value, excerpt))


def _meet_session(
    sessions: dict[str, DraftSession],
    reading: Reading,
    record: dict[str, Any],
    file: FileInfo,
    redactor: Redactor,
) -> None:
    """The first line tells where a session began; a later one may still give it a title."""
    known = sessions.get(reading.session)
    if known is None or not known.cwd:
        told = reader_of(file.agent).describe(record, file)
        new = DraftSession(*(redactor.redact(part).text for part in told))
        title = reading.title or (known.title if known else "") or new.title
        sessions[reading.session] = new._replace(title=title)
    elif reading.title:
        sessions[reading.session] = known._replace(title=reading.title)


def _settle(
    reading: Reading, offset: int, rules: Rules, root: str, redactor: Redactor, done: Refined
) -> None:
    line = done.lines
    events = done.events
    before = len(events)
    left_out = _EMPTY
    _, _, session, branch, turns, results, ref, title = reading
    branch = redactor.name(branch) if branch else branch
    for turn in turns:
        kept = redact_turn(turn, rules, root, redactor, done.redacted)
        if isinstance(kept, Skip):
            left_out = kept
            continue
        text, tool = kept
        key, time, role, trust, _, speaker, _ = turn
        speaker = redactor.name(speaker) if speaker else speaker
        id = content_id(*key)
        events.append(
            RefinedTurn(
                id, session, time, role, trust, text, speaker, branch, tool, line, offset, ref
            )
        )
    for call, ok, result, lines, time in results:
        text = redact_text(result, redactor, done.redacted)
        events.append(RefinedResult(session, call, ok, text, lines, time, line))
    if len(events) > before or title:
        done.captured.add(line)
    else:
        done.skipped[left_out.value] += 1


def redact_turn(
    turn: DraftTurn, rules: Rules, root: str, redactor: Redactor, taken: Counter[str]
) -> tuple[str, ToolCall | None] | Skip:
    """The words and the tool call that may be kept, or why neither may."""
    tool = turn.tool
    if tool is None:
        text = redact_text(turn.text, redactor, taken)
        if "[redacted:private]" in text[:200] and _ONLY_PRIVATE.match(text):
            return Skip.PRIVATE
        return text, None
    if (rules.tools or rules.paths) and rules.excludes(tool, root):
        return Skip.EXCLUDED
    before = f"{tool.target}\n{tool.action}"
    after = redact_text(before, redactor, taken)
    if after != before:
        target, _, action = after.partition("\n")
        tool = ToolCall(tool.name, target, tool.lines, action, call=tool.call)
    return "", tool


def redact_text(text: str, redactor: Redactor, taken: Counter[str]) -> str:
    if not text:
        return text
    redacted = redactor.redact(text)
    if redacted.taken:
        taken.update(redacted.taken)
    return redacted.text
