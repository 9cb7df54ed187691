"""Whether capture works: the facts from disk and store, and a verdict. Fast and read-only."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from time import time
from typing import NamedTuple

from holdfast.app.core.lease import WorkerStatus, worker_status
from holdfast.app.ingest.stages import stages_behind
from holdfast.app.memory import Holdfast
from holdfast.capture.home_paths import HomePaths
from holdfast.capture.inbox import inbox_folders, list_events
from holdfast.hosts.claude_code.detect import HookStatus, detect_hooks
from holdfast.hosts.claude_code.install_record import OTHER_AGENTS, InstallRecord
from holdfast.model.ledgers.failed_tasks import FailedTask
from holdfast.model.ledgers.lines import Source, SourceState
from holdfast.refine.core.rules_version import RULES_VERSION
from holdfast.refine.model_output.prompts import PROMPT_VERSION
from holdfast.settings import Settings
from holdfast.sources.claude_code.files import AGENT, default_folder, find_transcripts
from holdfast.sources.fingerprint import stamp_of
from holdfast.times import format_time

_DAY_S = 86400.0
# A worker takes an event within seconds, so one that is older than this is not going to be taken.
_LATE_EVENTS_S = 600.0
# Warn this many days before Claude Code deletes a transcript that is not fully read, or half of its
# cleanup period if that is shorter. Earlier warnings would concern files that the worker reads in
# time anyway.
_WARN_BEFORE_DELETION_DAYS = 7.0
# A time this far in the future counts as now: clocks of two machines differ a little.
_CLOCK_SLACK_S = 3600.0
# Folders of the home whose sizes are added up as `DiskUse.other`.
_OTHER_FOLDERS = ("briefs", "hooks", "marks", "research")
# What each skip reason of the ledger means, for people.
SKIP_REASON_TEXT = {
    "housekeeping": "internal records of the agent",
    "thinking": "the model's private reasoning",
    "injected": "text injected by hooks",
    "machine": "machine text in the user's place",
    "compaction": "summaries that repeat what came before",
    "duplicate": "already known from another file",
    "orphan-result": "results of calls that are not in the file",
    "empty": "no text",
    "blank": "empty lines",
    "private": "marked <private>",
    "excluded": "excluded by the settings",
    "unknown-type": "record types this version does not know",
}


class InboxStatus(NamedTuple):
    """The hook events that no worker has taken yet; times in seconds since 1970, 0 if there are
    none."""

    events: int = 0
    bytes: int = 0
    oldest: float = 0.0
    newest: float = 0.0


class DiskUse(NamedTuple):
    """Bytes that the home takes; `other` are briefs, investigations, hooks and marks."""

    database: int = 0
    vectors: int = 0
    journals: int = 0
    logs: int = 0
    backups: int = 0
    other: int = 0


class ArchiveStatus(NamedTuple):
    """For how many days Claude Code keeps transcripts; how many it will delete soon that are not
    fully read, and in how many days it deletes the first."""

    kept_days: float
    at_risk: int = 0
    first_in_days: float = 0.0


class OutdatedCounts(NamedTuple):
    """What could be derived again: `unfinished` sessions have no derived records yet, `rules`
    sessions were derived by older rules, `prompts` sessions were summarised with older prompts,
    `stages` names the knowledge stages that have not processed every change."""

    unfinished: int = 0
    rules: int = 0
    prompts: int = 0
    stages: tuple[str, ...] = ()

    @property
    def any(self) -> bool:
        return bool(self.rules or self.prompts or self.stages)


class Verdict(NamedTuple):
    """Whether capture works (`state` is works, lags, off or broken), a sentence that says so, and
    what to do if it does not."""

    state: str
    sentence: str
    remedy: str = ""


class Health(NamedTuple):
    """The facts about capture, and the first `problem` with it. `last_event` is the time of the
    latest known activity, `last_hook_event` that of the latest hook event; both are "" if there is
    none. `gone` counts the transcripts that are gone from disk, and their lines that are kept."""

    problem: Verdict | None
    inbox: InboxStatus
    worker: WorkerStatus
    archive: ArchiveStatus
    failed_tasks: tuple[FailedTask, ...]
    last_event: str
    last_hook_event: str
    last_ingest: str
    gone: tuple[int, int]


def current_folder() -> Path | None:
    """The working folder, whose project settings count; None if it was deleted."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None


def gather_health(memory: Holdfast, folder: Path | None) -> Health:
    """Gather the facts; hook settings are those of the user and of the project in `folder`."""
    settings, reader = memory.settings, memory.reader
    paths = HomePaths(settings.home)
    hooks, inbox = detect_hooks(settings.claude_dir, folder), inbox_status(paths)
    worker, tasks, sources = (
        worker_status(paths),
        memory.inventory.failed_tasks(),
        reader.sources.all(),
    )
    archive = archive_status(sources, settings, hooks.kept_days)
    gone = [one.lines for one in sources if one.state is SourceState.GONE and one.agent == AGENT]
    newest = max([inbox.newest, *(stat.st_mtime for stat in _file_stats(paths.journals))])
    last_hook_event = format_time(datetime.fromtimestamp(newest, UTC)) if newest else ""
    last_event = max(reader.sessions.last_end(), last_hook_event)
    return Health(
        not_set_up(hooks, paths)
        or events_wait(inbox, worker)
        or _tasks_failed(tasks, last_event)
        or deleted_soon(archive),
        inbox,
        worker,
        archive,
        tuple(tasks),
        last_event,
        last_hook_event,
        max((source.read_at for source in sources), default=""),
        (len(gone), sum(gone)),
    )


def inbox_status(paths: HomePaths) -> InboxStatus:
    """Count the events that this version can read."""
    found = [event for box in inbox_folders(paths) for event in list_events(box).events]
    if not found:
        return InboxStatus()
    times = [event.changed_ns / 1e9 for event in found]
    return InboxStatus(len(found), sum(event.size for event in found), min(times), max(times))


def disk_use(settings: Settings) -> DiskUse:
    """Add up the sizes of the files in the home."""
    paths, database = HomePaths(settings.home), settings.database
    return DiskUse(
        database=sum(_file_size(Path(f"{database}{suffix}")) for suffix in ("", "-wal", "-shm")),
        vectors=_folder_size(settings.vectors),
        journals=_folder_size(paths.journals),
        logs=_file_size(paths.worker_log),
        backups=_folder_size(settings.home / "backups"),
        other=sum(_folder_size(settings.home / name) for name in _OTHER_FOLDERS),
    )


def _file_size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _folder_size(folder: Path) -> int:
    return sum(stat.st_size for stat in _file_stats(folder))


def _file_stats(folder: Path) -> Iterator[os.stat_result]:
    with suppress(OSError):
        for entry in os.scandir(folder):
            with suppress(OSError):
                yield entry.stat(follow_symlinks=False)


def archive_status(
    sources: Iterable[Source], settings: Settings, kept_days: float
) -> ArchiveStatus:
    """Which transcripts Claude Code will soon delete that are not fully read; `sources` are those
    that were read so far."""
    read = {source.path: source.stamp for source in sources}
    warn = min(_WARN_BEFORE_DELETION_DAYS, kept_days / 2)
    days_left: list[float] = []
    for path in find_transcripts(default_folder(settings.claude_dir)):
        try:
            stat = path.stat()
        except OSError:
            continue
        days = kept_days - (time() - stat.st_mtime) / _DAY_S
        if days < warn and read.get(str(path)) != stamp_of(stat):
            days_left.append(days)
    return ArchiveStatus(kept_days, len(days_left), max(0.0, min(days_left, default=0.0)))


def count_outdated(memory: Holdfast) -> OutdatedCounts:
    """Count what an older version of the rules or prompts has derived."""
    store = memory.store
    return OutdatedCounts(
        len(store.sessions.stale()),
        store.versions.count_outdated_sessions(RULES_VERSION),
        len(store.versions.outdated_summaries(PROMPT_VERSION)),
        tuple(stages_behind(store, memory.settings)),
    )


def judge_capture(health: Health, pending: int) -> Verdict:
    """Whether capture works. `pending` lines are on disk and not yet read."""
    if health.problem is not None:
        return health.problem
    lines = "1 line" if pending == 1 else f"{pending:,} lines"
    busy = " (a worker is running)" if health.worker.running else ""
    left = f"{lines} not read yet{busy}" if pending else ""
    # Only a hook event shows that hooks run; transcripts are read without them, too.
    if not health.last_hook_event:
        waits = "Claude Code hooks are installed; waiting for your next session"
        return Verdict("works", f"{waits}; {left}." if left else f"{waits}.")
    event = f"last event {ago(health.last_hook_event)}"
    return Verdict("works", f"Capture works: {event}, {left or 'everything read'}.")


def not_set_up(hooks: HookStatus, paths: HomePaths) -> Verdict | None:
    """Why no hook records anything."""
    if hooks.problems:
        sentence = f"Capture may not work: {hooks.problems[0]}."
        return Verdict("broken", sentence, "Correct that file.")
    if not hooks.is_installed:
        if InstallRecord(paths.home, OTHER_AGENTS).files:
            return None  # transcripts of the other agents are read without hooks of Claude Code
        return Verdict("off", "Claude Code hooks are not installed.", "holdfast setup")
    if not (paths.hooks / "capture.sh").is_file() or paths.inbox() is None:
        sentence = "Capture does not work: the scripts of the Claude Code hooks are missing."
        return Verdict("broken", sentence, "holdfast doctor --fix")
    if hooks.off is not None:
        why = f"{hooks.off} sets disableAllHooks, so Claude Code runs no hooks"
        return Verdict("broken", f"Capture does not work: {why}.", "Remove that setting.")
    if hooks.missing:
        sentence = f"Claude Code hooks are missing for {', '.join(hooks.missing)}."
        return Verdict("broken", sentence, "holdfast setup")
    return None


def events_wait(inbox: InboxStatus, worker: WorkerStatus) -> Verdict | None:
    """Whether events wait that nobody takes."""
    waited = time() - inbox.oldest
    # If the event lies in the future, the clock was set back, and nobody knows how long it waited.
    if not inbox.events or worker.running or 0 <= waited < _LATE_EVENTS_S:
        return None
    events = "1 event has" if inbox.events == 1 else f"{inbox.events:,} events have"
    long = f"for {_format_span(waited)}" if waited >= 0 else "since before the clock was set back"
    sentence = f"Capture lags: {events} waited {long}, and no worker is running."
    return Verdict("lags", sentence, "holdfast worker")


def _tasks_failed(tasks: Iterable[FailedTask], last_event: str) -> Verdict | None:
    names = ", ".join(task.name for task in tasks)
    event = f" (last event {ago(last_event)})" if last_event else ""
    sentence = f"Capture works{event}, but a task failed: {names}."
    return Verdict("lags", sentence, "holdfast doctor") if names else None


def deleted_soon(archive: ArchiveStatus) -> Verdict | None:
    """Whether transcripts are about to be lost."""
    if not archive.at_risk:
        return None
    which = "1 transcript is" if archive.at_risk == 1 else f"{archive.at_risk:,} transcripts are"
    days = archive.first_in_days
    when = f"in {_format_span(days * _DAY_S)}" if days else "any moment"
    text = f"Capture lags: {which} not fully read, and Claude Code deletes the first {when}."
    return Verdict("lags", text, "holdfast worker")


def ago(moment: str) -> str:
    """How long ago a time was, for people."""
    try:
        passed = time() - datetime.fromisoformat(moment).timestamp()
    except ValueError:
        return "at an unknown time"
    if passed < -_CLOCK_SLACK_S:
        return f"in {_format_span(-passed)} by this clock"
    return "just now" if passed < 60 else f"{_format_span(passed)} ago"


def _format_span(seconds: float) -> str:
    for unit, length in (("day", _DAY_S), ("hour", 3600.0), ("minute", 60.0)):
        if seconds >= length:
            count = int(seconds // length)
            return f"{count:,} {unit}{'' if count == 1 else 's'}"
    return "less than a minute"
