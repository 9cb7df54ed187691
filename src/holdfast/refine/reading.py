"""Reading and refining on all cores: segments go out to processes, come back in order.

Only a few segments are under way at once, so memory stays bounded whatever the files' size.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from holdfast.errors import HoldfastError
from holdfast.model.ledger import Skip
from holdfast.refine.plan import Job
from holdfast.refine.turns import Refined, Rules, refine
from holdfast.sources.fingerprint import fingerprint
from holdfast.sources.lines import Segment, read_lines, segments

# Below this a second process costs more than it brings.
POOL_FROM_BYTES = 8 * 1024 * 1024


class Piece(NamedTuple):
    """One segment read: where it started, what it gave, where its job stands after it."""

    job: Job
    start: int
    refined: Refined
    prefix: str
    last: bool


def read_jobs(jobs: Iterable[Job], rules: Rules, workers: int) -> Iterator[Piece]:
    """Read every job, segment by segment, in order."""
    if workers <= 1:
        for job, segment in _segments(jobs):
            yield _piece(job, segment, read_segment(job, segment, rules))
        return
    # Fresh processes: a fork would inherit the parent's open database.
    context = multiprocessing.get_context("spawn")
    with deaf():
        pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_enter_worker)
    with pool:
        waiting: deque[tuple[Job, Segment, Future[tuple[Refined, str]]]] = deque()
        try:
            for job, segment in _segments(jobs):
                # Whether this starts a process is for the pool to say.
                with deaf():
                    future = pool.submit(read_segment, job, segment, rules)
                waiting.append((job, segment, future))
                if len(waiting) > workers + 1:
                    first, run, future = waiting.popleft()
                    yield _piece(first, run, future.result())
            while waiting:
                first, run, future = waiting.popleft()
                yield _piece(first, run, future.result())
        except BrokenProcessPool as error:
            raise HoldfastError(
                "A process that was reading has been killed, perhaps for want of memory.",
                "Run the same command again; it goes on where it was. --workers 1 needs less.",
            ) from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def deaf() -> Generator[None]:
    """Processes started in here do not hear Ctrl-C: the one that the user talks to stops them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _piece(job: Job, segment: Segment, read: tuple[Refined, str]) -> Piece:
    return Piece(job, segment.start, *read, last=segment.stop >= job.size)


def _enter_worker() -> None:
    """Yield to the user's own work, and never outlive the process that asked."""
    if hasattr(os, "nice"):
        os.nice(5)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _segments(jobs: Iterable[Job]) -> Iterator[tuple[Job, Segment]]:
    for job in jobs:
        try:
            parts = list(segments(Path(job.file.path), job.start, job.size))
        except OSError:
            continue  # it vanished since we looked; the next look will notice
        for segment in parts or [Segment(job.start, job.start)]:
            yield job, segment


def read_segment(job: Job, segment: Segment, rules: Rules) -> tuple[Refined, str]:
    """Refine one segment; runs in any process. A file that fails under us gives nothing yet."""
    path = Path(job.file.path)
    try:
        lines = read_lines(path, segment)
        if job.excluded:
            refined = _leave_out(Refined(stop=segment.start), segment, path)
        else:
            refined = refine(lines, segment.start, job.file, rules)
        return refined, fingerprint(path, refined.stop)
    except OSError:
        return Refined(stop=segment.start), ""


def _leave_out(refined: Refined, segment: Segment, path: Path) -> Refined:
    """Lines of a project that must not be remembered are counted, and nothing else."""
    for line in read_lines(path, segment):
        if line.ended:
            refined.lines += 1
            refined.stop = line.offset + line.length
    refined.skipped = Counter({Skip.EXCLUDED.value: refined.lines})
    return refined
