from __future__ import annotations

from itertools import count

import pytest

from holdfast.model.records import Role, ToolCall, Turn
from holdfast.model.trust import Trust
from holdfast.refine.memories.proven_results import (
    committed_files,
    turns_of_commit,
    verdict_of_tests,
)

ROOT = "/home/dev/proj"


def turns(*calls: ToolCall) -> list[Turn]:
    seq = count()
    return [
        Turn("b", f"t{n}", "s", n, "", Role.TOOL, Trust.TOOL, tool=call)
        for call, n in zip(calls, seq, strict=False)
    ]


def edit(path: str) -> ToolCall:
    return ToolCall("Edit", target=path, action="-a\n+b", ok=True)


def shell(command: str, ok: bool = True) -> ToolCall:
    return ToolCall("Bash", action=command, ok=ok)


COMMIT = shell('git commit -m "Read each row of the ledger once"')


def files(*calls: ToolCall) -> list[str]:
    own = turns_of_commit(turns(*calls), ROOT)
    changed = dict.fromkeys(call.target for call in calls if call.target)
    return committed_files(own, list(changed))


def test_a_commit_holds_what_was_changed_before_it() -> None:
    assert files(edit("a.py"), shell("git add -A"), COMMIT, edit("b.py")) == ["a.py"]


def test_a_commit_holds_nothing_of_the_commit_before_it() -> None:
    first = shell('git commit -am "Write each row of the ledger"')
    assert files(edit("a.py"), first, edit("b.py"), COMMIT) == ["b.py"]


def test_a_commit_that_amends_another_holds_its_files() -> None:
    amended = shell('git commit -a --amend -m "Read each row of the ledger once"')
    assert files(edit("a.py"), COMMIT, edit("b.py"), amended) == ["a.py", "b.py"]


@pytest.mark.parametrize(
    ("added", "expected"),
    [
        ("git add src/a.py", ["src/a.py"]),
        ("git add src", ["src/a.py"]),
        ("git add .", ["src/a.py", "docs/b.md"]),
        ("git add -u", ["src/a.py", "docs/b.md"]),
    ],
)
def test_a_commit_holds_what_was_added_to_it(added: str, expected: list[str]) -> None:
    assert files(edit("src/a.py"), edit("docs/b.md"), shell(added), COMMIT) == expected


def test_a_commit_in_another_repository_holds_no_file_of_the_project() -> None:
    elsewhere = shell("cd /home/dev/other && git add -A")
    assert files(edit("a.py"), elsewhere, COMMIT) == []
    assert turns_of_commit(turns(edit("a.py"), elsewhere, COMMIT), ROOT) == ()
    back = shell(f"cd {ROOT} && git add a.py")
    assert files(edit("a.py"), elsewhere, COMMIT, back, COMMIT) == ["a.py"]


@pytest.mark.parametrize("folder", ["/d/proj/src", "D:/proj", "/mnt/d/proj"])
def test_a_folder_of_windows_is_that_of_the_project_however_it_is_written(folder: str) -> None:
    calls = (edit("src\\a.py"), shell(f'cd "{folder}" && git add src/a.py'), COMMIT)
    own = turns_of_commit(turns(*calls), "D:\\proj")
    assert committed_files(own, ["src\\a.py", "src\\b.py"]) == ["src\\a.py"]
    assert turns_of_commit(turns(*calls), "D:\\other") == ()


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([("pytest tests", False), ("pytest tests -v 2>&1 | tail", True)], " (they failed before)"),
        ([("pytest tests/test_a.py", False), ("pytest tests/test_b.py", True)], ""),
        ([("pytest tests::new", True), ("pytest tests", False), ("pytest tests", True)], ""),
        ([("pytest tests", True)], ""),
    ],
)
def test_tests_failed_before_only_if_the_same_did(
    runs: list[tuple[str, bool]], expected: str
) -> None:
    said = verdict_of_tests(turns(*(shell(command, ok) for command, ok in runs)))
    assert said == f"; the tests pass{expected}"


def test_tests_that_fail_at_the_end_still_fail() -> None:
    assert verdict_of_tests(turns(shell("pytest", False))) == "; the tests still fail"
    assert verdict_of_tests([]) == ""
