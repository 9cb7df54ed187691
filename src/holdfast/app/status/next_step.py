"""A short overview of the memory and the one thing to do next, for `holdfast` without a command.

Read-only: it creates neither a home nor a file.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import NamedTuple

from holdfast.app.core.context import ALL_BANKS
from holdfast.app.memory import Holdfast
from holdfast.app.status.health import Verdict, gather_health, judge_capture
from holdfast.errors import HoldfastError, StoreError
from holdfast.hosts.claude_code import locations as host
from holdfast.settings import Settings
from holdfast.sources.claude_code.files import default_folder, find_transcripts
from holdfast.store.across_tables.lookup import Counts
from holdfast.version import __version__


class Step(NamedTuple):
    """A command to run next, and why."""

    command: str
    why: str


class Overview(NamedTuple):
    """The overview. `bank` is the bank of this folder, "" if it has none; `only_bank` is set if
    there is just one. `unread` counts the transcripts on disk if nothing was read yet. `problem`
    says why the memory cannot be opened. The field names are the keys of the JSON output."""

    version: str
    home: str
    capture: Verdict
    banks: int = 0
    counts: Counts | None = None
    bank: str = ""
    only_bank: str = ""
    worker: str = "not looked at"
    last_event: str = ""
    unread: int = 0
    problem: str = ""
    next: Step = Step("", "")


def gather_overview(settings: Settings, folder: Path | None) -> Overview:
    """Gather the overview; a memory that cannot be opened is reported in it."""
    try:
        with Holdfast(settings, create=False) as memory:
            return _overview(memory, folder)
    except StoreError as error:
        verdict = Verdict("broken", f"The memory cannot be opened: {error.message}", error.remedy)
        return Overview(
            __version__,
            str(settings.home),
            verdict,
            problem=error.message,
            next=Step("holdfast doctor", error.remedy or "It says what is wrong."),
        )


def _overview(memory: Holdfast, folder: Path | None) -> Overview:
    health, balance = gather_health(memory, folder), memory.inventory.balance()
    counts, banks = memory.inventory.counts(), memory.reader.banks.all()
    unread = 0
    if not counts.sessions:
        unread = sum(1 for _ in find_transcripts(default_folder(memory.settings.claude_dir)))
    events = health.inbox.events
    waiting = f"{events:,} event{'s' * (events != 1)} waiting" if events else "no events waiting"
    overview = Overview(
        __version__,
        str(memory.settings.home),
        judge_capture(health, balance.pending),
        banks=len(banks),
        counts=counts,
        bank=_bank_here(memory),
        only_bank=banks[0].name if len(banks) == 1 else "",
        worker=f"{'running' if health.worker.running else 'idle'}; {waiting}",
        last_event=health.last_event,
        unread=unread,
    )
    reviews = len(memory.browse.reviews(ALL_BANKS))
    return overview._replace(next=_next_step(overview, host.is_present(memory.settings), reviews))


def _bank_here(memory: Holdfast) -> str:
    try:
        id = memory.context.bank_id(None)
    except HoldfastError:  # the folder was deleted, or the settings name a bank that does not exist
        return ""
    return memory.context.bank_name(id) if id else ""


def _next_step(overview: Overview, agent_present: bool, open_reviews: int) -> Step:
    """The most urgent thing to do. The first condition that holds decides."""
    verdict = overview.capture
    if verdict.state in ("broken", "lags"):
        command = verdict.remedy if verdict.remedy.startswith("holdfast ") else "holdfast doctor"
        why = verdict.sentence if command == verdict.remedy else verdict.remedy
        return Step(command, why)
    empty = overview.counts is None or not (overview.counts.turns or overview.counts.commits)
    if verdict.state == "off" and (agent_present or not empty):
        return Step("holdfast setup", "Shows what it would change, asks, and can be undone.")
    if empty and overview.unread:
        return Step(
            "holdfast ingest", f"Reads the {overview.unread:,} transcripts on this machine."
        )
    if empty and verdict.state == "off":
        return Step("holdfast setup", "No agent was found yet; this prepares Holdfast for one.")
    if empty and not host.find_program():
        return Step(
            "holdfast ingest FOLDER", "No `claude` is on the PATH; give the transcripts to read."
        )
    if empty:
        return Step("claude", "Work as usual; sessions are recorded from the next one on.")
    if open_reviews:
        return Step("holdfast review", f"{open_reviews:,} facts have evidence against them.")
    if not overview.bank:
        named = shlex.quote(only) if (only := overview.only_bank) else ALL_BANKS
        return Step(
            f'holdfast ask "why did we …?" --bank {named}',
            "This folder has no memory of its own yet.",
        )
    return Step('holdfast ask "why did we …?"', f"Answers from {overview.bank}, with citations.")
