"""Reads new commits of repositories whose history was read before.

Only repositories that the user has named are read. Checking one that has not changed costs reading
a few small files. A repository that cannot be read is recorded as a failed task of its own, and the
others are still read.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from time import monotonic

from holdfast.app.background.step_runner import RetrySchedule, TimeUpError, WorkerPass, join_counts
from holdfast.app.ingest.ingestion import exclusion_rules
from holdfast.errors import HoldfastError, InputError
from holdfast.language import counted
from holdfast.refine.git.history import HistoryOptions, read_history
from holdfast.sources.git.git_process import Git
from holdfast.sources.git.refs import Tips, read_tips
from holdfast.sources.git.tip_check import tags_changed_at, tips_from_files
from holdfast.store.records.git_history import Repository

# Seconds that one pass spends on git histories; the rest is read in the next pass. A higher value
# makes new hook events wait longer behind a large repository.
_TIME_LIMIT_S = 30.0


def follow_histories(worker_pass: WorkerPass, known: Iterable[Repository]) -> str:
    """Read the new commits of the repositories that changed, within the time limit. Returns a
    summary for people."""
    redactor = worker_pass.memory.context.redactor()
    retries = RetrySchedule(worker_pass.log, redactor, worker_pass.now)
    retries.load(worker_pass.memory)
    until = monotonic() + _TIME_LIMIT_S
    new = failed = 0
    for repository in known:
        name = f"history of {repository.path}"
        if retries.is_waiting(name):
            continue
        try:
            new += _follow(worker_pass, repository, until)
            retries.record_success(name)
        except TimeUpError:
            worker_pass.run_again = True
            return f"{counted(new, 'commit')}; more wait"
        except HoldfastError as error:
            failed += 1
            retries.record_failure(name, error)
    unread = counted(failed, "repository", "repositories")
    return join_counts((new, counted(new, "commit")), (failed, f"{unread} cannot be read"))


def _follow(worker_pass: WorkerPass, repository: Repository, until: float) -> int:
    """Read one repository, unless it is unchanged or the settings exclude it by now. Returns the
    number of new commits."""
    folder = _existing_folder(repository)
    context = worker_pass.memory.context
    if not has_moved(repository, folder) or context.banks.is_excluded(
        repository.folder or repository.path
    ):
        return 0

    def on_progress(done: int, total: int) -> None:
        worker_pass.on_progress("reading history", done, total)
        if monotonic() > until:
            raise TimeUpError

    options = HistoryOptions(
        exclusion_rules(worker_pass.settings), repository.bank, repository.diffs
    )
    return read_history(
        worker_pass.memory.store, context.bank_maker, folder, options, worker_pass.now, on_progress
    ).new


def _existing_folder(repository: Repository) -> Path:
    """The working folder that the repository was read from, or else its git directory."""
    for folder in (repository.folder, repository.path):
        if folder and Path(folder).is_dir():
            return Path(folder)
    raise InputError(
        f"{repository.folder or repository.path} is not there any more.",
        "What was read of its history is kept. If it was moved, read it again from where it is: "
        "holdfast ingest REPOSITORY.",
    )


def has_moved(repository: Repository, folder: Path) -> bool:
    """Whether HEAD, a branch or a tag has changed since the repository was read."""
    common = Path(repository.path)
    tips = tips_from_files(common, folder if folder != common else None)
    if tips is None:
        tips = _tips_from_git(folder)
    if (tips.head, set(tips.all)) != (repository.head, set(repository.tips)):
        return True
    return tags_changed_at(common) > datetime.fromisoformat(repository.read_at).timestamp()


def _tips_from_git(folder: Path) -> Tips:
    """The tips as git reports them, for ref formats that the files do not show."""
    git = Git(folder)
    with git.stream("rev-parse", "--git-dir"):
        pass  # raises an error that explains why git cannot read the repository
    return read_tips(git)
