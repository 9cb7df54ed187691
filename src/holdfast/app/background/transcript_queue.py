"""Which transcripts the worker reads next: those of sessions with new hook events at once, and, if
the last scan is long ago, every transcript that has changed since it was read.

The result of a scan is read in batches, one per pass, so that new events do not wait for a long
history.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from holdfast.app.core.context import utc_now
from holdfast.capture.home_paths import HomePaths
from holdfast.model.ledgers.lines import SourceState
from holdfast.refine.ingest.discovery import (
    detect_agent,
    find_all_transcripts,
    sort_inputs,
    user_environment,
)
from holdfast.refine.ingest.read_plan import Input
from holdfast.regex import regex
from holdfast.settings import Settings
from holdfast.sources.claude_code.files import AGENT, default_folder
from holdfast.sources.claude_code.records import READER_VERSION
from holdfast.sources.source_files import source_stamp
from holdfast.store.protocol import Reader
from holdfast.times import age_s, mark_time

# Seconds between scans of all transcripts. Hooks name the transcripts that change; a scan finds
# what they missed, and costs a stat of every file.
_SCAN_INTERVAL_S = 3600.0
# Size of a batch. A larger one reads a long history in fewer passes, and makes the events that
# arrive meanwhile wait longer.
_BATCH_BYTES = 32 * 1024 * 1024
# Transcripts that a hook may name: lines, and the database of OpenCode.
_SUFFIXES = (".jsonl", ".db")
_SESSION_ID = regex(r"[A-Za-z0-9-]+\Z")


def is_old(mark: Path, seconds: float, now: str) -> bool:
    """Whether a file that marks a time is older than this or missing. A time in the future does not
    count: the clock was set back. `now` is cut to milliseconds, so it may be a moment behind."""
    try:
        age = age_s(mark.stat(), now)
    except OSError:
        return True
    return not -1 <= age <= seconds


class TranscriptQueue:
    """The transcripts still to be read by one worker."""

    def __init__(
        self, settings: Settings, paths: HomePaths, now: Callable[[], str] = utc_now
    ) -> None:
        self._now = now
        self._folder = default_folder(settings.claude_dir)
        self._environment = user_environment(settings)
        self._last_scan_mark = paths.last_scan
        self._queue: deque[Input] = deque()
        self._scan_open = False

    def scan_is_due(self) -> bool:
        """Whether all transcripts should be scanned."""
        return not self._scan_open and is_old(self._last_scan_mark, _SCAN_INTERVAL_S, self._now())

    def scan(self, reader: Reader) -> list[str]:
        """Queue every transcript that has changed since it was read, oldest first; returns why some
        cannot be read."""
        problems: list[str] = []
        retry = reader.sources.failed_before(READER_VERSION)
        read = {
            place.path: place.stamp
            for place in reader.sources.places(with_gone=False)
            if place.state == SourceState.LIVE.value and place.id not in retry
        }
        found = [
            (path, agent)
            for path, agent in find_all_transcripts(self._environment, problems)
            if str(path) not in read or source_stamp(path, agent) != read[str(path)]
        ]
        self._queue = deque(sort_inputs(found, "", problems))
        self._scan_open = True
        return problems

    def take_batch(self, max_bytes: int = _BATCH_BYTES) -> list[Input]:
        """Take the next files of the scan from the queue: at least one, and then no more than
        `max_bytes`."""
        batch: list[Input] = []
        size = 0
        while self._queue and (not batch or size < max_bytes):
            batch.append(self._queue.popleft())
            with suppress(OSError):
                size += batch[-1].path.stat().st_size
        return batch

    @property
    def has_more(self) -> bool:
        """Whether the scan has found more than was taken so far."""
        return bool(self._queue)

    def mark_batch_read(self) -> None:
        """The taken batch was read. If it was the last one, record the time of the scan."""
        if self._scan_open and not self._queue:
            self._scan_open = False
            with suppress(OSError):  # then the next worker scans again
                mark_time(self._last_scan_mark, self._now())

    def reset(self) -> None:
        """Drop the queue and scan all transcripts next time, because something may be missing."""
        self._scan_open = False
        self._queue.clear()
        with suppress(OSError):
            self._last_scan_mark.unlink(missing_ok=True)

    def for_sessions(self, sessions: Iterable[str], named: Iterable[Path]) -> list[Input]:
        """The transcripts of sessions: the named files, files called after a session id, and those
        of their subagents."""
        existing = [path for path in named if path.suffix in _SUFFIXES and path.is_file()]
        others = [(path, agent) for path in existing if (agent := detect_agent(path).name) != AGENT]
        found = [path for path in existing if all(path != other for other, _ in others)]
        if self._folder.is_dir():
            projects = [entry for entry in self._folder.iterdir() if entry.is_dir()]
            for session in filter(_SESSION_ID.match, sessions):
                found += [p for project in projects if (p := project / f"{session}.jsonl").exists()]
        for path in list(found):
            found += sorted((path.with_suffix("") / "subagents").glob("**/*.jsonl"))
        own = [(path, AGENT) for path in found if path.name != "journal.jsonl"]
        return sort_inputs([*own, *others], "", [])
