"""How capture stands, from what lies on disk: fast, and without touching anything."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from time import time
from typing import NamedTuple

from holdfast.app.core.lease import WorkerStatus, worker_status
from holdfast.app.memory import Holdfast
from holdfast.capture.home_paths import HomePaths
from holdfast.capture.inbox import inbox_folders, list_events
from holdfast.hosts.claude_code.detect import HookStatus, detect_hooks
from holdfast.hosts.claude_code.install_record import OTHER_AGENTS, InstallRecord
from holdfast.model.failed_tasks import FailedTask
from holdfast.model.ledger import SourceState
from holdfast.settings import Settings
from holdfast.sources.claude_code.files import AGENT, default_folder, find_transcripts
from holdfast.sources.file_stamp import stamp_of
from holdfast.store.protocol import Reader

# A worker takes events up within seconds; what lies longer than this, nobody takes up.
LATE_EVENTS_S = 600.0
_DAY_S = 86400.0
_WARN_DAYS = 7.0
_SLACK_S = 3600.0
_OTHER = ("briefs", "hooks", "marks", "research")
# Why lines are left out, for people.
SKIP_REASON_TEXT = {
    "housekeeping": "records of the program about itself",
    "thinking": "the model's private reasoning",
    "injected": "text that hooks put in",
    "machine": "machine text in the user's place",
    "compaction": "summaries that repeat what came before",
    "duplicate": "already known from another file",
    "orphan-result": "results of calls that are not in the file",
    "empty": "no words in it",
    "blank": "empty lines",
    "private": "marked <private>",
    "excluded": "left out by the settings",
    "unknown-type": "record types this version does not know",
}


class InboxStatus(NamedTuple):
    """The events that wait; times as the clock counts, 0 where there are none."""

    folder: Path | None = None
    events: int = 0
    bytes: int = 0
    oldest: float = 0.0
    newest: float = 0.0


class DiskUse(NamedTuple):
    """What the home takes, in bytes; `other` are briefs, investigations, hooks and marks."""

    database: int = 0
    vectors: int = 0
    journals: int = 0
    logs: int = 0
    backups: int = 0
    other: int = 0


class ArchiveStatus(NamedTuple):
    """How long Claude Code keeps transcripts, and those not fully read that it will soon delete:
    how many, and in how many days the first goes."""

    kept_days: float
    at_risk: int = 0
    first_in_days: float = 0.0


class Verdict(NamedTuple):
    """Whether capture works, in a sentence, and the one thing to do where it does not."""

    state: str
    sentence: str
    remedy: str = ""


class Health(NamedTuple):
    """All that `status` and `doctor` look at first. `last_event` is the latest thing known to have
    happened, `last_told` the latest that a hook told of."""

    hooks: HookStatus
    inbox: InboxStatus
    worker: WorkerStatus
    disk: DiskUse
    archive: ArchiveStatus
    failed_tasks: tuple[FailedTask, ...]
    last_event: str
    last_ingest: str
    gone: tuple[int, int]
    scripts_present: bool
    last_hook_event: str = ""
    # Whether another agent than Claude Code was set up.
    other_agents_installed: bool = False


def current_folder() -> Path | None:
    """Where we stand, for the settings of its project; None where that is not there any more."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None


def gather_health(memory: Holdfast, folder: Path | None) -> Health:
    """Look at everything, from a folder."""
    settings, reader = memory.settings, memory.reader
    places = HomePaths(settings.home)
    seen = detect_hooks(settings.claude_dir, folder)
    inbox = inbox_status(places)
    sources = reader.sources()
    gone = [
        source.lines
        for source in sources
        if source.state is SourceState.GONE and source.agent == AGENT
    ]
    newest = max(inbox.newest, _newest(places.journals))
    told = _moment(newest) if newest else ""
    return Health(
        hooks=seen,
        inbox=inbox,
        worker=worker_status(places),
        disk=disk_use(settings),
        archive=archive_status(reader, settings, seen.kept_days),
        failed_tasks=tuple(memory.inventory.failed_tasks()),
        last_event=max(reader.last_session_end(), told),
        last_ingest=max((source.read_at for source in sources), default=""),
        gone=(len(gone), sum(gone)),
        scripts_present=(places.hooks / "capture.sh").is_file(),
        last_hook_event=told,
        other_agents_installed=bool(InstallRecord(places.home, OTHER_AGENTS).files),
    )


def inbox_status(places: HomePaths) -> InboxStatus:
    """Count the events of this version."""
    folder = places.inbox()
    found = [event for place in inbox_folders(places) for event in list_events(place).events]
    if not found:
        return InboxStatus(folder)
    times = [event.changed_ns / 1e9 for event in found]
    return InboxStatus(folder, len(found), sum(e.size for e in found), min(times), max(times))


def _newest(folder: Path) -> float:
    """When the latest file of a folder was written."""
    newest = 0.0
    with suppress(OSError):
        for entry in os.scandir(folder):
            with suppress(OSError):
                newest = max(newest, entry.stat(follow_symlinks=False).st_mtime)
    return newest


def _moment(seconds: float) -> str:
    at = datetime.fromtimestamp(seconds, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def disk_use(settings: Settings) -> DiskUse:
    """Add up what lies in the home."""
    places, database = HomePaths(settings.home), settings.database
    beside = (database, *(database.with_name(f"{database.name}-{end}") for end in ("wal", "shm")))
    return DiskUse(
        database=sum(map(_size, beside)),
        vectors=sum(_sizes(settings.vectors)),
        journals=sum(_sizes(places.journals)),
        logs=_size(places.worker_log),
        backups=sum(_sizes(settings.home / "backups")),
        other=sum(sum(_sizes(settings.home / name)) for name in _OTHER),
    )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _sizes(folder: Path) -> Iterator[int]:
    with suppress(OSError):
        for entry in os.scandir(folder):
            with suppress(OSError):
                yield entry.stat(follow_symlinks=False).st_size


def archive_status(reader: Reader, settings: Settings, kept_days: float) -> ArchiveStatus:
    """Which transcripts will be deleted before they were read, if nothing happens."""
    read = {source.path: source.stamp for source in reader.sources()}
    warn = min(_WARN_DAYS, kept_days / 2)
    left: list[float] = []
    for path in find_transcripts(default_folder(settings.claude_dir)):
        try:
            stat = path.stat()
        except OSError:
            continue
        days = kept_days - (time() - stat.st_mtime) / _DAY_S
        if days < warn and read.get(str(path)) != stamp_of(stat):
            left.append(days)
    return ArchiveStatus(kept_days, len(left), max(0.0, min(left, default=0.0)))


def judge_capture(health: Health, pending: int) -> Verdict:
    """Whether capture works; `pending` lines are on disk and not yet read."""
    for found in (_not_set_up(health), _late(health), _failing(health), _soon_gone(health)):
        if found is not None:
            return found
    lines = "1 line is" if pending == 1 else f"{pending:,} lines are"
    busy = " (a worker is at it)" if health.worker.running else ""
    left = f"{lines} still to be read{busy}" if pending else ""
    # What was read from transcripts proves nothing: only a hook's word shows that hooks run.
    if not health.last_hook_event:
        waits = "Capture is set up and waits for your next session"
        return Verdict("works", f"{waits}; {left}." if left else f"{waits}.")
    event = f"last event {ago(health.last_hook_event)}"
    return Verdict("works", f"Capture works: {event}, {left or 'everything read'}.")


def _not_set_up(health: Health) -> Verdict | None:
    seen = health.hooks
    for problem in seen.problems:
        return Verdict("broken", f"Capture may not work: {problem}.", "Correct that file.")
    if not seen.is_installed and health.other_agents_installed:
        return None  # transcripts of the others are read, whether Claude Code is here or not
    if not seen.is_installed:
        why = "Claude Code does not tell Holdfast of its sessions"
        return Verdict("off", f"Capture is not set up: {why}.", "holdfast setup")
    if not health.scripts_present or health.inbox.folder is None:
        why = "the scripts that Claude Code runs are not there"
        return Verdict("broken", f"Capture does not work: {why}.", "holdfast doctor --fix")
    if seen.off is not None:
        why = f"{seen.off} says disableAllHooks, so Claude Code runs no hooks"
        return Verdict("broken", f"Capture does not work: {why}.", "Take that setting out.")
    if seen.missing:
        why = f"Claude Code does not tell of {', '.join(seen.missing)}"
        return Verdict("broken", f"Capture is incomplete: {why}.", "holdfast setup")
    return None


def _late(health: Health) -> Verdict | None:
    inbox = health.inbox
    waited = time() - inbox.oldest
    # A time to come is a clock that was set back; how long it waited is not known then.
    if not inbox.events or health.worker.running or 0 <= waited < LATE_EVENTS_S:
        return None
    events = "1 event has" if inbox.events == 1 else f"{inbox.events:,} events have"
    long = f"for {_span(waited)}" if waited >= 0 else "since before the clock was set back"
    sentence = f"Capture lags: {events} waited {long}, and no worker runs."
    return Verdict("lags", sentence, "holdfast worker")


def _failing(health: Health) -> Verdict | None:
    if not health.failed_tasks:
        return None
    names = ", ".join(chore.name for chore in health.failed_tasks)
    event = f" (last event {ago(health.last_event)})" if health.last_event else ""
    return Verdict("lags", f"Capture works{event}, but failed at: {names}.", "holdfast doctor")


def _soon_gone(health: Health) -> Verdict | None:
    archive = health.archive
    if not archive.at_risk:
        return None
    which = "1 transcript is" if archive.at_risk == 1 else f"{archive.at_risk:,} transcripts are"
    when = f"in {_span(archive.first_in_days * _DAY_S)}" if archive.first_in_days else "any moment"
    text = f"Capture lags: {which} not fully read, and Claude Code deletes the first {when}."
    return Verdict("lags", text, "holdfast worker")


def ago(moment: str) -> str:
    """How long ago, for people."""
    try:
        passed = time() - datetime.fromisoformat(moment).timestamp()
    except ValueError:
        return "at an unknown time"
    if passed < -_SLACK_S:
        return f"in {_span(-passed)} by this clock"
    return "just now" if passed < 60 else f"{_span(passed)} ago"


def _span(seconds: float) -> str:
    for unit, length in (("day", _DAY_S), ("hour", 3600.0), ("minute", 60.0)):
        if seconds >= length:
            count = int(seconds // length)
            return f"{count:,} {unit}{'' if count == 1 else 's'}"
    return "less than a minute"
