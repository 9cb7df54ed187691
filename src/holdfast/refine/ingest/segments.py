"""Reading and refining by many hands: segments go out to processes, and come back in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from holdfast.model.ledger import Skip
from holdfast.refine.core.executor import Executor
from holdfast.refine.ingest.read_plan import Job
from holdfast.refine.ingest.turns import Refined, Rules, refine
from holdfast.sources.byte_source import Openable
from holdfast.sources.fingerprint import fingerprint
from holdfast.sources.lines import Segment, read_lines, segments
from holdfast.sources.source_files import reopen

# Below this a second process costs more than it brings.
POOL_FROM_BYTES = 8 * 1024 * 1024


class Piece(NamedTuple):
    """One segment read: where it started, what it gave, where its job stands after it."""

    job: Job
    start: int
    refined: Refined
    prefix: str
    last: bool


def read_jobs(jobs: Iterable[Job], rules: Rules, crew: Executor) -> Iterator[Piece]:
    """Read every job, segment by segment, in order; here what nobody of the crew could do."""
    parts = ((job, segment, rules) for job, segment in _segments(jobs))
    for part, read in crew.map(_read, parts):
        job, segment, _ = part
        yield _piece(job, segment, _read(part) if read is None else read)


def _read(part: tuple[Job, Segment, Rules]) -> tuple[Refined, str]:
    return read_segment(*part)


def _piece(job: Job, segment: Segment, read: tuple[Refined, str]) -> Piece:
    return Piece(job, segment.start, *read, last=segment.stop >= job.size)


def _segments(jobs: Iterable[Job]) -> Iterator[tuple[Job, Segment]]:
    for job in jobs:
        try:
            parts = list(segments(_opened(job), job.start, job.size))
        except OSError:
            continue  # it vanished since we looked; the next look will notice
        for segment in parts or [Segment(job.start, job.start)]:
            yield job, segment


def read_segment(job: Job, segment: Segment, rules: Rules) -> tuple[Refined, str]:
    """Refine one segment; runs in any process. A file that fails under us gives nothing yet."""
    try:
        opened = _opened(job)
        lines = read_lines(opened, segment)
        if job.excluded:
            refined = _leave_out(Refined(stop=segment.start), segment, opened)
        else:
            refined = refine(lines, segment.start, job.file, rules)
        return refined, fingerprint(opened, refined.stop)
    except OSError:
        return Refined(stop=segment.start), ""


def _opened(job: Job) -> Openable:
    return reopen(Path(job.file.path), job.file.agent, job.stamp)


def _leave_out(refined: Refined, segment: Segment, opened: Openable) -> Refined:
    """Lines of a project that must not be remembered are counted, and nothing else."""
    for line in read_lines(opened, segment):
        if line.ended:
            refined.lines += 1
            refined.stop = line.offset + line.length
    refined.skipped = Counter({Skip.EXCLUDED.value: refined.lines})
    return refined
