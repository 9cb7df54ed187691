import shutil
from pathlib import Path

import pytest

from holdfast.model.bank import Bank
from holdfast.refine.core.banks import BankMaker
from holdfast.settings import Settings
from holdfast.sources.project import base_name, identify_project, normal_remote
from holdfast.store.sqlite.store import SqliteStore
from tests.support.repositories import git

NOW = "2026-03-01T10:00:00.000Z"


def make_repository(folder: Path, message: str = "first", remote: str = "") -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder


def open_store(tmp_path: Path) -> SqliteStore:
    return SqliteStore(tmp_path / "memory.db")


def bank_of(store: SqliteStore, folder: Path | str) -> str:
    """The bank of a folder, looked at afresh."""
    settings = Settings(home=Path("/nowhere"), claude_dir=Path("/nowhere"))
    with store.transaction():
        return BankMaker(settings, lambda: NOW).ensure(store, str(folder))


def the_bank(store: SqliteStore, id: str) -> Bank:
    bank = store.banks.get(id)
    assert bank is not None
    return bank


def test_a_subfolder_belongs_to_its_repository(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "proj")
    (top / "src" / "deep").mkdir(parents=True)

    found = identify_project(str(top / "src" / "deep"))

    assert found == identify_project(str(top))
    assert (found.name, found.root, found.exists) == ("proj", str(top), True)
    assert [alias.partition(":")[0] for alias in found.aliases] == [
        "root",
        "gitdir",
        "folder",
        "path",
    ]


def test_the_history_of_a_repository_is_read_once_for_each_latest_commit(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "proj")
    found = identify_project(str(top))
    objects, aside = top / ".git" / "objects", tmp_path / "aside"
    # Without its objects git still names the latest commit, but finds no other.
    shutil.copytree(objects, aside)
    shutil.rmtree(objects)
    objects.mkdir()
    assert identify_project(str(top)) == found
    shutil.rmtree(objects)
    shutil.copytree(aside, objects)
    git(top, "commit", "-q", "--allow-empty", "-m", "second")
    assert identify_project(str(top)) == found
    git(top, "checkout", "-q", "--orphan", "other")
    git(top, "commit", "-q", "--allow-empty", "-m", "another beginning")
    assert identify_project(str(top)).aliases[0] not in found.aliases


def test_a_worktree_shares_the_bank_of_its_repository(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "proj")
    git(top, "worktree", "add", "-q", str(tmp_path / "elsewhere"), "-b", "side")
    git(top, "worktree", "add", "-q", str(top / ".claude" / "worktrees" / "wt1"), "-b", "wt1")
    store = open_store(tmp_path)

    banks = {
        bank_of(store, folder)
        for folder in (top, tmp_path / "elsewhere", top / ".claude" / "worktrees" / "wt1")
    }

    assert len(banks) == 1
    assert identify_project(str(tmp_path / "elsewhere")).root == str(tmp_path / "elsewhere")
    assert identify_project(str(tmp_path / "elsewhere")).name == "proj"
    store.close()


def test_a_clone_from_a_local_path_shares_the_bank(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "proj")
    git(tmp_path, "clone", "-q", str(top), "copy")
    store = open_store(tmp_path)

    assert bank_of(store, top) == bank_of(store, tmp_path / "copy")
    store.close()


def test_all_spellings_of_a_remote_are_one_project(tmp_path: Path) -> None:
    spellings = [
        "git@github.com:Org/Repo.git",
        "https://github.com/org/repo",
        "ssh://git@github.com:22/org/repo.git/",
        "https://user:pw@github.com/org/repo.git",
    ]
    store = open_store(tmp_path)

    # Of one remote, but not of one history: only the remote can tell.
    banks = {
        bank_of(store, make_repository(tmp_path / f"c{n}" / "repo", f"first {n}", remote))
        for n, remote in enumerate(spellings)
    }

    assert len(banks) == 1
    assert the_bank(store, banks.pop()).name == "org/repo"
    store.close()


def test_a_bare_repository_with_worktrees_is_one_project_named_after_its_folder(
    tmp_path: Path,
) -> None:
    source = make_repository(tmp_path / "source")
    home = tmp_path / "proj"
    home.mkdir()
    git(tmp_path, "clone", "-q", "--bare", str(source), str(home / ".bare"))
    git(home / ".bare", "remote", "remove", "origin")
    (home / ".git").write_text("gitdir: ./.bare\n")
    git(home, "worktree", "add", "-q", str(home / "main"), "main")
    store = open_store(tmp_path)

    top, tree = identify_project(str(home)), identify_project(str(home / "main"))

    assert (top.name, top.root) == ("proj", str(home))
    assert (tree.name, tree.root) == ("proj", str(home / "main"))
    assert bank_of(store, home) == bank_of(store, home / "main")
    store.close()


def test_a_renamed_remote_keeps_the_bank(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "proj", remote="git@github.com:org/old.git")
    store = open_store(tmp_path)
    before = bank_of(store, top)

    git(top, "remote", "set-url", "origin", "https://gitlab.com/team/new")

    assert bank_of(store, top) == before
    assert {"remote:github.com/org/old", "remote:gitlab.com/team/new"} <= set(
        the_bank(store, before).aliases
    )
    store.close()


def test_a_folder_reused_for_another_repository_gets_another_bank(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    first = bank_of(store, make_repository(tmp_path / "proj", "one history"))
    shutil.rmtree(tmp_path / "proj")

    second = bank_of(store, make_repository(tmp_path / "proj", "another history"))

    assert first != second
    assert bank_of(store, tmp_path / "proj") == second
    store.close()


def test_a_repository_keeps_its_bank_when_it_gets_its_first_commit(tmp_path: Path) -> None:
    folder = tmp_path / "proj"
    folder.mkdir()
    git(folder, "init", "-q")
    store = open_store(tmp_path)
    before = bank_of(store, folder)

    git(folder, "commit", "-q", "--allow-empty", "-m", "first")

    assert bank_of(store, folder) == before
    store.close()


def test_a_folder_keeps_its_bank_when_it_becomes_a_repository(tmp_path: Path) -> None:
    folder = tmp_path / "proj"
    folder.mkdir()
    store = open_store(tmp_path)
    before = bank_of(store, folder)

    git(folder, "init", "-q")

    assert bank_of(store, folder) == before
    store.close()


def test_a_repository_that_moved_keeps_its_bank(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    before = bank_of(store, make_repository(tmp_path / "old" / "proj"))

    (tmp_path / "old").rename(tmp_path / "new")

    assert bank_of(store, tmp_path / "new" / "proj") == before
    store.close()


def test_a_folder_without_git_is_its_own_project(tmp_path: Path) -> None:
    (tmp_path / "a" / "inner").mkdir(parents=True)

    found = identify_project(str(tmp_path / "a"))

    assert (found.name, found.root) == ("a", str(tmp_path / "a"))
    assert found.aliases == (f"path:{tmp_path / 'a'}",)
    assert identify_project(str(tmp_path / "a" / "inner")).aliases != found.aliases


def test_the_git_dir_variable_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = make_repository(tmp_path / "proj")
    other = make_repository(tmp_path / "other", "another")
    plain = identify_project(str(top))

    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))

    assert identify_project(str(top)) == plain


def test_a_deleted_folder_below_a_known_repository_belongs_to_it(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "proj")
    store = open_store(tmp_path)
    bank = bank_of(store, top)

    assert bank_of(store, top / "gone" / "deeper") == bank
    assert bank_of(store, top / ".claude" / "worktrees" / "removed") == bank
    assert bank_of(store, tmp_path / "project-of-another-name") != bank
    shutil.rmtree(top)
    assert bank_of(store, top) == bank
    store.close()


def test_a_folder_from_another_machine_is_identified_by_its_path(tmp_path: Path) -> None:
    found = identify_project(r"C:\Users\dev\proj")
    worktree = identify_project(r"C:\Users\dev\proj\.claude\worktrees\wt1\src")
    store = open_store(tmp_path)

    assert (found.name, found.root, found.exists) == ("proj", r"C:\Users\dev\proj", False)
    assert worktree.aliases == found.aliases
    assert bank_of(store, r"C:\Users\dev\proj") == bank_of(store, r"C:\Users\dev\proj")
    store.close()


@pytest.mark.parametrize(
    ("folder", "main"),
    [
        ("/w/shop/.worktrees/next", "/w/shop"),
        ("/w/shop/.conductor/berlin", "/w/shop"),
        ("/w/shop.worktrees/next/packages/api", "/w/shop"),
        ("/w/shop__worktrees/next", "/w/shop"),
        ("/u/conductor/workspaces/shop/oslo", "/u/conductor/workspaces/shop"),
        ("/u/.cursor/worktrees/shop/a1b2", "/u/.cursor/worktrees/shop"),
        ("/u/.claude-worktrees/shop/a1b2", "/u/.claude-worktrees/shop"),
        ("D:\\w\\shop.worktrees\\next", "D:\\w\\shop"),
        ("/w/experiments/worktrees/one", "/w/experiments/worktrees/one"),
    ],
)
def test_a_removed_worktree_is_known_by_the_place_that_tools_put_it_in(
    folder: str, main: str
) -> None:
    assert identify_project(folder).root == main


@pytest.mark.parametrize("folder", ["", "\x00", "/no/such/folder", "~", "x" * 5000])
def test_no_spelling_of_a_folder_raises(folder: str) -> None:
    assert identify_project(folder).root == folder


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/home/dev/proj", "proj"),
        ("/home/dev/proj/", "proj"),
        (r"C:\dev\proj", "proj"),
        ("C:\\dev\\proj\\", "proj"),
        ("/", "/"),
    ],
)
def test_the_base_name_of_posix_and_windows_paths_is_found(path: str, name: str) -> None:
    assert base_name(path) == name


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("git@github.com:org/repo.git", "github.com/org/repo"),
        ("github.com:org/repo", "github.com/org/repo"),
        ("https://github.com/org/repo.git", "github.com/org/repo"),
        ("https://github.com/org/repo/", "github.com/org/repo"),
        ("HTTPS://GitHub.com/Org/Repo", "github.com/org/repo"),
        ("https://user:token@github.com/org/repo", "github.com/org/repo"),
        ("http://host:8080/a/b.git", "host/a/b"),
        ("ssh://git@host:2222/a/b/c.git", "host/a/b/c"),
        ("git@host:/srv/git/x.git", "host/srv/git/x"),
        ("ssh://git@[::1]:22/x.git", "[::1]/x"),
        ("git://host/x", "host/x"),
        ("  git@github.com:org/repo.git\n", "github.com/org/repo"),
        ("file:///srv/git/x.git", "local/srv/git/x"),
        ("/srv/git/x.git", "local/srv/git/x"),
        ("/srv/git/X", "local/srv/git/X"),
        ("git@gitlab.com:group/sub/repo.git", "gitlab.com/group/sub/repo"),
    ],
)
def test_a_remote_url_is_normalised_to_one_spelling(url: str, expected: str) -> None:
    assert normal_remote(url) == expected
    assert "token" not in normal_remote(url)


def test_without_an_origin_another_remote_identifies_the_project(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "proj")
    git(top, "remote", "add", "fork", "git@github.com:me/repo.git")

    assert identify_project(str(top)).aliases[0] == "remote:github.com/me/repo"


def test_a_remote_with_a_dot_in_its_name_identifies_the_project_too(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "proj")
    git(top, "remote", "add", "my.fork", "git@github.com:me/repo.git")

    assert identify_project(str(top)).aliases[0] == "remote:github.com/me/repo"


def test_two_projects_with_a_relative_remote_are_different(tmp_path: Path) -> None:
    one = make_repository(tmp_path / "a" / "proj", "one", remote="../upstream.git")
    two = make_repository(tmp_path / "b" / "other", "two", remote="../upstream.git")
    store = open_store(tmp_path)

    assert bank_of(store, one) != bank_of(store, two)
    store.close()
