"""What the workers of a test run share is made once, and lasts until the last of them is done."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.support.run_folder import WORKER_VARIABLE, made_once
from tests.support.warm_commands import WarmInterpreter

PARENT = "import os; print(os.getppid())"


def test_a_shared_folder_is_made_by_the_first_that_needs_it() -> None:
    made: list[Path] = []

    def make(folder: Path) -> None:
        made.append(folder)
        (folder / "corpus").write_text("all of it")

    name = f"made-by-{os.getpid()}"
    folders = [made_once(name, make) for _ in range(2)]
    assert folders == [*made, *made] and len(made) == 1
    assert (folders[0] / "corpus").read_text() == "all of it"


def test_a_shared_folder_that_could_not_be_made_is_made_again() -> None:
    name = f"failed-by-{os.getpid()}"

    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        made_once(name, fail)
    folder = made_once(name, lambda folder: (folder / "whole").touch())
    assert [path.name for path in folder.iterdir()] == ["whole"]


def test_workers_share_an_interpreter_that_ends_with_the_last_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Whoever is no worker waits for the end.
    monkeypatch.delenv(WORKER_VARIABLE, raising=False)

    def open_one() -> WarmInterpreter:
        return WarmInterpreter(sys.executable, modules=["json", "xml"])

    def parent_of_commands(interpreter: WarmInterpreter) -> int:
        return int(interpreter.run([], os.environ, code=PARENT).stdout)

    first, second = open_one(), open_one()
    shared = parent_of_commands(first)
    assert parent_of_commands(second) == shared
    second.close()
    assert parent_of_commands(first) == shared
    first.close()
    last = open_one()
    assert parent_of_commands(last) != shared
    last.close()
