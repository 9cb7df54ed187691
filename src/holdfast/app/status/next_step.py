"""Where somebody stands with this memory, in a few lines, and the one thing to do next.

It looks and changes nothing: neither a home nor a file is made by asking.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import NamedTuple

from holdfast.app.core.context import ALL_BANKS
from holdfast.app.memory import Holdfast
from holdfast.app.status.failures import Failure, failures_in_log, recent_failures
from holdfast.app.status.health import Health, Verdict, gather_health, judge_capture
from holdfast.errors import HoldfastError, StoreError
from holdfast.hosts.claude_code import locations as host
from holdfast.settings import Settings
from holdfast.sources.claude_code.files import default_folder, find_transcripts
from holdfast.store.protocol import Counts
from holdfast.version import __version__


class Step(NamedTuple):
    """What to do next: a command, and why."""

    command: str
    why: str


class Overview(NamedTuple):
    """How it stands. `bank` is the one of this folder, "" where it has none, `only_bank` the one
    where there is no other; `unread` counts
    transcripts on disk where nothing was read yet; `problem` says why a memory is closed to us."""

    version: str
    home: str
    capture: Verdict
    banks: int
    counts: Counts | None
    bank: str
    only_bank: str
    worker: str
    last_event: str
    failure: Failure | None
    unread: int
    problem: str
    next: Step


def gather_overview(settings: Settings, folder: Path | None) -> Overview:
    """Look at everything that matters to somebody who just arrived."""
    version, home = __version__, str(settings.home)
    try:
        with Holdfast(settings, create=False) as memory:
            return _looked(memory, folder)
    except StoreError as error:
        verdict = Verdict("broken", f"The memory cannot be opened: {error.message}", error.remedy)
        last = max(failures_in_log(settings.home), default=None)
        step = Step("holdfast doctor", error.remedy or "It says what is wrong.")
        return Overview(
            *(version, home, verdict, 0, None, "", "", "not looked at", "", last, 0),
            *(error.message, step),
        )


def _looked(memory: Holdfast, folder: Path | None) -> Overview:
    health = gather_health(memory, folder)
    counts, balance = memory.inventory.counts(ALL_BANKS), memory.inventory.balance(ALL_BANKS)
    verdict = judge_capture(health, balance.pending)
    bank, banks = _bank_here(memory), [bank.name for bank in memory.reader.banks()]
    only = banks[0] if len(banks) == 1 else ""
    unread = 0
    if not counts.sessions:
        unread = sum(1 for _ in find_transcripts(default_folder(memory.settings.claude_dir)))
    last = next(iter(recent_failures(memory, 1)), None)
    stand = Overview(
        *(__version__, str(memory.settings.home), verdict, len(banks)),
        *(counts, bank, only, _worker(health), health.last_event, last, unread, ""),
        Step("", ""),
    )
    waits = len(memory.browse.reviews(ALL_BANKS))
    return stand._replace(next=next_step(stand, host.is_present(memory.settings), waits))


def _bank_here(memory: Holdfast) -> str:
    try:
        id = memory.context.bank_id(None)
    except HoldfastError:  # the folder is gone, or the settings name a bank that is not there
        return ""
    return memory.context.bank_name(id) if id else ""


def _worker(health: Health) -> str:
    events = health.inbox.events
    waiting = f"{events:,} event{'s' * (events != 1)} waiting" if events else "no events wait"
    return f"{'at work' if health.worker.running else 'at rest'}; {waiting}"


def next_step(stand: Overview, agent_here: bool, waits: int = 0) -> Step:
    """The one thing to do, the most pressing first."""
    verdict = stand.capture
    if verdict.state in ("broken", "lags"):
        command = verdict.remedy if verdict.remedy.startswith("holdfast ") else "holdfast doctor"
        why = verdict.sentence if command == verdict.remedy else verdict.remedy
        return Step(command, why)
    empty = stand.counts is None or not (stand.counts.turns or stand.counts.commits)
    if verdict.state == "off" and (agent_here or not empty):
        return Step("holdfast setup", "Shows what it would change, asks, and can be undone.")
    if empty and stand.unread:
        return Step("holdfast ingest", f"Reads the {stand.unread:,} transcripts on this machine.")
    if empty and verdict.state == "off":
        return Step("holdfast setup", "No agent was found here yet; it is made ready for one.")
    if empty and not host.find_program():
        return Step(
            "holdfast ingest FOLDER", "No `claude` is on the path; name transcripts to read."
        )
    if empty:
        return Step("claude", "Work as ever; what is said is remembered from the next session on.")
    if stand.failure is not None and stand.failure.open:
        return Step("holdfast doctor", "Something failed that is still to be done.")
    if waits:
        return Step("holdfast review", f"{waits:,} facts have something against them.")
    if not stand.bank:
        named = shlex.quote(only) if (only := stand.only_bank) else ALL_BANKS
        return Step(
            f'holdfast ask "why did we …?" --bank {named}',
            "This folder has no memory of its own yet.",
        )
    return Step('holdfast ask "why did we …?"', f"Answers from {stand.bank}, with citations.")
