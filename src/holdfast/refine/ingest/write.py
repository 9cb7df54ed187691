"""Writes refined lines to the store: deduplicates turns, numbers them, and joins tool results.

One transaction per run of lines holds the turns, the ledger and the cursor. After a crash a run is
stored completely or not at all. A run that is read twice is written once, because ids are hashes of
content. If another process has moved the cursor, nothing of the run is stored.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime

from holdfast.model.ledgers.lines import FailedLine, SkipReason
from holdfast.model.records import Origin, Session, ToolCall, Turn
from holdfast.model.trust import Trust
from holdfast.refine.ingest.dedupe import JournalDeduplicator, TranscriptDeduplicator
from holdfast.refine.ingest.erasure_marks import ErasedNames, line_name
from holdfast.refine.ingest.read_plan import Job
from holdfast.refine.ingest.turns import RefinedLines, RefinedResult, RefinedTurn, source_reader
from holdfast.sources.claude_code.events import AGENT as HOOKS
from holdfast.sources.claude_code.records import READER_VERSION
from holdfast.sources.claude_code.tools import ANSWERED_FROM_MEMORY, is_own
from holdfast.sources.draft import DraftSession
from holdfast.store.protocol import Writer
from holdfast.store.records.sources import SourceChange


class OvertakenError(Exception):
    """Another process has already read these lines."""


@dataclass(slots=True)
class _Batch:
    """The rows of one run of lines while they are collected."""

    job: Job
    writer: Writer
    # Turns of this run that are stored already, by id.
    known: dict[str, Origin]
    # Lines of the file before this run.
    lines_before: int
    erased: ErasedNames
    # One of them is set where the same session has another source that may hold the same turns.
    journal_dedupe: JournalDeduplicator | None = None
    transcript_dedupe: TranscriptDeduplicator | None = None
    turns: dict[str, Turn] = field(default_factory=dict[str, Turn])
    # Tool calls of this run by session and call id.
    calls: dict[tuple[str, str], Turn] = field(default_factory=dict[tuple[str, str], Turn])
    # The next free position in each session.
    next_seq: dict[str, int] = field(default_factory=dict[str, int])
    # Line numbers that gave something to store, and those that did not, with the reason.
    accepted: set[int] = field(default_factory=set[int])
    refused: dict[int, SkipReason] = field(default_factory=dict[int, SkipReason])
    l1_bytes: int = 0

    @property
    def bank(self) -> str:
        return self.job.source.bank

    def take_seq(self, session: str) -> int:
        if session not in self.next_seq:
            self.next_seq[session] = self.writer.turns.next_seq(self.bank, session)
        seq = self.next_seq[session]
        self.next_seq[session] = seq + 1
        return seq

    def put(self, turn: Turn) -> None:
        self.turns[turn.id] = turn
        if turn.tool is not None and turn.tool.call:
            self.calls[turn.session, turn.tool.call] = turn


def write_lines(
    writer: Writer,
    job: Job,
    refined: RefinedLines,
    position: int,
    prefix: str,
    stamp: str,
    now: str,
) -> SourceChange:
    """Store one run of lines that starts at `position`; returns the change of the ledger. Raises
    `OvertakenError` if the source was read further meanwhile."""
    with writer.transaction():
        source = writer.sources.get(job.source.id)
        if source is None or source.offset != position:
            raise OvertakenError
        ids = [event.id for event in refined.events if isinstance(event, RefinedTurn)]
        known = writer.turns.known(job.source.bank, ids)
        batch = _Batch(job, writer, known, source.lines, _find_erased_names(writer, job, refined))
        _attach_deduplicator(batch, position)
        for event in refined.events:
            if isinstance(event, RefinedTurn):
                _add_turn(batch, event)
            else:
                _join_result(batch, event)
        for session in _session_rows(batch, refined):
            writer.sessions.add(session)
        writer.turns.put(batch.turns.values())
        change = _source_change(batch, refined, position, prefix, stamp, now)
        writer.sources.advance(change)
    return change


def _find_erased_names(writer: Writer, job: Job, refined: RefinedLines) -> ErasedNames:
    names = [("session", id) for id in refined.sessions]
    names += [("title", id) for id in refined.sessions]
    for event in refined.events:
        if isinstance(event, RefinedTurn):
            names += [("turn", event.id), ("session", event.session)]
            names.append(("line", line_name(job.file.path, event.offset)))
        else:
            names.append(("call", event.call))
    names += [("line", line_name(job.file.path, offset)) for _, offset, _, _ in refined.failed]
    return ErasedNames(writer, job.source.bank, names)


def _is_erased(batch: _Batch, event: RefinedTurn) -> bool:
    """Whether a turn was erased. One that was only scrubbed is still stored, and stays."""
    if event.id in batch.known:
        return False
    line = line_name(batch.job.file.path, event.offset)
    named = (("turn", event.id), ("session", event.session), ("line", line))
    return any(batch.erased.has(kind, name) for kind, name in named)


def _attach_deduplicator(batch: _Batch, position: int) -> None:
    """Deduplicate a journal against its transcript, or a transcript against its journal."""
    job, writer = batch.job, batch.writer
    if job.source.agent == HOOKS:
        batch.journal_dedupe = JournalDeduplicator(writer, batch.bank, job.file, position)
        return
    journal = writer.sources.at_path(job.journal) if job.journal else None
    if journal is not None and journal.l1_bytes and journal.bank == batch.bank:
        batch.transcript_dedupe = TranscriptDeduplicator(writer, journal, job.source)


def _add_turn(batch: _Batch, event: RefinedTurn) -> None:
    if _is_erased(batch, event):
        batch.refused[event.line] = SkipReason.ERASED
        return
    line = batch.lines_before + event.line
    origin = Origin(batch.job.source.id, line, event.offset, event.ref)
    known = batch.known.get(event.id)
    # Stored from this file at line 0: the file was rewritten, and only the position is new.
    rewritten = known is not None and known.source == origin.source and known.line == 0
    if batch.transcript_dedupe is not None and not rewritten:
        from_journal = batch.transcript_dedupe.take_journal_turn(event)
        if from_journal is not None:
            batch.refused[event.line] = SkipReason.DUPLICATE
            batch.put(replace(from_journal, origin=origin))
            return
    repeated = batch.journal_dedupe is not None and batch.journal_dedupe.is_duplicate(event)
    if event.id in batch.turns or ((repeated or known is not None) and not rewritten):
        batch.refused[event.line] = SkipReason.DUPLICATE
        return
    batch.accepted.add(event.line)
    batch.l1_bytes += _turn_bytes(event.text, event.tool)
    if rewritten:
        found = batch.writer.turns.get_uncurated(batch.bank, event.id)
        if found is not None:
            batch.put(replace(found, origin=origin))
        return
    turn = Turn(
        batch.bank, event.id, event.session, batch.take_seq(event.session), event.time, event.role,
        event.trust, event.text, event.speaker, event.branch, event.tool, origin,
    )  # fmt: skip
    batch.put(turn)


def _turn_bytes(text: str, tool: ToolCall | None) -> int:
    if tool is None:
        return len(text.encode("utf-8", "replace"))
    whole = tool.name + tool.target + tool.lines + tool.action
    return len(whole.encode("utf-8", "replace"))


def _join_result(batch: _Batch, event: RefinedResult) -> None:
    if batch.erased.has("call", event.call) or batch.erased.has("session", event.session):
        batch.refused[event.line] = SkipReason.ERASED
        return
    turn = batch.calls.get((event.session, event.call))
    if turn is None:
        turn = batch.writer.turns.of_tool_call(batch.bank, event.session, event.call)
    if turn is None or turn.tool is None:
        known = batch.writer.turns.has_tool_call(batch.bank, event.call)
        batch.refused[event.line] = SkipReason.DUPLICATE if known else SkipReason.ORPHAN_RESULT
        return
    tool = turn.tool
    if tool.ok is not None and turn.origin.source != batch.job.source.id:
        batch.refused[event.line] = SkipReason.DUPLICATE
        return
    batch.accepted.add(event.line)
    batch.l1_bytes += len(event.result.encode("utf-8", "replace"))
    lines, duration = event.lines or tool.lines, _duration_ms(turn.time, event.time)
    joined = tool._replace(lines=lines, result=event.result, ok=event.ok, duration_ms=duration)
    inside = event.result == ANSWERED_FROM_MEMORY and is_own(tool.name)
    batch.put(replace(turn, tool=joined, trust=Trust.TOOL if inside else turn.trust))


def _duration_ms(start: str, end: str) -> int | None:
    if not start or not end:
        return None
    spent = datetime.fromisoformat(end) - datetime.fromisoformat(start)
    return max(0, round(spent.total_seconds() * 1000))


def _session_rows(batch: _Batch, refined: RefinedLines) -> list[Session]:
    """The sessions that got turns or a title, with the time span of their new turns."""
    times: dict[str, list[str]] = {}
    for turn in batch.turns.values():
        times.setdefault(turn.session, []).append(turn.time)
    found: list[Session] = []
    for id, draft in refined.sessions.items():
        if batch.erased.has("session", id):
            continue
        if batch.erased.has("title", id):
            draft = draft._replace(title="")
        if id not in times and not draft.title:
            continue  # all of it was in another file: a fork without turns of its own yet
        if id not in times:
            # Only its title is stored. Lines that gave no turn must not describe the session
            # either, or the result would depend on which lines were read together.
            draft = DraftSession(draft.id, draft.host, title=draft.title)
        known = sorted(filter(None, times.get(id, ())))
        session = Session(
            bank=batch.bank,
            id=id,
            host=draft.host,
            agent=source_reader(batch.job.source.agent).host,
            parent=draft.parent,
            subagent=draft.subagent,
            title=draft.title,
            cwd=draft.cwd,
            branch=draft.branch,
            version=draft.version,
            started=known[0] if known else "",
            ended=known[-1] if known else "",
            source=batch.job.source.id,
        )
        found.append(session)
    return found


def _source_change(
    batch: _Batch, refined: RefinedLines, position: int, prefix: str, stamp: str, now: str
) -> SourceChange:
    titles = {line for line in refined.captured if line not in batch.refused}
    captured = titles | batch.accepted
    skipped = Counter(refined.skipped)
    for line, reason in batch.refused.items():
        if line not in captured:
            skipped[reason.value] += 1
    source = batch.job.source.id
    path = batch.job.file.path
    failed: list[FailedLine] = []
    for line, offset, reason, excerpt in refined.failed:
        shown = "" if batch.erased.has("line", line_name(path, offset)) else excerpt
        number = batch.lines_before + line
        failed.append(FailedLine(source, number, offset, reason, shown, READER_VERSION))
    return SourceChange(
        source=source,
        seen_offset=position,
        offset=refined.stop,
        prefix=prefix,
        stamp=stamp,
        lines=refined.lines,
        l1_bytes=batch.l1_bytes,
        captured=len(captured),
        skipped=dict(skipped),
        failed=failed,
        redacted=dict(refined.redacted),
        read_at=now,
    )
