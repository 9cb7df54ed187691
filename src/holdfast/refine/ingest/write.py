"""Refined lines go into the store: placed, deduplicated, joined with their results, accounted.

One transaction per run of lines holds the turns, the ledger and the cursor together. After a
crash a run is there whole or not at all; read twice, it is written once, because ids are
hashes of content. If another process moved the cursor first, nothing of this run is kept.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime

from holdfast.model.ledger import FailedLine, Skip
from holdfast.model.records import Origin, Session, ToolCall, Turn
from holdfast.model.trust import Trust
from holdfast.refine.ingest.dedupe import Journalled, Transcribed
from holdfast.refine.ingest.erasure_marks import Erased, line_name
from holdfast.refine.ingest.read_plan import Job
from holdfast.refine.ingest.turns import Refined, RefinedResult, RefinedTurn, reader_of
from holdfast.sources.claude_code.events import AGENT as HOOKS
from holdfast.sources.claude_code.records import READER_VERSION
from holdfast.sources.claude_code.tools import INSIDE_TOLD, is_own
from holdfast.sources.draft import DraftSession
from holdfast.store.protocol import SourceChange, Writer


class OvertakenError(Exception):
    """Another process has read these lines already."""


@dataclass(slots=True)
class _Page:
    """The rows of one run while they are put together."""

    job: Job
    writer: Writer
    known: dict[str, Origin]
    lines_before: int
    erased: Erased
    transcribed: Transcribed | None = None
    journalled: Journalled | None = None
    turns: dict[str, Turn] = field(default_factory=dict[str, Turn])
    open_calls: dict[tuple[str, str], Turn] = field(default_factory=dict[tuple[str, str], Turn])
    places: dict[str, int] = field(default_factory=dict[str, int])
    accepted: set[int] = field(default_factory=set[int])
    refused: dict[int, Skip] = field(default_factory=dict[int, Skip])
    l1_bytes: int = 0

    @property
    def bank(self) -> str:
        return self.job.source.bank

    def place(self, session: str) -> int:
        if session not in self.places:
            self.places[session] = self.writer.next_seq(self.bank, session)
        place = self.places[session]
        self.places[session] = place + 1
        return place

    def keep(self, turn: Turn) -> None:
        self.turns[turn.id] = turn
        if turn.tool is not None and turn.tool.call:
            self.open_calls[turn.session, turn.tool.call] = turn


def write(
    writer: Writer, job: Job, refined: Refined, position: int, prefix: str, stamp: str, now: str
) -> SourceChange:
    """Store one run of lines that started at `position`; returns the account of it."""
    with writer.transaction():
        source = writer.source(job.source.id)
        if source is None or source.offset != position:
            raise OvertakenError
        ids = [event.id for event in refined.events if isinstance(event, RefinedTurn)]
        known = writer.known_turns(job.source.bank, ids)
        page = _Page(job, writer, known, source.lines, _find_erased(writer, job, refined))
        _listen(page, position)
        for event in refined.events:
            if isinstance(event, RefinedTurn):
                _place_turn(page, event)
            else:
                _join_result(page, event)
        for session in _sessions(page, refined):
            writer.add_session(session)
        writer.put_turns(page.turns.values())
        change = _account(page, refined, position, prefix, stamp, now)
        writer.advance(change)
    return change


def _find_erased(writer: Writer, job: Job, refined: Refined) -> Erased:
    """What of a run of lines was erased earlier, and stays away."""
    names = [("session", id) for id in refined.sessions]
    names += [("title", id) for id in refined.sessions]
    for event in refined.events:
        if isinstance(event, RefinedTurn):
            names += [("turn", event.id), ("session", event.session)]
            names.append(("line", line_name(job.file.path, event.offset)))
        else:
            names.append(("call", event.call))
    names += [("line", line_name(job.file.path, offset)) for _, offset, _, _ in refined.failed]
    return Erased(writer, job.source.bank, names)


def _stays_away(page: _Page, event: RefinedTurn) -> bool:
    """Whether a turn was erased for good. One that was only scrubbed is known, and kept as it
    is."""
    if event.id in page.known:
        return False
    line = line_name(page.job.file.path, event.offset)
    named = (("turn", event.id), ("session", event.session), ("line", line))
    return any(page.erased.has(kind, name) for kind, name in named)


def _listen(page: _Page, position: int) -> None:
    """Mind what may have come the other way already: from a transcript, or from its hooks."""
    job, writer = page.job, page.writer
    if job.source.agent == HOOKS:
        page.transcribed = Transcribed(writer, page.bank, job.file, position)
        return
    journal = writer.source_at(job.journal) if job.journal else None
    if journal is not None and journal.l1_bytes and journal.bank == page.bank:
        page.journalled = Journalled(writer, journal, job.source)


def _place_turn(page: _Page, event: RefinedTurn) -> None:
    if _stays_away(page, event):
        page.refused[event.line] = Skip.ERASED
        return
    line = page.lines_before + event.line
    origin = Origin(page.job.source.id, line, event.offset, event.ref)
    known = page.known.get(event.id)
    # Known from this very file at line 0: the file was rewritten, and only the place is new.
    met_again = known is not None and known.source == origin.source and known.line == 0
    told = page.journalled.take(event) if page.journalled and not met_again else None
    if told is not None:
        page.refused[event.line] = Skip.DUPLICATE
        page.keep(replace(told, origin=origin))
        return
    repeated = page.transcribed is not None and page.transcribed.repeats(event)
    if event.id in page.turns or ((repeated or known is not None) and not met_again):
        page.refused[event.line] = Skip.DUPLICATE
        return
    page.accepted.add(event.line)
    page.l1_bytes += _turn_bytes(event.text, event.tool)
    if met_again:
        found = page.writer.turn(page.bank, event.id)
        if found is not None:
            page.keep(replace(found, origin=origin))
        return
    page.keep(
        Turn(
            page.bank,
            event.id,
            event.session,
            page.place(event.session),
            event.time,
            event.role,
            event.trust,
            event.text,
            event.speaker,
            event.branch,
            event.tool,
            origin,
        )
    )


def _turn_bytes(text: str, tool: ToolCall | None) -> int:
    if tool is None:
        return len(text.encode("utf-8", "replace"))
    whole = tool.name + tool.target + tool.lines + tool.action
    return len(whole.encode("utf-8", "replace"))


def _join_result(page: _Page, event: RefinedResult) -> None:
    if page.erased.has("call", event.call) or page.erased.has("session", event.session):
        page.refused[event.line] = Skip.ERASED
        return
    turn = page.open_calls.get((event.session, event.call))
    if turn is None:
        turn = page.writer.call(page.bank, event.session, event.call)
    if turn is None or turn.tool is None:
        known = page.writer.knows_call(page.bank, event.call)
        page.refused[event.line] = Skip.DUPLICATE if known else Skip.ORPHAN_RESULT
        return
    tool = turn.tool
    if tool.ok is not None and turn.origin.source != page.job.source.id:
        page.refused[event.line] = Skip.DUPLICATE
        return
    page.accepted.add(event.line)
    page.l1_bytes += len(event.result.encode("utf-8", "replace"))
    joined = ToolCall(
        tool.name,
        tool.target,
        event.lines or tool.lines,
        tool.action,
        event.result,
        event.ok,
        _duration_ms(turn.time, event.time),
        tool.call,
    )
    inside = event.result == INSIDE_TOLD and is_own(tool.name)
    page.keep(replace(turn, tool=joined, trust=Trust.TOOL if inside else turn.trust))


def _duration_ms(start: str, end: str) -> int | None:
    if not start or not end:
        return None
    spent = datetime.fromisoformat(end) - datetime.fromisoformat(start)
    return max(0, round(spent.total_seconds() * 1000))


def _sessions(page: _Page, refined: Refined) -> list[Session]:
    """The sessions that got something, with the span of what they got."""
    times: dict[str, list[str]] = {}
    for turn in page.turns.values():
        times.setdefault(turn.session, []).append(turn.time)
    found: list[Session] = []
    for id, draft in refined.sessions.items():
        if page.erased.has("session", id):
            continue
        if page.erased.has("title", id):
            draft = draft._replace(title="")
        if id not in times and not draft.title:
            continue  # all of it was in another file: a fork that has not gone its own way yet
        if id not in times:
            # Only its title is kept: lines of which nothing came tell nothing of it either, or
            # it would matter whether the title was read together with them.
            draft = DraftSession(draft.id, draft.host, title=draft.title)
        known = sorted(filter(None, times.get(id, ())))
        session = Session(
            bank=page.bank,
            id=id,
            host=draft.host,
            agent=reader_of(page.job.source.agent).host,
            parent=draft.parent,
            subagent=draft.subagent,
            title=draft.title,
            cwd=draft.cwd,
            branch=draft.branch,
            version=draft.version,
            started=known[0] if known else "",
            ended=known[-1] if known else "",
            source=page.job.source.id,
        )
        found.append(session)
    return found


def _account(
    page: _Page, refined: Refined, position: int, prefix: str, stamp: str, now: str
) -> SourceChange:
    titles = {line for line in refined.captured if line not in page.refused}
    captured = titles | page.accepted
    skipped = Counter(refined.skipped)
    for line, reason in page.refused.items():
        if line not in captured:
            skipped[reason.value] += 1
    source = page.job.source.id
    path = page.job.file.path
    failed = [
        FailedLine(
            source,
            page.lines_before + line,
            offset,
            reason,
            "" if page.erased.has("line", line_name(path, offset)) else excerpt,
            READER_VERSION,
        )
        for line, offset, reason, excerpt in refined.failed
    ]
    return SourceChange(
        source=source,
        seen_offset=position,
        offset=refined.stop,
        prefix=prefix,
        stamp=stamp,
        lines=refined.lines,
        l1_bytes=page.l1_bytes,
        captured=len(captured),
        skipped=dict(skipped),
        failed=failed,
        redacted=dict(refined.redacted),
        read_at=now,
    )
