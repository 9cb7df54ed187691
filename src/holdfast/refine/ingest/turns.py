"""L1: turns the lines of a segment into redacted turns, and records the outcome of every line.

The result depends only on the bytes, the file's description and the rules, so any process can do
it.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatch
from typing import Any, NamedTuple

import orjson

from holdfast.capture.redact import Redactor
from holdfast.model.ids import content_id
from holdfast.model.ledgers.lines import FailureReason, LineOutcome, SkipReason
from holdfast.model.records import Role, ToolCall
from holdfast.model.trust import Trust
from holdfast.refine.requests.given_titles import given_title
from holdfast.regex import regex
from holdfast.sources import conversation
from holdfast.sources.agent import skip_nothing
from holdfast.sources.claude_code import events
from holdfast.sources.draft import DraftSession, DraftTurn, FileInfo, ParsedLine
from holdfast.sources.lines import Line
from holdfast.sources.registry import DEFAULT_AGENT, agents

# Bytes of an unreadable line that are kept, so that a person can see what it was.
MAX_EXCERPT_BYTES = 2000
# A text that consists of nothing but private parts starts with their mark within so many
# characters; a cheap check before the pattern runs.
_PRIVATE_MARK_WITHIN = 200
# Escapes of half a UTF-16 pair, which no parser accepts.
_LONE_SURROGATE = regex(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
_PATH_SEPARATOR = regex(r"[\s\"'=:,;|&()<>{}\[\]]+")
_LAST_WORD = regex(r"[^\s\"',\[\]{}]{1,200}\Z")
_ONLY_PRIVATE = regex(r"(?:\s|\[redacted:private\])*\Z")


class SourceReader(NamedTuple):
    """The functions that read the lines of one kind of source."""

    read: Callable[[dict[str, Any], FileInfo], ParsedLine]
    # Why a line is skipped without being parsed, or None.
    skip: Callable[[bytes], SkipReason | None]
    # Removes large parts of a line that nothing is read from, before it is parsed.
    shorten: Callable[[bytes], bytes]
    # What a line says about its session.
    describe: Callable[[dict[str, Any], FileInfo], DraftSession]
    # The agent that the sessions belong to.
    host: str


# Sources other than the agents' own files: journals of hook events, and imported dialogues.
_OTHER_READERS = {
    events.AGENT: SourceReader(
        events.read_record, skip_nothing, bytes, events.describe_session, DEFAULT_AGENT
    ),
    conversation.AGENT: SourceReader(
        conversation.read_record,
        skip_nothing,
        bytes,
        conversation.describe_session,
        conversation.AGENT,
    ),
}


def source_reader(agent: str) -> SourceReader:
    """The functions that read the lines of an agent's files."""
    known = agents().get(agent)
    if known is None:
        return _OTHER_READERS[agent]
    return SourceReader(
        known.read_record, known.skip_line, known.shorten_line, known.session_of_record, known.name
    )


@dataclass(frozen=True, slots=True)
class PrivacyRules:
    """What must not be stored: patterns of secrets, and tools and paths that the settings exclude.
    Those built into the redactor apply always."""

    patterns: tuple[tuple[str, str], ...] = ()
    tools: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    def excludes(self, tool: ToolCall, root: str) -> bool:
        """Whether a tool call is left out: because of its name, its target, or a path that its
        command mentions."""
        if self.tools and any(fnmatch(tool.name, pattern) for pattern in self.tools):
            return True
        if not self.paths:
            return False
        named = [tool.target, *_PATH_SEPARATOR.split(tool.action)]
        paths = [path.replace("\\", "/").removeprefix("./") for path in named if path]
        whole = [*paths, *(f"{root}/{path}" for path in paths)]
        patterns = [
            p for given in self.paths for p in (given.rstrip("/"), given.rstrip("/") + "/*")
        ]
        return any(fnmatch(path.rstrip("/"), pattern) for path in whole for pattern in patterns)


class RefinedTurn(NamedTuple):
    """A turn without its bank, its position in the session and its source, which `write` adds."""

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
    """The result of an earlier tool call in the same session."""

    session: str
    call: str
    ok: bool
    result: str
    lines: str
    time: str
    line: int


@dataclass(slots=True)
class RefinedLines:
    """The turns and results of a run of lines, and the outcome of each line. Line numbers count
    from 1 within the run; `stop` is the offset after the last complete line. `captured` are line
    numbers, `skipped` and `redacted` count by reason, `failed` has line number, offset, reason and
    excerpt."""

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


def refine_lines(
    lines: Iterable[Line], start: int, file: FileInfo, rules: PrivacyRules
) -> RefinedLines:
    """Refine every line of a run. An incomplete last line is left for the next run."""
    # Parsed JSON has no cycles, and looking for them took a quarter of the time.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return _refine(lines, start, file, rules)
    finally:
        if was_enabled:
            gc.enable()


def _refine(lines: Iterable[Line], start: int, file: FileInfo, rules: PrivacyRules) -> RefinedLines:
    done = RefinedLines(stop=start)
    redactor = Redactor(rules.patterns)
    reader = source_reader(file.agent)
    skipped = done.skipped
    captured = LineOutcome.CAPTURED
    for offset, length, data, ended, too_large in lines:
        if not ended and not _is_whole_object(data):
            break
        done.lines += 1
        done.stop = offset + length
        reason = reader.skip(data)
        if reason is not None:
            skipped[reason] += 1
            continue
        record: Any = FailureReason.TOO_LARGE if too_large else parse_line(reader.shorten(data))
        if record.__class__ is not dict:
            _record_failure(record, data, offset, redactor, done)
            continue
        reading = _read_record(reader, record, file)
        if reading.outcome is captured:
            if reading.title:
                title = redact_text(given_title(reading.title), redactor, done.redacted)
                reading = reading._replace(title=title)
            known = done.sessions.get(reading.session)
            if known is None or not known.cwd or reading.title:
                _update_session(done.sessions, reading, record, file, redactor)
            _add_events(reading, offset, rules, file.root, redactor, done)
        elif reading.outcome is LineOutcome.SKIPPED:
            skipped[reading.reason] += 1
        else:
            _record_failure(FailureReason(reading.reason), data, offset, redactor, done)
    done.skipped = Counter({str(reason): count for reason, count in skipped.items()})
    return done


def _read_record(reader: SourceReader, record: dict[str, Any], file: FileInfo) -> ParsedLine:
    try:
        return reader.read(record, file)
    except RecursionError:
        return ParsedLine(LineOutcome.FAILED, FailureReason.TOO_DEEP.value)


def _is_whole_object(data: bytes) -> bool:
    """Whether a last line without a newline is complete: no prefix of an object parses."""
    try:
        return isinstance(orjson.loads(data), dict)
    except orjson.JSONDecodeError:
        return False


def parse_line(data: bytes) -> Any:
    """The value on a line, None for a blank line, or the `Failure` why it cannot be parsed."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return _parse_leniently(data)


def _parse_leniently(data: bytes) -> Any:
    """Parse a line with bytes that are not UTF-8 or half characters, which become U+FFFD."""
    if not data.strip():
        return None
    text = _LONE_SURROGATE.sub(r"\\ufffd", data.decode("utf-8-sig", "replace"))
    try:
        return orjson.loads(text.replace("\x00", ""))
    except orjson.JSONDecodeError as error:
        message = str(error).lower()
        too_deep = "depth" in message or "recursion" in message
        return FailureReason.TOO_DEEP if too_deep else FailureReason.NOT_JSON


def _record_failure(
    found: object, data: bytes, offset: int, redactor: Redactor, done: RefinedLines
) -> None:
    """Count a blank line as skipped, and anything else that is not an object as failed."""
    if found is None and not data.strip():
        done.skipped[SkipReason.BLANK.value] += 1
        return
    reason = found if isinstance(found, FailureReason) else FailureReason.NOT_AN_OBJECT
    text = data[:MAX_EXCERPT_BYTES].decode("utf-8", "replace").replace('\\"', '"')
    if len(data) > MAX_EXCERPT_BYTES:
        text = _LAST_WORD.sub("", text)  # half a secret would not be recognised
    excerpt = redact_text(text.strip(), redactor, done.redacted)
    done.failed.append((done.lines, offset, reason.value, excerpt))


def _update_session(
    sessions: dict[str, DraftSession],
    reading: ParsedLine,
    record: dict[str, Any],
    file: FileInfo,
    redactor: Redactor,
) -> None:
    """Describe a session by its first line with a folder; a later line may add a title."""
    known = sessions.get(reading.session)
    if known is None or not known.cwd:
        described = source_reader(file.agent).describe(record, file)
        described = described._replace(title=given_title(described.title))
        new = DraftSession(*(redactor.redact(part).text for part in described))
        title = reading.title or (known.title if known else "") or new.title
        sessions[reading.session] = new._replace(title=title)
    elif reading.title:
        sessions[reading.session] = known._replace(title=reading.title)


def _add_events(
    reading: ParsedLine,
    offset: int,
    rules: PrivacyRules,
    root: str,
    redactor: Redactor,
    done: RefinedLines,
) -> None:
    """Add the turns and results of one line, redacted, and record its outcome."""
    line = done.lines
    events = done.events
    before = len(events)
    skip_reason = SkipReason.EMPTY
    _, _, session, branch, turns, results, ref, title = reading
    branch = redactor.redact_name(branch) if branch else branch
    for turn in turns:
        redacted = redact_turn(turn, rules, root, redactor, done.redacted)
        if isinstance(redacted, SkipReason):
            skip_reason = redacted
            continue
        text, tool = redacted
        key, time, role, trust, _, speaker, _ = turn
        speaker = redactor.redact_name(speaker) if speaker else speaker
        id = content_id(*key)
        found = (id, session, time, role, trust, text, speaker, branch, tool, line, offset, ref)
        events.append(RefinedTurn(*found))
    for call, ok, result, lines, time in results:
        text = redact_text(result, redactor, done.redacted)
        events.append(RefinedResult(session, call, ok, text, lines, time, line))
    if len(events) > before or title:
        done.captured.add(line)
    else:
        done.skipped[skip_reason.value] += 1


def redact_turn(
    turn: DraftTurn, rules: PrivacyRules, root: str, redactor: Redactor, taken: Counter[str]
) -> tuple[str, ToolCall | None] | SkipReason:
    """The redacted text or tool call of a turn, or why it must not be stored. What was redacted is
    counted in `taken`."""
    tool = turn.tool
    if tool is None:
        text = redact_text(turn.text, redactor, taken)
        if "[redacted:private]" in text[:_PRIVATE_MARK_WITHIN] and _ONLY_PRIVATE.match(text):
            return SkipReason.PRIVATE
        return text, None
    if (rules.tools or rules.paths) and rules.excludes(tool, root):
        return SkipReason.EXCLUDED
    before = f"{tool.target}\n{tool.action}"
    after = redact_text(before, redactor, taken)
    if after != before:
        target, _, action = after.partition("\n")
        tool = ToolCall(tool.name, target, tool.lines, action, call=tool.call)
    return "", tool


def redact_text(text: str, redactor: Redactor, taken: Counter[str]) -> str:
    """The text without secrets; what was redacted is counted in `taken`."""
    if not text:
        return text
    redacted = redactor.redact(text)
    if redacted.counts:
        taken.update(redacted.counts)
    return redacted.text
