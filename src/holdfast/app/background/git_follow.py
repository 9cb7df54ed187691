"""Reads new commits of repositories whose history was read before, and the histories of those that
sessions work in.

Checking a repository that has not changed costs reading a few small files. One that cannot be read
is recorded as a failed task of its own, and the others are still read. What nobody asked for is
bounded: messages and names of files without diffs, no repository of more than 20,000 commits, and
none in which no session was for a month.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from time import monotonic

from holdfast.app.background.step_runner import RetrySchedule, TimeUpError, WorkerPass, join_counts
from holdfast.app.ingest.ingestion import exclusion_rules
from holdfast.errors import HoldfastError, InputError
from holdfast.language import counted
from holdfast.paths import comparable_path
from holdfast.refine.git.history import HistoryOptions, read_history
from holdfast.sources.git.git_process import Git
from holdfast.sources.git.refs import Tips, count_commits, read_tips
from holdfast.sources.git.tip_check import tags_changed_at, tips_from_files
from holdfast.store.records.git_history import Repository

# Seconds that one pass spends on git histories; the rest is read in the next pass. A higher value
# makes new hook events wait longer behind a large repository.
_TIME_LIMIT_S = 30.0
# A history of more commits is not read unless somebody asks for it.
MAX_UNASKED_COMMITS = 20_000
# Neither is that of a repository in which no session was for so long.
_UNASKED_SESSION_AGE = timedelta(days=30)
_GIT_DIR = "gitdir:"


def follow_histories(worker_pass: WorkerPass, known: Iterable[Repository]) -> str:
    """Read the new commits of the repositories that changed, within the time limit. Returns a
    summary for people."""
    redactor = worker_pass.memory.context.redactor()
    retries = RetrySchedule(worker_pass.log, redactor, worker_pass.now)
    retries.load(worker_pass.memory)
    until = monotonic() + _TIME_LIMIT_S
    new = failed = 0
    for path, repository in _by_path(worker_pass, known).items():
        name = f"history of {path}"
        if retries.is_waiting(name):
            continue
        try:
            if repository is None:
                new += _begin(worker_pass, Path(path), until)
            else:
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

    return _read(worker_pass, folder, repository.bank, repository.diffs, until)


def _begin(worker_pass: WorkerPass, git_dir: Path, until: float) -> int:
    """Read a history that nobody asked for, unless it is too long. Returns how many commits it
    has."""
    folder = git_dir.parent if git_dir.name == ".git" else git_dir
    too_long = _too_long_mark(worker_pass, git_dir)
    if worker_pass.memory.context.banks.is_excluded(str(folder)) or too_long.exists():
        return 0
    git = Git(folder)
    if count_commits(git, read_tips(git), MAX_UNASKED_COMMITS + 1) > MAX_UNASKED_COMMITS:
        too_long.parent.mkdir(mode=0o700, exist_ok=True)
        too_long.touch(0o600)
        worker_pass.log.write(
            f"the history of {folder} has over {MAX_UNASKED_COMMITS} commits and is not read by "
            f"itself; to read it: holdfast ingest {folder}"
        )
        return 0
    return _read(worker_pass, folder, "", False, until)


def _read(worker_pass: WorkerPass, folder: Path, bank: str, diffs: bool, until: float) -> int:
    def on_progress(done: int, total: int) -> None:
        worker_pass.on_progress("reading history", done, total)
        if monotonic() > until:
            raise TimeUpError

    options = HistoryOptions(exclusion_rules(worker_pass.settings), bank, diffs)
    memory = worker_pass.memory
    return read_history(
        memory.store, memory.context.bank_maker, folder, options, worker_pass.now, on_progress
    ).new


def _by_path(worker_pass: WorkerPass, known: Iterable[Repository]) -> dict[str, Repository | None]:
    """The repositories to look at, by git directory; None for those that were never read."""
    found: dict[str, Repository | None] = {repository.path: repository for repository in known}
    if not worker_pass.settings.git_sessions:
        return found
    reader, seen = worker_pass.memory.reader, set(map(comparable_path, found))
    now = datetime.fromisoformat(worker_pass.now())
    for bank in reader.banks.all():
        paths = [a.removeprefix(_GIT_DIR) for a in bank.aliases if a.startswith(_GIT_DIR)]
        paths = [path for path in paths if path not in seen and Path(path).is_dir()]
        end = reader.sessions.last_end(bank.id) if paths else ""
        if end and now - datetime.fromisoformat(end) < _UNASKED_SESSION_AGE:
            found |= dict.fromkeys(paths)
    return found


def _too_long_mark(worker_pass: WorkerPass, git_dir: Path) -> Path:
    """A file that keeps a long history from being counted in every pass. Marks are removed after
    some weeks, and it is counted again."""
    name = sha256(str(git_dir).encode()).hexdigest()[:16]
    return worker_pass.paths.session_marks / f"history-{name}"


def _existing_folder(repository: Repository) -> Path:
    """The working folder that the repository was read from, or else its git directory."""
    for folder in (repository.folder, repository.path):
        if folder and Path(folder).is_dir():
            return Path(folder)
    raise InputError(
        f"{repository.folder or repository.path} no longer exists.",
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
