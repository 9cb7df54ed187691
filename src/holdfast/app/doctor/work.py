"""The worker: its lease, what it failed at, and whether it keeps ahead of the host's cleaning."""

from __future__ import annotations

from functools import partial

from holdfast.app.background.worker import WorkerOptions, run_worker
from holdfast.app.core.lease import worker_status
from holdfast.app.doctor.check import Check, DoctorContext, Grade, ok
from holdfast.app.status.health import ago, archive_status
from holdfast.settings import Settings


def check_work(context: DoctorContext) -> list[Check]:
    """Lease, failed steps, archive."""
    return [_lease(context), _chores(context), _archive(context)]


def _lease(context: DoctorContext) -> Check:
    seen = worker_status(context.paths)
    if seen.stale:

        def remove() -> str:
            context.paths.worker_pid.unlink(missing_ok=True)
            return f"{context.paths.worker_pid} removed."

        sentence = f"{context.paths.worker_pid} names a worker that is gone."
        return Check("worker", Grade.WARNING, sentence, "holdfast doctor --fix", remove)
    if seen.running:
        return ok("worker", f"A worker is at work{f' ({seen.pid})' if seen.pid else ''}.")
    return ok("worker", "No worker runs; hooks start one when there is something to do.")


def _chores(context: DoctorContext) -> Check:
    chores = context.memory.inventory.failed_tasks() if context.memory else []
    if not chores:
        return ok("chores", "Nothing has failed that is still to be done.")
    told = " ".join(
        f"{chore.name} failed {chore.attempts} times, last {ago(chore.failed_at)}: {chore.problem}"
        for chore in chores
    )
    fix = partial(run_worker_as_fix, context.settings)
    return Check("chores", Grade.WARNING, told, "holdfast worker", fix)


def _archive(context: DoctorContext) -> Check:
    if context.memory is None:
        return ok("archive", "Not looked at.")
    found = archive_status(
        context.memory.reader.sources(), context.settings, context.hooks.kept_days
    )
    if not found.at_risk:
        return ok("archive", "Every transcript is read well before Claude Code deletes it.")
    sentence = (
        f"{found.at_risk:,} transcripts are not fully read; Claude Code deletes the first in "
        f"{found.first_in_days:.0f} days (cleanupPeriodDays is {found.kept_days:g})."
    )
    fix = partial(run_worker_as_fix, context.settings)
    return Check("archive", Grade.WARNING, sentence, "holdfast worker", fix)


def run_worker_as_fix(settings: Settings) -> str:
    """Run the worker, as a fix."""
    outcome = run_worker(settings, WorkerOptions(start_delay_s=0, linger_s=0))
    if outcome.passes is None:
        return "A worker is at it."
    if outcome.failed:
        return f"Failed again: {', '.join(outcome.failed)}."
    return "The worker did what was left."
