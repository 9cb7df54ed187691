"""The program in a process that has only what Python on Windows has: nothing may be imported or
called that is not there. See tests/support/without_posix.py."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.posix_tests import POSIX_MODULES, files_that_import
from tests.support.without_posix import NAMES, POSIX_PROGRAMS

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
_START = (sys.executable, "-m", "tests.support.without_posix")
# One of the sample sessions: reading all of them takes ten times as long, by the same code.
_SESSION = "examples/sessions/-home-ada-tidewatch/6f25250f-82d7-541e-8901-c5f7a443a4a8.jsonl"
# Where a name of POSIX may stand unguarded: what runs on POSIX alone, and says so before.
_ALLOWED = {
    "holdfast.app.server.search_process": "os.sched_getaffinity",
    "holdfast.app.core.hook_listener": "_socket.AF_UNIX",
    "holdfast.app.core.hook_socket": "socket.AF_UNIX",
    "holdfast.locks": "fcntl",
}


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    own = {"HOME": str(tmp_path), "HOLDFAST_HOME": str(tmp_path / "home")}
    return {**os.environ, **own, "PYTHONPATH": str(ROOT), "HOLDFAST_DEBUG": "1"}


def run(env: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        [*_START, *words], env=env, cwd=ROOT, capture_output=True, text=True, timeout=300,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stdout + done.stderr
    return done.stdout


def test_every_module_can_be_imported(env: dict[str, str]) -> None:
    assert run(env, "import everything") == ""


def test_it_reads_answers_works_and_backs_up(env: dict[str, str], tmp_path: Path) -> None:
    run(env, "ingest", _SESSION, "--embed", "none")
    answer = run(env, "ask", "Why SQLite and not Postgres?", "--bank", "tidewatch")
    assert "SQLite" in answer and "[1]" in answer
    run(env, "remember", "The lamp is oiled on Thursdays", "--bank", "tidewatch")
    assert "lamp" in run(env, "recall", "lamp oiled", "--bank", "tidewatch")
    assert "Everything is done" in run(env, "worker")
    assert "intact" in run(env, "backup", str(tmp_path / "backups"))
    run(env, "export", str(tmp_path / "all.jsonl"))
    assert "Done." in run(env, "setup", "--yes", "--no-ingest")
    assert "This is a bug" not in run(env, "doctor")
    assert "Done." in run(env, "uninstall", "--yes")


def test_the_pages_are_served(env: dict[str, str]) -> None:
    run(env, "ingest", _SESSION, "--embed", "none")
    command = [*_START, "browse", "--no-open", "--port", "0", "--json"]
    with subprocess.Popen(command, env=env, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        try:
            told = ""
            while "}" not in told:
                assert server.stdout is not None
                line = server.stdout.readline()
                assert line, told
                told += line
            found = json.loads(told)
            key = Path(found["token_file"]).read_text().strip()
            request = urllib.request.Request(
                found["url"] + "/sessions", headers={"Authorization": f"Bearer {key}"}
            )
            with urllib.request.urlopen(request, timeout=60) as answer:
                assert b"tidewatch" in answer.read()
        finally:
            server.terminate()


_POSIX_NAMES = {
    (module.__name__, name) for module, names in NAMES.items() for name in names.split()
} | {("signal", "SIGKILL"), ("os", "WNOHANG")}


_ATTRIBUTE = re.compile(r"\b(os|signal|_?socket)\.(\w+)")
_IMPORTING = re.compile(r"^\s*(?:import|from)\s.*", re.MULTILINE)


def _may_need_posix(text: str) -> bool:
    """Whether a source mentions a name of POSIX: parsing it takes a hundred times as long."""
    words = (word for line in _IMPORTING.findall(text) for word in re.findall(r"\w+", line))
    return not (
        _POSIX_NAMES.isdisjoint(_ATTRIBUTE.findall(text)) and POSIX_MODULES.isdisjoint(words)
    )


def _posix_names(path: Path) -> Iterator[str]:
    """The names of POSIX that a module takes for granted: `os.fork`, or `import fcntl` that is not
    tried. A function in which `hasattr` asks for one may use it."""
    text = path.read_text("utf-8")
    if not _may_need_posix(text):
        return
    tree = ast.parse(text)
    guarded = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.Try) or (isinstance(node, ast.FunctionDef) and _asks_first(node))
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if node in guarded:
            continue
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if (node.value.id, node.attr) in _POSIX_NAMES:
                yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in POSIX_MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in POSIX_MODULES:
            yield node.module


def _asks_first(function: ast.FunctionDef) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "hasattr" for node in ast.walk(function))


@pytest.mark.slow
def test_no_module_takes_a_name_of_posix_for_granted() -> None:
    found: dict[str, set[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        allowed = set(_ALLOWED.get(module, "").split())
        names = set(_posix_names(path)) - allowed
        if names and not module.startswith(POSIX_PROGRAMS):
            found[module] = names
    assert found == {}


@pytest.mark.slow
def test_test_files_that_need_posix_are_known_also_through_others() -> None:
    found = {Path(path).name for path in files_that_import(POSIX_MODULES)}
    assert {"test_completion.py", "test_first_session.py"} <= found
    assert Path(__file__).name not in found and "test_platforms.py" not in found
