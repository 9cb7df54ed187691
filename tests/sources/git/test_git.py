from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.errors import InputError
from holdfast.model.team import Commit, FileChange
from holdfast.model.trust import Trust
from holdfast.sources.git.git_process import Git
from holdfast.sources.git.log import MAX_BODY_CHARS, is_repository, read_log
from holdfast.sources.git.patches import MAX_FILES, Patch, read_patches
from holdfast.sources.git.refs import existing_commits, read_tags, read_tips, unmerged_commits
from tests.support.repositories import commit, git, make_repository


def read_commits(top: Path, bank: str) -> Iterator[Commit]:
    """The whole history with the names of files."""
    repository = Git(top)
    tips = read_tips(repository).all or (["HEAD"] if not is_repository(top) else [])
    commits = list(read_log(repository, bank, tips, [])) if tips else []
    names = {
        patch.commit: tuple(change.path for change in patch.changes)
        for patch in read_patches(repository, [c.id for c in commits], with_diff=False)
    }
    return (replace(c, files=names.get(c.id, ())) for c in commits)


def test_commits_are_read_newest_first_with_all_their_parts(tmp_path: Path) -> None:
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


def test_names_in_any_script_and_with_special_characters_are_preserved(tmp_path: Path) -> None:
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


def test_a_commit_without_files_or_body_is_read(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    commit(top, "Nothing changed")

    (only,) = read_commits(top, "b")

    assert (only.subject, only.body, only.files) == ("Nothing changed", "", ())


def test_long_bodies_and_file_lists_are_truncated(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    many = {f"f{n:04}.txt": "1" for n in range(MAX_FILES + 50)}
    commit(top, "Much\n\n" + "word " * MAX_BODY_CHARS, **many)

    (only,) = read_commits(top, "b")

    assert len(only.body) == MAX_BODY_CHARS
    assert only.files == tuple(sorted(many))[:MAX_FILES]


def test_a_repository_without_commits_has_none(tmp_path: Path) -> None:
    assert list(read_commits(make_repository(tmp_path / "r"), "b")) == []


@pytest.mark.parametrize("name", ["plain", "missing"])
def test_a_folder_that_is_not_a_repository_is_an_error_with_a_remedy(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "plain").mkdir()

    with pytest.raises(InputError, match="cannot be read") as caught:
        list(read_commits(tmp_path / name, "b"))

    assert str(tmp_path / name) in caught.value.message
    assert caught.value.remedy


def test_a_missing_git_program_is_an_error_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(InputError, match="git cannot be run") as caught:
        list(read_commits(tmp_path, "b"))

    assert "Install git" in caught.value.remedy


def test_the_git_dir_variable_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top, other = make_repository(tmp_path / "r"), make_repository(tmp_path / "other")
    commit(top, "ours")
    commit(other, "theirs")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))

    assert [item.subject for item in read_commits(top, "b")] == ["ours"]


def test_reading_can_stop_early(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    for number in range(3):
        commit(top, f"c{number}")

    commits = read_commits(top, "b")

    assert next(commits).subject == "c2"
    del commits


@pytest.mark.parametrize("sign", ["\x1e", "\x1f"])
def test_a_control_character_in_a_message_loses_no_commit(tmp_path: Path, sign: str) -> None:
    top = make_repository(tmp_path / "r")
    commit(top, f"Odd\n\nbefore{sign}after", **{"a.txt": "1"})

    (only,) = read_commits(top, "b")

    assert (only.subject, only.files) == ("Odd", ("a.txt",))


def test_only_the_top_folder_of_a_repository_is_a_repository(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    (top / "src").mkdir()
    git(tmp_path, "init", "-q", "--bare", "bare.git")

    assert is_repository(top)
    assert is_repository(tmp_path / "bare.git")
    assert not is_repository(top / "src")
    assert not is_repository(tmp_path / "missing")


def patch_of(top: Path, id: str = "HEAD") -> Patch:
    repository = Git(top)
    (only,) = read_patches(repository, [git(top, "rev-parse", id)])
    return only


def test_a_patch_has_the_change_of_each_file(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    body = "".join(f"line {n}\n" for n in range(20))
    commit(top, "start", **{"old.py": body, "gone.py": "x\n", "kept.py": "a\nb\n"})
    git(top, "mv", "old.py", "new.py")
    (top / "gone.py").unlink()
    (top / "data.bin").write_bytes(b"\x00\x01\x02" * 50)
    commit(top, "change", **{"new.py": body + "more\n", "kept.py": "a\nc\nd\n"})

    blobs = {change.path: change.blob for change in patch_of(top).changes}
    changes = {change.path: change._replace(blob="") for change in patch_of(top).changes}

    assert blobs["kept.py"] == git(top, "rev-parse", "HEAD:kept.py") and not blobs["gone.py"]
    assert changes["new.py"] == FileChange("new.py", "R", "old.py", 1, 0)
    assert changes["gone.py"] == FileChange("gone.py", "D", "", 0, 1)
    assert changes["kept.py"] == FileChange("kept.py", "M", "", 2, 1)
    assert changes["data.bin"].binary and changes["data.bin"].fate == "A"


def test_hunks_name_their_file_and_enclosing_function(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    code = "def load(rows):\n    first = 1\n    second = 2\n    return rows\n"
    commit(top, "start", **{"a.py": code, "yarn.lock": "1\n"})
    commit(top, "change", **{"a.py": code.replace("second = 2", "second = 3"), "yarn.lock": "2\n"})

    diff = patch_of(top).diff

    assert diff == "@@ a.py def load(rows):\n-    second = 2\n+    second = 3"


def test_changed_lines_that_look_like_headers_are_read_as_lines(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    sly = f"{'a' * 40}\ndiff --git a/x b/x\n@@ -1 +1 @@\n-- a/x\n++ b/x\n:100644 100644 a b M\ty\n"
    commit(top, "start", **{"a.txt": "1\n"})
    commit(top, "sly", **{"a.txt": sly, "b.txt": "2\n"})

    patches = list(read_patches(Git(top), [git(top, "rev-parse", "HEAD")]))

    assert [c._replace(blob="") for p in patches for c in p.changes] == [
        FileChange("a.txt", "M", "", 6, 1),
        FileChange("b.txt", "A", "", 1, 0),
    ]


def test_a_huge_change_is_counted_but_its_text_is_not_stored(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    commit(top, "huge", **{"a.txt": "line\n" * 5000})
    (change,) = patch_of(top).changes
    assert change.added == 5000 and patch_of(top).diff == ""


def test_names_that_git_quotes_are_unquoted(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    names = {'quote".txt': "1\n", "tab\there.txt": "1\n", "new\nline.txt": "1\n", "ü.txt": "1\n"}
    commit(top, "odd", **names)
    assert {change.path for change in patch_of(top).changes} == set(names)


def test_no_program_configured_in_a_repository_is_run(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    commit(top, "start", **{"a.txt": "1\n"})
    ran = tmp_path / "ran"
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n")
    script.chmod(0o755)
    for key in ("core.fsmonitor", "diff.external", "diff.evil.textconv", "core.sshCommand"):
        git(top, "config", key, str(script))
    (top / ".gitattributes").write_text("* diff=evil\n")
    git(top, "-c", "core.fsmonitor=false", "add", "-A")
    git(top, "-c", "core.fsmonitor=false", "commit", "-q", "-m", "evil")

    assert len(list(read_commits(top, "b"))) == 2
    assert patch_of(top).changes and read_tips(Git(top)).head
    assert not ran.exists()


def test_branches_tags_and_commit_names_are_resolved(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    first = commit(top, "one")
    git(top, "tag", "v1")
    git(top, "checkout", "-q", "-b", "side")
    second = commit(top, "two")
    git(top, "tag", "-a", "v2", "-m", "second")
    git(top, "checkout", "-q", "main")
    third = commit(top, "three")
    repository = Git(top)

    tips = read_tips(repository)

    assert tips.head == third and set(tips.all) == {second, third}
    assert {tag.name: tag.commit for tag in read_tags(repository)} == {"v1": first, "v2": second}
    assert unmerged_commits(repository, tips, []) == [second]
    assert existing_commits(repository, [first, "0" * 40]) == [first]
    git(top, "checkout", "-q", first)
    assert set(unmerged_commits(repository, read_tips(repository), [])) == {second, third}
