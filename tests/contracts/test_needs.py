"""The marks that a test gets for what its code uses, and what happens to a test that lacks one."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FunctionType

import pytest

from holdfast.inference import packaged
from tests.e2e.claude_code.sandbox import find_claude
from tests.support import repositories
from tests.support.http.browser import open_browser
from tests.support.needs import marks_for
from tests.support.postgres_server import Server
from tests.support.repositories import git, make_repository

ROOT = Path(__file__).parents[2]
# Tests whose code does not show that they start a process.
UNMARKED = """
import os
import threading
from concurrent.futures import ThreadPoolExecutor
import pytest
from holdfast.sources.project import identify_project

MODEL = {model!r}
older = ThreadPoolExecutor(1)
older.submit(threading.get_ident).result()

def start():
    os.waitpid(os.posix_spawn("/bin/sh", ["sh", "-c", ":"], {{}}), 0)

@pytest.fixture
def started():
    start()

def test_by_itself():
    start()

def test_by_a_fixture(started):
    pass

def test_by_a_thread_of_its_own():
    thread = threading.Thread(target=start)
    thread.start()
    thread.join()

def test_by_a_thread_that_was_there_before():
    older.submit(start).result()

def test_only_git():
    assert identify_project({folder!r}).name == "project"

def test_a_model():
    open(MODEL, "rb").close()

def test_not_at_all():
    pass

@pytest.mark.process
def test_marked(started):
    start()
"""


def _runs_a_program() -> None:
    subprocess.run([sys.executable, "-c", ""], check=True)


def _runs_git_by_way_of_a_function() -> None:
    git(ROOT, "status")


def _runs_git_by_way_of_a_module() -> None:
    repositories.git(ROOT, "status")


def _runs_git_in_an_inner_function() -> Callable[[], str]:
    return lambda: git(ROOT, "status")


def _uses_a_database() -> None:
    Server().close()


def _uses_a_browser() -> None:
    with open_browser():
        pass


def _uses_claude() -> None:
    find_claude()


def _uses_nothing() -> int:
    return len(str(ROOT))


@pytest.mark.parametrize(
    ("function", "mark"),
    [
        (_runs_a_program, "process"),
        (_runs_git_by_way_of_a_function, "process"),
        (_runs_git_by_way_of_a_module, "process"),
        (_runs_git_in_an_inner_function, "process"),
        (_uses_a_database, "postgres"),
        (_uses_a_browser, "browser"),
        (_uses_claude, "claude"),
    ],
)
def test_a_test_is_marked_for_what_its_code_uses(function: FunctionType, mark: str) -> None:
    assert mark in marks_for([function])
    assert mark in marks_for([_uses_nothing, function])


def test_a_test_that_uses_nothing_else_has_no_mark() -> None:
    assert marks_for([_uses_nothing]) == set()


def _run_unmarked(folder: Path) -> tuple[dict[str, str], str]:
    """How each test fared of which some start processes without being marked, and the output."""
    project = str(make_repository(folder / "project"))
    (folder / "test_unmarked.py").write_text(
        UNMARKED.format(folder=project, model=str(packaged.EMBEDDER))
    )
    options = ["-p", "tests.conftest", "-p", "no:cacheprovider", "--rootdir", str(folder)]
    options += ["--basetemp", str(folder / "base")]
    command = [sys.executable, "-m", "pytest", "-rA", *options, str(folder)]
    text = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    found = re.findall(r"^(PASSED|FAILED|ERROR) \S+::(\w+)", text, re.MULTILINE)
    return {name: outcome for outcome, name in found}, text


def test_a_test_that_starts_a_process_or_reads_a_model_without_a_mark_fails(tmp_path: Path) -> None:
    outcomes, text = _run_unmarked(tmp_path)
    assert outcomes == {
        "test_by_itself": "FAILED",
        "test_by_a_fixture": "ERROR",
        "test_by_a_thread_of_its_own": "FAILED",
        "test_by_a_thread_that_was_there_before": "PASSED",
        "test_only_git": "PASSED",
        "test_a_model": "FAILED",
        "test_not_at_all": "PASSED",
        "test_marked": "PASSED",
    }
    assert "Add @pytest.mark.process" in text and "os.posix_spawn" in text
    assert "Add @pytest.mark.model" in text
