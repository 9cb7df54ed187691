"""Reading git history: incremental, rewritten, reverted, and unusual repositories."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.model.team import Commit
from holdfast.model.trust import Status
from holdfast.refine.git.history import HistoryReport
from holdfast.settings import Settings

NOW = "2026-11-15T12:00:00.000Z"


class Repository:
    """A real repository, and a memory that reads it."""

    def __init__(self, folder: Path) -> None:
        self.top = folder / "harbour"
        self.top.mkdir()
        self.git("init", "-q", "-b", "main")
        settings = Settings(folder / "home", folder / "claude", embed_model="none")
        self.memory = Holdfast(settings, lambda: NOW)

    def git(self, *arguments: str) -> str:
        identity = ["-c", "user.name=Ann Ex", "-c", "user.email=ann@x.org"]
        command = ["git", *identity, "-C", str(self.top), *arguments]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(self, message: str, **files: str) -> str:
        for name, content in files.items():
            (self.top / name).write_text(content)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def read(self, with_diff: bool = True) -> HistoryReport:
        return self.memory.ingestion.ingest_git(self.top, with_diff=with_diff)

    @property
    def bank(self) -> str:
        (bank,) = self.memory.reader.banks.all()
        return bank.id

    def status(self, id: str) -> Status:
        found = self.memory.reader.passages.search(self.bank, ["crane"])
        return next(match.passage.status for match in found if match.passage.id == id)


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Repository]:
    made = Repository(tmp_path)
    yield made
    made.memory.close()


def test_only_new_commits_are_read(repository: Repository) -> None:
    repository.commit("Build the crane", **{"crane.py": "def lift():\n    return 1\n"})
    assert repository.read()[1:] == (1, 1, 0)
    id = repository.commit("Lift higher", **{"crane.py": "def lift():\n    return 2\n"})
    progress: list[tuple[int, int]] = []
    memory = repository.memory
    assert (
        memory.ingestion.ingest_git(
            repository.top, on_progress=lambda done, all: progress.append((done, all))
        ).new
        == 1
    )
    assert progress == [(1, 2)]
    patch = memory.reader.git.patch(repository.bank, id)
    assert patch is not None and patch.diff.endswith("-    return 1\n+    return 2")
    (hit,) = memory.recall("lift", bank=repository.bank, limit=1).hits
    assert hit.kind == "commit"


def test_commits_of_a_rewritten_history_stay_as_unmerged(repository: Repository) -> None:
    first = repository.commit("Build the crane")
    lost = repository.commit("Paint the crane red")
    repository.read()
    repository.git("reset", "-q", "--hard", first)
    kept = repository.commit("Paint the crane blue")
    assert repository.read()[1:] == (2, 1, 1)
    reader = repository.memory.reader
    assert reader.git.unmerged_commits(repository.bank, [first, lost, kept]) == {lost}
    assert len(reader.records.find(repository.bank, "commit", lost)) == 1
    repository.git("reflog", "expire", "--expire=now", "--all")
    repository.git("gc", "-q", "--prune=now")
    assert repository.read().new == 0
    assert len(reader.records.find(repository.bank, "commit", lost)) == 1


def test_a_revert_retracts_until_it_is_reverted(repository: Repository) -> None:
    repository.commit("Start", **{"a.txt": "1\n"})
    change = repository.commit("Let the crane swing", **{"a.txt": "2\n"})
    repository.read()
    assert repository.status(change) is Status.OBSERVED
    repository.git("revert", "--no-edit", change)
    repository.read()
    assert repository.status(change) is Status.RETRACTED
    repository.git("revert", "--no-edit", "HEAD")
    repository.read()
    assert repository.status(change) is Status.OBSERVED


def test_the_result_does_not_depend_on_the_number_of_runs(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    one, two = Repository(tmp_path / "one"), Repository(tmp_path / "two")
    for number in range(4):
        one.commit(f"crane {number}", **{"a.txt": f"{number}\n"})
        one.read()
    one.git("revert", "--no-edit", "HEAD")
    one.read()
    two.memory.ingestion.ingest_git(one.top)

    def all_of(memory: Holdfast) -> list[Commit]:
        (bank,) = memory.reader.banks.all()
        return sorted(memory.store.git.commits_uncurated(bank.id), key=lambda commit: commit.id)

    commits = all_of(one.memory)
    assert len(commits) > 3 and commits == all_of(two.memory)
    one.memory.close()
    two.memory.close()


def test_secrets_in_diffs_are_redacted(repository: Repository) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    id = repository.commit("Add settings", **{"s.py": f"TOKEN = '{secret}'\n"})
    repository.read()
    patch = repository.memory.reader.git.patch(repository.bank, id)
    assert patch is not None and "redacted" in patch.diff and secret not in patch.diff


def test_only_file_names_are_read_without_diffs(repository: Repository) -> None:
    id = repository.commit("Build the crane", **{"crane.py": "x = 1\n"})
    repository.read(with_diff=False)
    patch = repository.memory.reader.git.patch(repository.bank, id)
    assert patch is not None and patch.diff == "" and patch.changes[0].path == "crane.py"


def test_renames_are_recorded(repository: Repository) -> None:
    repository.commit("Build", **{"crane.py": "x = 1\n" * 9})
    repository.git("mv", "crane.py", "lift.py")
    repository.commit("Rename")
    repository.read()
    ((_, was, now),) = repository.memory.reader.git.renames(repository.bank)
    assert (was, now) == ("crane.py", "lift.py")


def test_an_empty_repository_has_no_commits(repository: Repository) -> None:
    assert repository.read()[1:] == (0, 0, 0)


def test_a_bare_repository_is_read_like_any_other(repository: Repository, tmp_path: Path) -> None:
    repository.commit("Build the crane", **{"crane.py": "def lift():\n    return 1\n"})
    bare = tmp_path / "harbour.git"
    subprocess.run(["git", "clone", "-q", "--bare", str(repository.top), str(bare)], check=True)
    assert repository.memory.ingestion.ingest_git(bare, "bare")[1:] == (1, 1, 0)


def test_a_detached_head_is_used(repository: Repository) -> None:
    first = repository.commit("Build the crane", **{"crane.py": "1\n"})
    later = repository.commit("Lift the crane", **{"crane.py": "2\n"})
    repository.git("checkout", "-q", "--detach", first)
    assert repository.read() == HistoryReport("harbour", 2, 2, 1)
    assert repository.memory.reader.git.unmerged_commits(repository.bank, [first, later]) == {later}


def test_a_squashed_branch_stays_unmerged(repository: Repository) -> None:
    repository.commit("Build the crane", **{"crane.py": "1\n"})
    repository.git("checkout", "-q", "-b", "side")
    own = repository.commit("Lift the crane", **{"crane.py": "2\n"})
    repository.git("checkout", "-q", "main")
    repository.git("merge", "-q", "--squash", "side")
    squashed = repository.commit("Lift the crane (#2)")
    assert repository.read().astray == 1
    assert repository.memory.reader.git.unmerged_commits(repository.bank, [own, squashed]) == {own}


def test_a_shallow_clone_gives_what_it_has(repository: Repository, tmp_path: Path) -> None:
    for number in range(3):
        repository.commit(f"crane {number}", **{"a.txt": f"{number}\n"})
    clone = tmp_path / "shallow"
    source = f"file://{repository.top}"
    subprocess.run(["git", "clone", "-q", "--depth", "1", source, str(clone)], check=True)
    assert repository.memory.ingestion.ingest_git(clone, "shallow").new == 1


def test_a_broken_object_loses_only_what_cannot_be_read(repository: Repository) -> None:
    repository.commit("one", **{"a.txt": "1\n"})
    repository.read()
    id = repository.commit("two", **{"a.txt": "2\n"})
    path = repository.top / ".git" / "objects" / id[:2] / id[2:]
    path.chmod(0o600)
    path.write_bytes(b"broken")
    with pytest.raises(InputError, match="cannot be read") as caught:
        repository.read()
    assert "git fsck" in caught.value.remedy
    assert repository.memory.reader.records.counts(repository.bank).commits == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_repository_of_another_user_is_refused_with_a_hint_on_safe_directory(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    repository.commit("one")
    monkeypatch.setenv("HOME", str(tmp_path))
    for path in (repository.top, repository.top / ".git"):
        os.chown(path, 12345, 12345)
    with pytest.raises(InputError) as caught:
        repository.read()
    assert "safe.directory" in caught.value.remedy


def test_purging_a_commit_removes_its_diff(repository: Repository) -> None:
    id = repository.commit("Build the crane", **{"crane.py": "moonstone = 1\n"})
    repository.read()
    repository.memory.erasure.purge(id)
    home = repository.memory.settings.home
    assert b"moonstone" not in b"".join(f.read_bytes() for f in home.glob("memory.db*"))
    assert repository.read().new == 0
    repository.commit("More", **{"crane.py": "sapphire = 2\n"})
    repository.read()
    repository.memory.erasure.scrub("sapphire")
    assert b"sapphire" not in b"".join(f.read_bytes() for f in home.glob("memory.db*"))
