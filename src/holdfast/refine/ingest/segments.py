"""Reads and refines segments of files, in parallel if there are processes, and in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from holdfast.model.ledgers.lines import SkipReason
from holdfast.refine.core.executor import Executor
from holdfast.refine.ingest.read_plan import Job
from holdfast.refine.ingest.turns import PrivacyRules, RefinedLines, refine_lines
from holdfast.sources.fingerprint import fingerprint
from holdfast.sources.lines import Line, Openable, Segment, read_lines, segments
from holdfast.sources.source_files import reopen_source

# With less to read, starting processes takes longer than it saves.
MIN_POOL_BYTES = 8 * 1024 * 1024


class ReadSegment(NamedTuple):
    """One segment after reading: where it started, its refined lines, and the fingerprint of the
    file up to its end ("" if it could not be read)."""

    job: Job
    start: int
    refined: RefinedLines
    prefix: str
    last: bool


def read_jobs(
    jobs: Iterable[Job], rules: PrivacyRules, executor: Executor
) -> Iterator[ReadSegment]:
    """Read every job, segment by segment, in order. What the executor could not do is read here."""
    parts = ((job, segment, rules) for job, segment in _segments(jobs))
    for part, result in executor.map(_read_segment, parts):
        job, segment, _ = part
        refined, prefix = _read_segment(part) if result is None else result
        yield ReadSegment(job, segment.start, refined, prefix, segment.stop >= job.size)


def _segments(jobs: Iterable[Job]) -> Iterator[tuple[Job, Segment]]:
    for job in jobs:
        try:
            parts = list(segments(_open_source(job), job.start, job.size))
        except OSError:
            continue  # it vanished after it was planned; the next run notices
        for segment in parts or [Segment(job.start, job.start)]:
            yield job, segment


def _read_segment(part: tuple[Job, Segment, PrivacyRules]) -> tuple[RefinedLines, str]:
    """Refine one segment, in any process; returns its lines and the file's fingerprint up to its
    end. A file that cannot be read gives no lines and ""."""
    job, segment, rules = part
    try:
        opened = _open_source(job)
        lines = read_lines(opened, segment)
        if job.excluded:
            refined = _count_excluded(lines, segment.start)
        else:
            refined = refine_lines(lines, segment.start, job.file, rules)
        return refined, fingerprint(opened, refined.stop)
    except OSError:
        return RefinedLines(stop=segment.start), ""


def _open_source(job: Job) -> Openable:
    return reopen_source(Path(job.file.path), job.file.agent, job.stamp)


def _count_excluded(lines: Iterable[Line], start: int) -> RefinedLines:
    """Count the lines of a segment of an excluded project, without looking at them."""
    refined = RefinedLines(stop=start)
    for line in lines:
        if line.ended:
            refined.lines += 1
            refined.stop = line.offset + line.length
    refined.skipped = Counter({SkipReason.EXCLUDED.value: refined.lines})
    return refined
