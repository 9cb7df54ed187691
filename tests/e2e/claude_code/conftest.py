from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.claude_code.api import Plays
from tests.e2e.claude_code.sandbox import Lab, find_claude, install_python
from tests.support.run_folder import made_once

MakeLab = Callable[[Plays], Lab]


@pytest.fixture(scope="session")
def program() -> Path:
    found = find_claude()
    if found is None:
        pytest.skip("Claude Code is not here: pip install claude-agent-sdk brings it")
    return found


@pytest.fixture(scope="session")
def python() -> Path:
    """One for all workers, so that they share the interpreter that its commands are forked from."""

    def make(folder: Path) -> None:
        install_python(folder / "env")

    return made_once("claude-python", make) / "env" / "bin" / "python"


@pytest.fixture
def make_lab(tmp_path: Path, program: Path, python: Path) -> Iterator[MakeLab]:
    yield from _making(tmp_path, program, python)


@pytest.fixture(scope="module")
def make_shared_lab(
    tmp_path_factory: pytest.TempPathFactory, program: Path, python: Path
) -> Iterator[MakeLab]:
    """For what several tests of a module look at: a run of the program takes over a second of
    processor time."""
    yield from _making(tmp_path_factory.mktemp("labs"), program, python)


def _making(folder: Path, program: Path, python: Path) -> Iterator[MakeLab]:
    labs: list[Lab] = []

    def make(plays: Plays) -> Lab:
        labs.append(Lab(folder / f"lab{len(labs)}", program, python, plays))
        return labs[-1]

    yield make
    for lab in labs:
        lab.close()


def set_up_without_worker(lab: Lab) -> Lab:
    """Run `holdfast setup`, and let no worker start."""
    done = lab.holdfast("setup", "--yes")
    assert done.status == 0, done.err
    lab.hold_worker()
    return lab
