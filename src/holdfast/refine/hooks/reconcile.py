"""Ingests the journals of sessions that are over, after the transcripts of the same sessions.

The transcript is the more reliable source and is written later than the hook events. So a journal
waits until its session has ended or was idle for an hour, and its transcripts are read to their
end. A session that was killed leaves no event after the last lines of its transcript: while its
journal waits, whatever is new in the transcript is read all the same.

Journals that were read without a failed line and are no longer written to are removed: their turns
are stored, and a session that continues after so long gets a new journal.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from holdfast.capture import journal
from holdfast.capture.home_paths import HomePaths
from holdfast.model.ledgers.lines import Source, SourceState
from holdfast.refine.core.banks import BankMaker
from holdfast.refine.ingest.ingest import ingest
from holdfast.refine.ingest.ingest_report import IngestReport
from holdfast.refine.ingest.read_plan import Input
from holdfast.refine.ingest.turns import PrivacyRules
from holdfast.sources.claude_code import events
from holdfast.sources.claude_code import files as claude_code
from holdfast.sources.fingerprint import stamp_of
from holdfast.sources.json_fields import normal_time, string
from holdfast.store.protocol import Reader, Writer
from holdfast.times import age_s

# Without an event for so long, a session counts as over. A shorter time treats sessions as over
# that only pause; a longer one delays those that crashed.
IDLE_AFTER = timedelta(hours=1)
_RESUMING_EVENTS = ("SessionStart", "UserPromptSubmit")


class UnreadJournal(NamedTuple):
    """A journal with unread lines, and what its events say about its session."""

    path: Path
    session: str
    transcript: str = ""
    last: str = ""
    ended: bool = False


class ReconcileReport(NamedTuple):
    """What was ingested from transcripts that a journal waited for, and from journals."""

    transcripts: IngestReport
    journals: IngestReport


def reconcile(
    writer: Writer,
    banks: BankMaker,
    home_paths: HomePaths,
    rules: PrivacyRules,
    now: Callable[[], str],
) -> ReconcileReport:
    """Ingest the transcripts that unread journals name, and then every journal whose session is
    over."""
    unread_journals = find_unread(writer, home_paths)
    if not unread_journals:
        return ReconcileReport(IngestReport(), IngestReport())
    over = [unread for unread in unread_journals if unread.ended or _is_idle(unread.last, now())]
    known = _KnownSources(writer)
    late = [
        Input(path, claude_code.AGENT)
        for unread in unread_journals
        for path in known.transcripts(unread)
        if not known.is_read(path)
    ]
    transcripts = ingest(writer, banks, late, rules, now) if late else IngestReport()
    known = _KnownSources(writer)
    settled = [
        Input(unread.path, events.AGENT)
        for unread in over
        if all(known.is_read(path) for path in known.transcripts(unread))
    ]
    journals = ingest(writer, banks, settled, rules, now) if settled else IngestReport()
    return ReconcileReport(transcripts, journals)


class _KnownSources:
    """What is known of the transcripts of a few sessions."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def transcripts(self, unread: UnreadJournal) -> list[Path]:
        """The existing transcripts of a session and of its subagents."""
        named, name = Path(unread.transcript), f"{unread.session}.jsonl"
        paths = [named] if named.name == name else []
        paths += [
            Path(source.path)
            for source in self._reader.sources.named(name)
            if source.agent == claude_code.AGENT
        ]
        found: list[Path] = []
        for path in dict.fromkeys(paths):
            if path.is_file():
                inner = claude_code.find_transcripts(path.with_suffix("") / "subagents")
                found += [path, *inner]
        return found

    def is_read(self, path: Path) -> bool:
        """Whether a transcript is read to its end, or is unreadable."""
        source = self._reader.sources.at_path(str(path))
        if source is None:
            return False
        return source.state is SourceState.UNREADABLE or source.stamp == _stamp(path)


def find_unread(reader: Reader, home_paths: HomePaths) -> list[UnreadJournal]:
    """The journals that have changed since they were last read."""
    paths = list(home_paths.journals.glob("*.jsonl"))
    stamps = {place.path: place.stamp for place in reader.sources.places()} if paths else {}
    unread = [path for path in paths if stamps.get(str(path)) != _stamp(path)]
    return [_read_journal(path) for path in sorted(unread)]


def _read_journal(path: Path) -> UnreadJournal:
    transcript = last = ""
    ended = False
    for event in journal.read(path):
        name = string(event, "event")
        transcript = string(event, "transcript") or transcript
        last = max(last, normal_time(event.get("time")))
        ended = name == "SessionEnd" or (ended and name not in _RESUMING_EVENTS)
    return UnreadJournal(path, path.stem, transcript, last, ended)


def _stamp(path: Path) -> str:
    try:
        return stamp_of(path.stat())
    except OSError:
        return ""


def has_ended(home_paths: HomePaths, host: str, last: str, now: str) -> bool:
    """Whether a session has ended by its journal, or is idle by the time of its last event."""
    path = home_paths.journals / f"{host}.jsonl"
    if path.is_file() and _read_journal(path).ended:
        return True
    return _is_idle(last, now)


def _is_idle(last: str, now: str) -> bool:
    if not last:
        return True
    since = datetime.fromisoformat(now) - datetime.fromisoformat(last)
    return abs(since) >= IDLE_AFTER  # negative if the clock was set back


# How long a journal is kept after its last write. Until then a session that continues finds the
# texts that its journal has already had; journals are small, so the time is generous.
RETENTION_S = 90 * 86400.0
# Higher than any reader version: failed lines of all readers count.
_ANY_READER = 2**31 - 1


def remove_old_journals(
    writer: Writer, paths: HomePaths, now: str, kept_s: float = RETENTION_S
) -> int:
    """Remove the journals that were read and not written to for `kept_s`; returns how many."""
    if not paths.journals.is_dir():
        return 0
    old = sorted(p for p in paths.journals.glob("*.jsonl") if age_s(p.lstat(), now) > kept_s)
    failed = writer.sources.failed_before(_ANY_READER) if old else set[int]()
    gone = [
        source
        for path in old
        if (source := writer.sources.at_path(str(path))) is not None
        and source.agent == events.AGENT
        and source.id not in failed
        and _is_old(path.lstat(), source, now, kept_s)
        and journal.remove(path, lambda stat, of=source: _is_old(stat, of, now, kept_s))
    ]
    if gone:
        with writer.transaction():
            for source in gone:
                note = f"read and put away; {source.lines} lines of it were read"
                writer.sources.set_state(source.id, SourceState.GONE.value, note)
    return len(gone)


def _is_old(stat: os.stat_result, source: Source, now: str, kept_s: float) -> bool:
    """Whether a journal is unchanged since it was read to its end, and old enough."""
    return stamp_of(stat) == source.stamp and age_s(stat, now) > kept_s
