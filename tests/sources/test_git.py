import subprocess
from pathlib import Path

import pytest

from holdfast.errors import InputError
from holdfast.model.trust import Trust
from holdfast.sources.git import BODY_LIMIT, FILES_LIMIT, is_repository, read_commits

DATE = "2026-03-01T12:00:00+02:00"


def git(folder: Path, *arguments: str, author: str = "Ann Ex <ann@x.org>") -> str:
    name, _, email = author.rstrip(">").partition(" <")
    identity = ["-c", f"user.name={name}", "-c", f"user.email={email}"]
    command = ["git", *identity, "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def commit(folder: Path, message: str, author: str = "Ann Ex <ann@x.org>", **files: str) -> str:
    for name, content in files.items():
        (folder / name).write_text(content)
    git(folder, "add", "-A")
    arguments = ["commit", "-q", "--allow-empty", "--cleanup=verbatim", "--date", DATE]
    git(folder, *arguments, "-m", message, author=author)
    return git(folder, "rev-parse", "HEAD")


def make_repository(folder: Path) -> Path:
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    return folder


def test_commits_come_newest_first_with_all_their_parts(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    first = commit(top, "Add a", **{"a.txt": "1"})
    second = commit(
        top, "Change a, add b\n\nBecause.\n\nAnd so on.", **{"a.txt": "2", "b.txt": "1"}
    )

    newest, oldest = read_commits(top, "bank1")

    assert (newest.id, newest.parents, oldest.id, oldest.parents) == (second, (first,), first, ())
    assert (newest.author, newest.email) == ("Ann Ex", "ann@x.org")
    assert newest.time == "2026-03-01T10:00:00.000Z"
    assert (newest.subject, newest.body) == ("Change a, add b", "Because.\n\nAnd so on.")
    assert newest.files == ("a.txt", "b.txt")
    assert oldest.files == ("a.txt",)
    assert (newest.bank, newest.trust) == ("bank1", Trust.TEAM)


def test_names_of_any_script_and_with_odd_signs_survive(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    names = {"grüße 中.txt": "1", 'quote".txt': "1", "tab\there.txt": "1"}
    commit(top, "Füge hinzu 😀", author="Zoë Ødegård <z@x.org>", **names)

    (only,) = read_commits(top, "b")

    assert (only.subject, only.author) == ("Füge hinzu 😀", "Zoë Ødegård")
    assert set(only.files) == set(names)


def test_a_merge_has_two_parents_and_no_files_of_its_own(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    base = commit(top, "base", **{"a.txt": "1"})
    git(top, "checkout", "-q", "-b", "side")
    side = commit(top, "side", **{"b.txt": "1"})
    git(top, "checkout", "-q", "main")
    main = commit(top, "main", **{"c.txt": "1"})
    git(top, "merge", "-q", "--no-ff", "-m", "Merge side", "side")

    commits = {item.subject: item for item in read_commits(top, "b")}

    assert set(commits) == {"base", "side", "main", "Merge side"}
    assert commits["Merge side"].parents == (main, side)
    assert commits["Merge side"].files == ()
    assert commits["side"].parents == (base,)
    assert commits["side"].files == ("b.txt",)


def test_a_commit_without_files_or_body_is_a_commit(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    commit(top, "Nothing changed")

    (only,) = read_commits(top, "b")

    assert (only.subject, only.body, only.files) == ("Nothing changed", "", ())


def test_long_bodies_and_long_lists_of_files_are_bounded(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    many = {f"f{n:04}.txt": "1" for n in range(FILES_LIMIT + 50)}
    commit(top, "Much\n\n" + "word " * BODY_LIMIT, **many)

    (only,) = read_commits(top, "b")

    assert len(only.body) == BODY_LIMIT
    assert only.files == tuple(sorted(many))[:FILES_LIMIT]


def test_a_repository_without_commits_has_none(tmp_path: Path) -> None:
    assert list(read_commits(make_repository(tmp_path / "r"), "b")) == []


@pytest.mark.parametrize("name", ["plain", "missing"])
def test_what_is_no_repository_is_an_input_error_with_a_remedy(tmp_path: Path, name: str) -> None:
    (tmp_path / "plain").mkdir()

    with pytest.raises(InputError, match="cannot be read") as caught:
        list(read_commits(tmp_path / name, "b"))

    assert str(tmp_path / name) in caught.value.message
    assert caught.value.remedy


def test_a_missing_git_is_an_input_error_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(InputError, match="git cannot be run") as caught:
        list(read_commits(tmp_path, "b"))

    assert "Install git" in caught.value.remedy


def test_a_git_dir_in_the_environment_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top, other = make_repository(tmp_path / "r"), make_repository(tmp_path / "other")
    commit(top, "ours")
    commit(other, "theirs")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))

    assert [item.subject for item in read_commits(top, "b")] == ["ours"]


def test_reading_may_stop_early(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    for number in range(3):
        commit(top, f"c{number}")

    commits = read_commits(top, "b")

    assert next(commits).subject == "c2"
    del commits


@pytest.mark.parametrize("sign", ["\x1e", "\x1f"])
def test_a_control_sign_in_a_message_costs_no_commit(tmp_path: Path, sign: str) -> None:
    top = make_repository(tmp_path / "r")
    commit(top, f"Odd\n\nbefore{sign}after", **{"a.txt": "1"})

    (only,) = read_commits(top, "b")

    assert (only.subject, only.files) == ("Odd", ("a.txt",))


def test_a_repository_is_known_by_its_top(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    (top / "src").mkdir()
    git(tmp_path, "init", "-q", "--bare", "bare.git")

    assert is_repository(top)
    assert is_repository(tmp_path / "bare.git")
    assert not is_repository(top / "src")
    assert not is_repository(tmp_path / "missing")
