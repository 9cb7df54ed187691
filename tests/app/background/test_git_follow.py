"""The worker follows histories that were read once, and reads those of sessions by itself."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import pytest

from holdfast.app.background.git_follow import MAX_UNASKED_COMMITS
from holdfast.app.background.steps import STEPS
from holdfast.app.background.worker import run_worker
from holdfast.app.memory import Holdfast
from holdfast.capture.home_paths import HomePaths
from holdfast.settings import Settings
from holdfast.store.records.git_history import Repository
from tests.app.background.test_worker import BY_HAND, failed_tasks_of
from tests.support.repositories import commit, git, make_repository
from tests.support.transcripts import Script

T = TypeVar("T")
STEP = [step for step in STEPS if step.name == "history"]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(tmp_path / "home", tmp_path / "claude", embed_model="none")


def read(settings: Settings, *folders: Path, with_diff: bool = True) -> None:
    with Holdfast(settings, create=True) as memory:
        for folder in folders:
            memory.ingestion.ingest_git(folder, with_diff=with_diff)


def follow(settings: Settings) -> None:
    run_worker(settings, BY_HAND, STEP)


def look(settings: Settings, at: Callable[[Holdfast], T]) -> T:
    with Holdfast(settings) as memory:
        return at(memory)


def commits(memory: Holdfast) -> int:
    return memory.inventory.counts().commits


def repositories(memory: Holdfast) -> list[Repository]:
    return memory.reader.git.repositories()


def test_a_repository_that_was_read_once_is_followed_and_one_without_sessions_is_not_read(
    settings: Settings, tmp_path: Path
) -> None:
    top, other = make_repository(tmp_path / "r"), make_repository(tmp_path / "other")
    commit(top, "start", **{"a.txt": "1\n"})
    commit(other, "theirs", **{"a.txt": "1\n"})
    read(settings, top, with_diff=False)
    (before,) = look(settings, repositories)
    follow(settings)
    assert look(settings, repositories) == [before]  # nothing moved, nothing was done
    id = commit(top, "more", **{"a.txt": "1\n2\n"})
    follow(settings)
    (after,) = look(settings, repositories)
    assert look(settings, commits) == 2 and after.head == id
    # As it was read at first: without diffs, into the same bank.
    assert (after.diffs, after.bank) == (False, before.bank)
    patch = look(settings, lambda memory: memory.reader.git.patch(after.bank, id))
    assert patch is not None and patch.diff == "" and patch.changes[0].path == "a.txt"
    git(top, "tag", "v1")
    follow(settings)
    tags = look(settings, lambda memory: memory.reader.git.tags(after.bank))
    assert [tag.name for tag in tags] == ["v1"]


def test_an_unreadable_repository_is_noted_and_the_others_are_read(
    settings: Settings, tmp_path: Path
) -> None:
    gone, broken, good = (make_repository(tmp_path / name) for name in ("a", "b", "c"))
    for top in (gone, broken, good):
        commit(top, f"start {top.name}", **{"a.txt": f"{top.name}\n"})
    read(settings, gone, broken, good)
    shutil.rmtree(gone)
    (broken / ".git" / "HEAD").unlink()
    commit(good, "more", **{"a.txt": "2\n"})
    follow(settings)
    assert look(settings, commits) == 4
    problems = {chore.name: chore.problem for chore in failed_tasks_of(settings)}
    assert set(problems) == {f"history of {top / '.git'}" for top in (gone, broken)}
    assert "no longer exists" in problems[f"history of {gone / '.git'}"]
    # Back again, it is followed again, and the note goes.
    (broken / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    with Holdfast(settings) as memory, memory.store.transaction():
        memory.store.failed_tasks.clear(f"history of {broken / '.git'}")
    follow(settings)
    assert [chore.name for chore in failed_tasks_of(settings)] == [f"history of {gone / '.git'}"]


def test_following_can_be_turned_off_in_the_settings(settings: Settings, tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    commit(top, "start", **{"a.txt": "1\n"})
    read(settings, top)
    commit(top, "more", **{"a.txt": "2\n"})
    follow(replace(settings, git_read=False))
    follow(replace(settings, exclude_projects=(str(top),)))
    assert look(settings, commits) == 1 and not failed_tasks_of(settings)
    follow(settings)
    assert look(settings, commits) == 2


def work_in(settings: Settings, folder: Path, start: datetime) -> None:
    """Have a session in a folder."""
    script = Script(cwd=str(folder), start=start)
    script.user("Count the boats in the harbour")
    script.assistant("There are nine.")
    script.write(settings.claude_dir / "projects" / "p")
    with Holdfast(settings, create=True) as memory:
        memory.ingestion.ingest(memory.ingestion.find([settings.claude_dir / "projects"]))


@pytest.fixture
def worked_in(settings: Settings, tmp_path: Path) -> Path:
    """A repository in which a session worked today, and of which nothing was read."""
    top = make_repository(tmp_path / "r")
    commit(top, "start", **{"a.py": "def boats():\n    return 1\n"})
    commit(top, "count boats", **{"a.py": "def boats():\n    return 9\n"})
    work_in(settings, top, datetime.now(UTC))
    return top


def test_the_repository_of_a_session_is_read_without_diffs_and_without_being_named(
    settings: Settings, worked_in: Path
) -> None:
    follow(settings)
    (read_one,) = look(settings, repositories)
    assert (read_one.folder, read_one.diffs) == (str(worked_in), False)
    assert look(settings, commits) == 2
    sessions = look(settings, lambda memory: memory.reader.sessions.latest(None, 9))
    assert [session.bank for session in sessions] == [read_one.bank]
    assert look(settings, lambda memory: memory.browse.who_knows("a.py", worked_in.name))
    id = commit(worked_in, "more", **{"a.py": "def boats():\n    return 10\n"})
    follow(settings)
    assert look(settings, repositories)[0].head == id


@pytest.mark.parametrize("change", [{"git_sessions": False}, {"git_read": False}, "excluded"])
def test_reading_the_repositories_of_sessions_can_be_turned_off(
    settings: Settings, worked_in: Path, change: dict[str, bool] | str
) -> None:
    off = {"exclude_projects": (str(worked_in),)} if isinstance(change, str) else change
    follow(replace(settings, **off))
    assert look(settings, repositories) == [] and not failed_tasks_of(settings)


def test_a_repository_without_a_recent_session_is_not_read(
    settings: Settings, tmp_path: Path
) -> None:
    top = make_repository(tmp_path / "r")
    commit(top, "start", **{"a.txt": "1\n"})
    work_in(settings, top, datetime.now(UTC) - timedelta(days=40))
    follow(settings)
    assert look(settings, repositories) == []


def test_a_long_history_is_not_read_by_itself_and_is_counted_once(
    settings: Settings, worked_in: Path
) -> None:
    lines = [b"blob\nmark :1\ndata 1\nx\n"]
    for number in range(MAX_UNASKED_COMMITS + 1):
        lines.append(
            b"commit refs/heads/long\ncommitter A <a@x.org> %d +0000\ndata 1\nm\n"
            b"M 644 :1 f%d\n" % (1_700_000_000 + number, number % 3)
        )
    subprocess.run(
        ["git", "-C", worked_in, "fast-import", "--quiet"], input=b"".join(lines), check=True
    )
    follow(settings)
    assert look(settings, repositories) == [] and not failed_tasks_of(settings)
    marks = HomePaths(settings.home).session_marks
    (mark,) = marks.glob("history-*")
    assert mark.stat().st_mode & 0o777 == 0o600
    assert "holdfast ingest" in HomePaths(settings.home).worker_log.read_text()
