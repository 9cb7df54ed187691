"""Erasing permanently: a record with all that is derived from it, or a secret everywhere."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

from holdfast.app.core.context import ALL_BANKS
from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.operations.operation import OWNER, Announcement, Arg, Call, Work, operation
from holdfast.operations.parameters import AnyBank, RecordId
from holdfast.operations.screen import Screen, number
from holdfast.principal import Level

if TYPE_CHECKING:
    from holdfast.learn.erasure import Erased

_MAX_PATTERN = 1_000
_PLURALS = {"memory": "memories", "shared memory": "shared memories"}


class ErasureReport(NamedTuple):
    """What was `erased`, or would be: counts, never words; the files of backups and transcripts
    that still contain it; and how many backups were removed."""

    erased: bool
    records: dict[str, int]
    events: int
    log_lines: int
    backups: tuple[str, ...]
    transcripts: tuple[str, ...]
    backups_removed: int


class PurgeConfirmation(StrEnum):
    """That a purge is meant."""

    PURGE = "purge"


class ScrubConfirmation(StrEnum):
    """That a scrub is meant."""

    SCRUB = "scrub"


Backups = Annotated[bool, Arg("also delete backups that contain it")]


def _report(found: Erased, erased: bool, remove_backups: bool = False) -> ErasureReport:
    """What was found, after removing the backups that hold it if that is wanted."""
    removed = found.copies if remove_backups else ()
    for path in removed:
        path.unlink(missing_ok=True)
    return ErasureReport(
        erased,
        dict(sorted(found.records.items())),
        found.events,
        found.log_lines,
        tuple(str(path) for path in found.copies if path.exists()),
        found.transcripts,
        len(removed),
    )


def _is_nothing(report: ErasureReport) -> bool:
    return not (report.records or report.events or report.log_lines)


def _plan_lines(plan: ErasureReport, backups: bool) -> list[str]:
    """What will be erased, and the files that hold it and stay as they are."""
    lines = [f"  {one}" for one in _record_counts(plan)]
    if plan.events:
        lines.append(f"  {number(plan.events, 'event')} in journals of hooks")
    if plan.log_lines:
        lines.append(f"  {number(plan.log_lines, 'line')} of the worker's log")
    kept = "will be deleted" if backups else "a backup; --backups deletes it"
    lines += [f"  still contains it: {path} ({kept})" for path in plan.backups]
    lines += [f"  may still contain it: {path} (not changed)" for path in plan.transcripts]
    return ["No matches in memory.", *lines] if _is_nothing(plan) else lines


def _record_counts(report: ErasureReport) -> list[str]:
    return [number(n, kind, _PLURALS.get(kind, "")) for kind, n in report.records.items()]


def _print_erasure(
    screen: Screen, report: ErasureReport, *, backups: bool = False, **_: object
) -> None:
    if not report.erased:
        for line in _plan_lines(report, backups):
            screen.line(line)
        if not _is_nothing(report):
            screen.line("Nothing was changed.")
        return
    counts = _record_counts(report)
    counts += [number(report.events, "event")] if report.events else []
    counts += [number(report.log_lines, "log line")] if report.log_lines else []
    screen.line(f"Erased permanently: {', '.join(counts) or 'nothing'}.")
    if report.backups_removed:
        screen.line(f"Removed {number(report.backups_removed, 'backup')}.")
    if report.backups:
        screen.line(f"{number(len(report.backups), 'backup')} still contain it:")
    for path in report.backups:
        screen.line(f"  {path}")


def _print_scrubbed(screen: Screen, report: ErasureReport, **given: Any) -> None:
    _print_erasure(screen, report, **given)
    if report.erased:
        screen.line("To keep it out from now on, add it to [redact.patterns] in config.toml.")


def _announce_purge(
    memory: Holdfast, *, id: str, backups: bool = False, bank: str = ALL_BANKS, **_: object
) -> Announcement:
    name = memory.curation.target(id, bank).uri
    plan = purge_plan(memory, id, bank)
    lines = (f"This erases {name} permanently:", *_plan_lines(plan, backups))
    return Announcement(lines, "Erase it?", default=False)


@operation(
    "purge",
    Level.ADMIN,
    rest="POST /records/{id:path}/purge",
    work=Work.RUN_LONG,
    text=_print_erasure,
    announce=_announce_purge,
    examples="""\
  holdfast purge holdfast://session/0b54c3aa-1d2e-4c8e-9c1f-2f8f7d1a9e10
  holdfast purge plan 5c1f0a""",
)
def purge(
    memory: Holdfast,
    id: RecordId,
    backups: Backups = False,
    confirm: Annotated[
        PurgeConfirmation | None, Arg('"purge": it cannot be undone', programs=True)
    ] = None,
    bank: AnyBank = ALL_BANKS,
    call: Call = OWNER,
) -> ErasureReport:
    """Erase a record permanently

    With everything derived from it: from the database with its index and vectors, from the
    journals of hooks, and from prepared briefs. Backups and transcripts that still contain it
    are named. This cannot be undone; `forget` only hides a record."""
    if confirm is None:
        raise InputError("A purge cannot be undone.", 'Send "purge" as `confirm` if it is meant.')
    return _report(memory.erasure.purge(id, bank, call.who), True, backups)


@operation(
    "purge plan",
    Level.ADMIN,
    rest="GET /records/{id:path}/purge",
    work=Work.RUN,
    text=_print_erasure,
    examples="  holdfast purge plan 5c1f0a",
)
def purge_plan(memory: Holdfast, id: RecordId, bank: AnyBank = ALL_BANKS) -> ErasureReport:
    """Show what a purge would erase

    Changes nothing."""
    return _report(memory.erasure.plan_purge(id, bank), False)


def _announce_scrub(
    memory: Holdfast, *, pattern: str, backups: bool = False, **_: object
) -> Announcement:
    plan = _report(memory.erasure.plan_scrub(pattern), False)
    if _is_nothing(plan) and not plan.backups:
        return Announcement(())
    return Announcement(tuple(_plan_lines(plan, backups)), "Erase it permanently?", default=False)


@operation(
    "scrub",
    Level.ADMIN,
    all_banks=True,
    work=Work.RUN_LONG,
    text=_print_scrubbed,
    announce=_announce_scrub,
    options=("dry_run",),
    examples="""\
  holdfast scrub - --yes < secret.txt
  holdfast scrub '/hunter[0-9]+/' --dry-run""",
)
def scrub(
    memory: Holdfast,
    pattern: Annotated[
        str,
        Arg(
            "a text, or a regular expression between slashes",
            "PATTERN",
            most=_MAX_PATTERN,
            from_input=True,
        ),
    ],
    backups: Backups = False,
    confirm: Annotated[
        ScrubConfirmation | None,
        Arg('"scrub": it cannot be undone; without it, matches are only counted', programs=True),
    ] = None,
    call: Call = OWNER,
) -> ErasureReport:
    """Erase a secret everywhere in the memory

    Permanently, from every bank: from the database with its index and vectors, from the
    journals of hooks, and from prepared briefs. The records stay, with [erased] in its place.
    Backups that contain it are named, and so are transcripts of your agent, which are not
    changed.

    The pattern is matched literally; between slashes it is a regular expression. On the command
    line a dash reads it from standard input, so that it does not end up in your shell history."""
    if confirm is None:
        return _report(memory.erasure.plan_scrub(pattern), False)
    return _report(memory.erasure.scrub(pattern, call.who), True, backups)
