"""Reads new commits of repositories whose history was read before, and the histories of those that
sessions work in.

Checking a repository that has not changed costs reading a few small files. One that cannot be read
is recorded as a failed task of its own, and the others are still read. What nobody asked for is
bounded: messages and names of files without diffs, no repository of more than 20,000 commits, and
none in which no session was for a month.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from time import monotonic

from holdfast.app.background.runner import TimeUpError, Worker
from holdfast.app.ingest.ingestion import exclusion_rules
from holdfast.errors import HoldfastError, InputError
from holdfast.language import counted
from holdfast.paths import comparable_path
from holdfast.refine.git.history import HistoryOptions, Progress, read_history
from holdfast.sources.git.git_process import Git
from holdfast.sources.git.refs import count_commits, read_tips
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


def follow_histories(worker: Worker) -> str:
    """Read the new commits of the repositories that changed, within the time limit. Returns a
    summary for people."""
    until = monotonic() + _TIME_LIMIT_S

    def on_progress(done: int, total: int) -> None:
        worker.on_progress("reading history", done, total)
        if monotonic() > until:
            raise TimeUpError

    new = failed = 0
    for path, repository in _repositories(worker).items():
        task = f"history of {path}"
        if worker.retries.is_waiting(task):
            continue
        try:
            new += _read_new(worker, Path(path), repository, on_progress)
            worker.retries.record_success(task)
        except TimeUpError:
            worker.run_again = True
            return f"{counted(new, 'commit')}; more wait"
        except HoldfastError as error:
            failed += 1
            worker.retries.record_failure(task, error)
    unread = f"{counted(failed, 'repository', 'repositories')} cannot be read"
    return "; ".join([counted(new, "commit")] * bool(new) + [unread] * bool(failed))


def _repositories(worker: Worker) -> dict[str, Repository | None]:
    """The repositories to look at, by git directory; None for those that were never read."""
    reader = worker.memory.reader
    found: dict[str, Repository | None] = {one.path: one for one in reader.git.repositories()}
    known, now = set(map(comparable_path, found)), datetime.fromisoformat(worker.now())
    for bank in reader.banks.all() if worker.settings.git_sessions else ():
        paths = [a.removeprefix(_GIT_DIR) for a in bank.aliases if a.startswith(_GIT_DIR)]
        paths = [path for path in paths if path not in known and Path(path).is_dir()]
        end = reader.sessions.last_end(bank.id) if paths else ""
        if end and now - datetime.fromisoformat(end) < _UNASKED_SESSION_AGE:
            found |= dict.fromkeys(paths)
    return found


def _read_new(
    worker: Worker, git_dir: Path, repository: Repository | None, on_progress: Progress
) -> int:
    """Read one repository, unless it is unchanged, too long, or excluded by now. Returns the number
    of new commits."""
    memory = worker.memory
    if repository is None:
        folder = git_dir.parent if git_dir.name == ".git" else git_dir
        bank, diffs = "", False
    else:
        folder = Path(repository.folder or git_dir)
        bank, diffs = repository.bank, repository.diffs
    if memory.context.banks.is_excluded(str(folder)):
        return 0
    if repository is None:
        if _is_too_long(worker, git_dir, folder):
            return 0
    else:
        folder = _existing(folder, git_dir)
        if not _has_moved(repository, folder):
            return 0
    options = HistoryOptions(exclusion_rules(worker.settings), bank, diffs)
    store, banks = memory.store, memory.context.bank_maker
    return read_history(store, banks, folder, options, worker.now, on_progress).new


def _is_too_long(worker: Worker, git_dir: Path, folder: Path) -> bool:
    """Whether a history is too long to be read unasked. A mark keeps it from being counted in every
    pass; marks are removed after some weeks, and it is counted again."""
    name = sha256(str(git_dir).encode()).hexdigest()[:16]
    mark = worker.paths.session_marks / f"history-{name}"
    if mark.exists():
        return True
    git = Git(folder)
    if count_commits(git, read_tips(git), MAX_UNASKED_COMMITS + 1) <= MAX_UNASKED_COMMITS:
        return False
    mark.parent.mkdir(mode=0o700, exist_ok=True)
    mark.touch(0o600)
    worker.log.write(
        f"the history of {folder} has over {MAX_UNASKED_COMMITS} commits and is not read by "
        f"itself; to read it: holdfast ingest {folder}"
    )
    return True


def _existing(folder: Path, git_dir: Path) -> Path:
    """The working folder that a repository was read from, or else its git directory."""
    for one in (folder, git_dir):
        if one.is_dir():
            return one
    raise InputError(
        f"{folder} no longer exists.",
        "What was read of its history is kept. If it was moved, read it again from where it is: "
        "holdfast ingest REPOSITORY.",
    )


def _has_moved(repository: Repository, folder: Path) -> bool:
    """Whether HEAD, a branch or a tag has changed since the repository was read."""
    common = Path(repository.path)
    tips = tips_from_files(common, folder if folder != common else None)
    if tips is None:  # the files do not show refs of this format
        git = Git(folder)
        with git.stream("rev-parse", "--git-dir"):
            pass  # raises an error that explains why git cannot read the repository
        tips = read_tips(git)
    if (tips.head, set(tips.all)) != (repository.head, set(repository.tips)):
        return True
    return tags_changed_at(common) > datetime.fromisoformat(repository.read_at).timestamp()
