"""Which transcripts the worker reads next: those of sessions that had events at once, and, when
its last look is long ago, everything that has grown since it was read.

A look through all is kept in mind and worked off in portions, so that new events never wait for a
long history.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from time import time

from holdfast.capture.home_paths import HomePaths
from holdfast.model.ledger import SourceState
from holdfast.refine.ingest.discovery import (
    detect_agent,
    find_all_transcripts,
    sort_inputs,
    user_environment,
)
from holdfast.refine.ingest.read_plan import Input
from holdfast.settings import Settings
from holdfast.sources.claude_code.files import AGENT, default_folder
from holdfast.sources.claude_code.records import READER_VERSION
from holdfast.sources.source_files import source_stamp
from holdfast.store.protocol import Reader

LOOK_EVERY_S = 3600.0
PORTION_BYTES = 32 * 1024 * 1024
_SESSION = re.compile(r"[A-Za-z0-9-]+\Z")


class TranscriptQueue:
    """What is still to be read, for as long as a worker lives."""

    def __init__(self, settings: Settings, places: HomePaths) -> None:
        self._folder = default_folder(settings.claude_dir)
        self._where = user_environment(settings)
        self._looked = places.last_scan
        self._queue: deque[Input] = deque()
        self._looking = False

    def scan_is_due(self) -> bool:
        """Whether it is time to look through all. A look in the future is none: the clock was
        set back."""
        if self._looking:
            return False
        try:
            age = time() - self._looked.stat().st_mtime
        except OSError:
            return True
        return not 0 <= age <= LOOK_EVERY_S

    def scan(self, reader: Reader, problems: list[str]) -> None:
        """Find everything that is not as it was when it was read, oldest first."""
        again = reader.sources_failed_before(READER_VERSION)
        read = {
            source.path: source.stamp
            for source in reader.sources()
            if source.state is SourceState.LIVE and source.id not in again
        }
        found = [
            (path, agent)
            for path, agent in find_all_transcripts(self._where, problems)
            if str(path) not in read or source_stamp(path, agent) != read[str(path)]
        ]
        self._queue = deque(sort_inputs(found, "", problems))
        self._looking = True

    def take_batch(self, most: int = PORTION_BYTES) -> list[Input]:
        """The next files of the look through all, and no more than can be read in a while."""
        taken: list[Input] = []
        size = 0
        while self._queue and (not taken or size < most):
            taken.append(self._queue.popleft())
            with suppress(OSError):
                size += taken[-1].path.stat().st_size
        return taken

    @property
    def has_more(self) -> bool:
        """Whether the look through all is not worked off yet."""
        return bool(self._queue)

    def mark_batch_read(self) -> None:
        """What was taken has been read: note the look, if that was the last of it."""
        if self._looking and not self._queue:
            self._looking = False
            with suppress(OSError):  # then it is looked again next time
                self._looked.touch(0o600)

    def reset(self) -> None:
        """Something may have been missed: look through all next time."""
        self._looking = False
        self._queue.clear()
        with suppress(OSError):
            self._looked.unlink(missing_ok=True)

    def for_sessions(self, sessions: Iterable[str], named: Iterable[Path]) -> list[Input]:
        """The transcripts of sessions: those named, those found by their name, and those of
        their subagents."""
        told = [path for path in named if path.suffix == ".jsonl" and path.is_file()]
        others = [(path, agent) for path in told if (agent := detect_agent(path).name) != AGENT]
        found = [path for path in told if all(path != other for other, _ in others)]
        if self._folder.is_dir():
            projects = [entry for entry in self._folder.iterdir() if entry.is_dir()]
            for session in filter(_SESSION.match, sessions):
                found += [p for project in projects if (p := project / f"{session}.jsonl").exists()]
        for path in list(found):
            found += sorted((path.with_suffix("") / "subagents").glob("**/*.jsonl"))
        own = [(path, AGENT) for path in found if path.name != "journal.jsonl"]
        return sort_inputs([*own, *others], "", [])
