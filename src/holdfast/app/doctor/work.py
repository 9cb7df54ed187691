"""Checks of the worker: its lease, failed tasks, and transcripts that will be deleted unread."""

from __future__ import annotations

from functools import partial

from holdfast.app.background.worker import WorkerOptions, run_worker
from holdfast.app.core.lease import worker_status
from holdfast.app.doctor.check import FIX, Check, DoctorContext, Grade, ok
from holdfast.app.status.health import ago, archive_status
from holdfast.settings import Settings


def check_work(context: DoctorContext) -> list[Check]:
    """Lease, failed tasks, archive."""
    return [_lease(context), _failed_tasks(context), _archive(context)]


def _lease(context: DoctorContext) -> Check:
    status = worker_status(context.paths)
    if status.stale:

        def remove() -> str:
            context.paths.worker_pid.unlink(missing_ok=True)
            return f"{context.paths.worker_pid} removed."

        sentence = f"{context.paths.worker_pid} names a worker that is no longer running."
        return Check("worker", Grade.WARNING, sentence, FIX, remove)
    if status.running:
        return ok("worker", f"A worker is running{f' ({status.pid})' if status.pid else ''}.")
    return ok("worker", "No worker is running; hooks start one when needed.")


def _failed_tasks(context: DoctorContext) -> Check:
    tasks = context.memory.inventory.failed_tasks() if context.memory else []
    if not tasks:
        return ok("tasks", "No failed tasks.")
    sentence = " ".join(
        f"{task.name} failed {task.attempts} times, last {ago(task.failed_at)}: {task.problem}"
        for task in tasks
    )
    fix = partial(run_worker_as_fix, context.settings)
    return Check("tasks", Grade.WARNING, sentence, "holdfast worker", fix)


def _archive(context: DoctorContext) -> Check:
    if context.memory is None:
        return ok("transcripts", "Not checked.")
    sources = context.memory.reader.sources.all()
    archive = archive_status(sources, context.settings, context.hooks.kept_days)
    if not archive.at_risk:
        return ok("transcripts", "Every transcript is read well before Claude Code deletes it.")
    sentence = (
        f"{archive.at_risk:,} transcripts are not fully read; Claude Code deletes the first in "
        f"{archive.first_in_days:.0f} days (cleanupPeriodDays is {archive.kept_days:g})."
    )
    fix = partial(run_worker_as_fix, context.settings)
    return Check("transcripts", Grade.WARNING, sentence, "holdfast worker", fix)


def run_worker_as_fix(settings: Settings) -> str:
    """Run the worker in this process; returns what came of it."""
    outcome = run_worker(settings, WorkerOptions(start_delay_s=0, linger_s=0))
    if outcome.passes is None:
        return "A worker is already running."
    if outcome.failed:
        return f"Failed again: {', '.join(outcome.failed)}."
    return "The worker finished the remaining tasks."
