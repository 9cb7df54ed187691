"""Ingest: read what is new, store it, derive what follows from it, and give an account.

Can be stopped anywhere and run again: it goes on where it was. Two at once share the work
badly but do no harm. By many hands (`crew`) or alone, what is stored is the same; only who runs
this writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from holdfast.model.ledger import Skip, Source
from holdfast.refine.core.bank_making import BankMaker
from holdfast.refine.core.executor import Executor, NoExecutor, ProcessExecutor
from holdfast.refine.ingest.read_plan import Input, Job, Planner, note_gone
from holdfast.refine.ingest.segments import POOL_FROM_BYTES, read_jobs
from holdfast.refine.ingest.turns import Rules
from holdfast.refine.ingest.write import OvertakenError, write
from holdfast.refine.sessions.derive import derive_stale
from holdfast.refine.sessions.parallel_derive import derive_by
from holdfast.sources.source_files import look
from holdfast.store.protocol import Reader, SourceChange, Writer


@dataclass(slots=True)
class Account:
    """What a run of ingest did."""

    files_seen: int = 0
    files_read: int = 0
    bytes_read: int = 0
    lines: int = 0
    captured: int = 0
    skipped: int = 0
    failed: int = 0
    # Of those that were skipped: lines of a kind that this version does not know.
    unknown: int = 0
    redacted: int = 0
    sessions: int = 0
    gone: list[Source] = field(default_factory=list[Source])


# Called with the bytes done so far and the bytes in all.
Progress = Callable[[int, int], None]


def estimate(reader: Reader, inputs: Iterable[Input]) -> list[tuple[Input, int]]:
    """The files with something new in them and how many bytes that is; writes nothing."""
    found: list[tuple[Input, int]] = []
    for item in inputs:
        known = reader.source_at(str(item.path))
        try:
            seen = look(item.path, item.agent)
            if known is not None and seen.is_same(known.stamp):
                continue
            size = seen.size
        except OSError:
            continue
        new = size if known is None or size < known.offset else size - known.offset
        if new:
            found.append((item, new))
    return found


def ingest(
    writer: Writer,
    banks: BankMaker,
    inputs: Iterable[Input],
    rules: Rules,
    now: Callable[[], str],
    workers: int = 1,
    progress: Progress = lambda done, total: None,
    crew: Executor | None = None,
    tick: Callable[[int], None] = lambda sessions: None,
) -> Account:
    """Read the inputs into the store: files by so many processes, and what follows from them by
    these, or by a crew that is given. `tick` is told how many sessions are done."""
    inputs = list(inputs)
    account = Account(files_seen=len(inputs))
    planner = Planner(writer, banks)
    jobs = [job for item in inputs if (job := planner.plan(item))]
    account.gone = note_gone(writer)
    total = sum(job.size - job.start for job in jobs)
    own = ProcessExecutor(workers) if workers > 1 and total >= POOL_FROM_BYTES else NoExecutor()
    hands = crew or own
    done = 0
    try:
        for read, whole_file in _store_pieces(writer, jobs, rules, now, own, account):
            if whole_file and hands.size == 1:
                account.sessions += derive_stale(writer)
            done += read
            progress(done, total)
        account.sessions += derive_by(hands, writer, tick)
    finally:
        own.close()
    return account


def _store_pieces(
    writer: Writer,
    jobs: list[Job],
    rules: Rules,
    now: Callable[[], str],
    crew: Executor,
    account: Account,
) -> Iterator[tuple[int, bool]]:
    """Write the pieces as they come; yields the bytes just dealt with, and whether a file
    is finished."""
    position: dict[int, int] = {}
    overtaken: set[int] = set()
    for piece in read_jobs(jobs, rules, crew):
        job, refined = piece.job, piece.refined
        source = job.source.id
        start = position.get(source)
        if start is None:
            account.files_read += 1
            start = job.source.offset
        read = refined.stop - max(start, job.start)
        if not piece.prefix or piece.start != position.get(source, job.start):
            overtaken.add(source)  # a gap: unreadable or cut just now; what follows must wait
        if source not in overtaken:
            stamp = job.stamp if piece.last else ""
            try:
                change = write(writer, job, refined, start, piece.prefix, stamp, now())
            except OvertakenError:
                overtaken.add(source)
            else:
                _add_up(account, change)
                account.bytes_read += max(read, 0)
        position[source] = refined.stop
        yield max(read, 0), piece.last


def _add_up(account: Account, change: SourceChange) -> None:
    account.lines += change.lines
    account.captured += change.captured
    account.skipped += sum(change.skipped.values())
    account.failed += len(change.failed)
    account.unknown += change.skipped.get(Skip.UNKNOWN_TYPE.value, 0)
    account.redacted += sum(change.redacted.values())
