"""The histories that were read once, followed from then on.

Only repositories that the user gave are ever looked at, and one that did not move costs no more
than reading a few small files. One that cannot be read is noted as a chore of its own, so that
the others go on.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from time import monotonic

from holdfast.app.background.step_runner import RetrySchedule, TimeUpError, WorkerPass
from holdfast.app.ingest.ingestion import exclusion_rules
from holdfast.capture.redact import Redactor
from holdfast.errors import HoldfastError, InputError
from holdfast.refine.git.history import HistoryOptions, read_history
from holdfast.sources.git.git_process import Git
from holdfast.sources.git.refs import Tips, read_tips
from holdfast.sources.git.tip_check import tags_changed_at, tips_from_files
from holdfast.store.protocol.git_history import Repository

MOST_S = 30.0


def follow_histories(worker_pass: WorkerPass, known: Iterable[Repository]) -> str:
    """Read what is new in repositories that moved, for a while; returns what came of it."""
    redactor = Redactor(worker_pass.settings.redact_patterns)
    chores = RetrySchedule(worker_pass.log, redactor, worker_pass.now)
    chores.load(worker_pass.memory)
    until = monotonic() + MOST_S
    new = failed = 0
    for repository in known:
        name = f"history of {repository.path}"
        if chores.is_waiting(name):
            continue
        try:
            new += _follow(worker_pass, repository, until)
            chores.record_success(name, worker_pass.memory)
        except TimeUpError:
            worker_pass.run_again = True
            return f"{new} commits; more wait"
        except HoldfastError as error:
            failed += 1
            chores.record_failure(name, error, worker_pass.memory)
    told = [f"{new} commits"] * bool(new) + [f"{failed} repositories cannot be read"] * bool(failed)
    return "; ".join(told)


def _excluded(worker_pass: WorkerPass, repository: Repository) -> bool:
    """Whether the settings have come to exclude it since."""
    return worker_pass.memory.context.banks.is_excluded(repository.folder or repository.path)


def _follow(worker_pass: WorkerPass, repository: Repository, until: float) -> int:
    place = _place(repository)
    if not has_moved(repository, place) or _excluded(worker_pass, repository):
        return 0

    def tick(done: int, total: int) -> None:
        worker_pass.on_progress("reading history", done, total)
        if monotonic() > until:
            raise TimeUpError

    how = HistoryOptions(exclusion_rules(worker_pass.settings), repository.bank, repository.diffs)
    return read_history(
        worker_pass.memory.store, worker_pass.memory.context.bank_maker, place, how, worker_pass.now, tick
    ).new


def _place(repository: Repository) -> Path:
    """Where to look at it from: the working folder it was read from, if that is still there."""
    for place in (repository.folder, repository.path):
        if place and Path(place).is_dir():
            return Path(place)
    raise InputError(
        f"{repository.folder or repository.path} is not there any more.",
        "What was read of its history is kept. If it was moved, read it again from where it is: "
        "holdfast ingest REPOSITORY.",
    )


def has_moved(repository: Repository, place: Path) -> bool:
    """Whether HEAD, a branch or the tags are not what they were when it was read."""
    common = Path(repository.path)
    tips = tips_from_files(common, place if place != common else None)
    if tips is None:
        tips = _asked(place)
    if (tips.head, set(tips.all)) != (repository.head, set(repository.tips)):
        return True
    return tags_changed_at(common) > datetime.fromisoformat(repository.read_at).timestamp()


def _asked(place: Path) -> Tips:
    """What git itself says; an error where it can say nothing."""
    git = Git(place)
    with git.stream("rev-parse", "--git-dir"):
        pass  # says what is wrong
    return read_tips(git)
