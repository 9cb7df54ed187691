"""Ingest: reads what is new in files, stores it, derives sessions from it, and reports.

It can be stopped at any point and run again, and continues where it was. Two runs at once waste
work but do no harm. The stored rows are the same with one process or many; only the process that
calls this writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from holdfast.model.ledgers.lines import SkipReason
from holdfast.refine.core.banks import BankMaker
from holdfast.refine.core.executor import Executor, NoExecutor, ProcessExecutor
from holdfast.refine.ingest.ingest_report import IngestReport
from holdfast.refine.ingest.read_plan import Input, Job, ReadPlanner, mark_missing_sources
from holdfast.refine.ingest.segments import MIN_POOL_BYTES, read_jobs
from holdfast.refine.ingest.turns import PrivacyRules
from holdfast.refine.ingest.write import OvertakenError, write_lines
from holdfast.refine.sessions.derive import derive_stale
from holdfast.refine.sessions.parallel_derive import derive_in_parallel
from holdfast.sources.source_files import source_snapshot
from holdfast.store.protocol import Reader, Writer
from holdfast.store.records.sources import SourceChange

# Called with the bytes read so far and the bytes in total.
Progress = Callable[[int, int], None]


def estimate(reader: Reader, inputs: Iterable[Input]) -> list[tuple[Input, int]]:
    """The files with something new and how many new bytes they have. Writes nothing."""
    found: list[tuple[Input, int]] = []
    for item in inputs:
        known = reader.sources.at_path(str(item.path))
        try:
            seen = source_snapshot(item.path, item.agent)
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
    rules: PrivacyRules,
    now: Callable[[], str],
    workers: int = 1,
    progress: Progress = lambda done, total: None,
    executor: Executor | None = None,
    on_session: Callable[[int], None] = lambda sessions: None,
) -> IngestReport:
    """Read the inputs into the store with so many processes, then derive the changed sessions with
    `executor`, or with the same processes if none is given. `on_session` is called with the number
    of sessions derived so far."""
    inputs = list(inputs)
    report = IngestReport(files_seen=len(inputs))
    planner = ReadPlanner(writer, banks)
    jobs = [job for item in inputs if (job := planner.plan(item))]
    report.gone = mark_missing_sources(writer)
    total = sum(job.size - job.start for job in jobs)
    own = ProcessExecutor(workers) if workers > 1 and total >= MIN_POOL_BYTES else NoExecutor()
    derivers = executor or own
    done = 0
    try:
        for read, whole_file in _write_segments(writer, jobs, rules, now, own, report):
            if whole_file and derivers.size == 1:
                report.sessions += derive_stale(writer)
            done += read
            progress(done, total)
        report.sessions += derive_in_parallel(derivers, writer, on_session)
    finally:
        own.close()
    return report


def _write_segments(
    writer: Writer,
    jobs: list[Job],
    rules: PrivacyRules,
    now: Callable[[], str],
    executor: Executor,
    report: IngestReport,
) -> Iterator[tuple[int, bool]]:
    """Write segments as they are read; yields their bytes, and whether their file is finished."""
    position: dict[int, int] = {}
    overtaken: set[int] = set()
    for segment in read_jobs(jobs, rules, executor):
        job, refined = segment.job, segment.refined
        source = job.source.id
        start = position.get(source)
        if start is None:
            report.files_read += 1
            start = job.source.offset
        read = refined.stop - max(start, job.start)
        if not segment.prefix or segment.start != position.get(source, job.start):
            overtaken.add(source)  # a gap: it became unreadable or shrank; the rest must wait
        if source not in overtaken:
            stamp = job.stamp if segment.last else ""
            try:
                change = write_lines(writer, job, refined, start, segment.prefix, stamp, now())
            except OvertakenError:
                overtaken.add(source)
            else:
                _add_change(report, change)
                report.bytes_read += max(read, 0)
        position[source] = refined.stop
        yield max(read, 0), segment.last


def _add_change(report: IngestReport, change: SourceChange) -> None:
    report.lines += change.lines
    report.captured += change.captured
    report.skipped += sum(change.skipped.values())
    report.failed += len(change.failed)
    report.unknown += change.skipped.get(SkipReason.UNKNOWN_TYPE.value, 0)
    report.redacted += sum(change.redacted.values())
