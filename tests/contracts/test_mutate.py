"""`tools/mutate.py` plants the faults it names, and tells tests that see them from tests that do
not."""

from __future__ import annotations

import importlib.util
import os
import py_compile
from pathlib import Path

import pytest

from mutate import (
    Fault,
    Kind,
    Limits,
    Outcome,
    Scratch,
    choose_faults,
    describe,
    find_faults,
    render_report,
    run_all,
    write_module,
)

SOURCE = '''"""Counts."""

from typing import Protocol


class Counts(Protocol):
    def of(self, limit: int = 3) -> bool: ...


def is_many(items: list[str], limit: int = 3) -> bool:
    """Whether there are more than 9."""
    return len(items) > limit and not items[0].isspace()


def add(found: dict[str, int], name: str) -> None:
    found[name] = found.get(name, 0) + 1
'''
STRONG = """
from holdfast.counting.many import add, is_many

def test_many():
    assert is_many(list("abcd")) and not is_many(list("abc"))
    assert not is_many([" ", "b", "c", "d"])

def test_add():
    found = {"a": 1}
    add(found, "a")
    add(found, "b")
    assert found == {"a": 2, "b": 1}
"""
WEAK = """
from holdfast.counting.many import is_many

def test_many():
    assert is_many.__doc__
"""
BROKEN = """
from holdfast.counting.many import is_many

def test_many():
    assert is_many(list("abcd")) is None
"""


def project(folder: Path, tests: str) -> Path:
    """A repository with one module and one test file."""
    package = folder / "src" / "holdfast" / "counting"
    package.mkdir(parents=True)
    for path in (package.parent / "__init__.py", package / "__init__.py"):
        path.write_text("")
    (package / "many.py").write_text(SOURCE)
    (folder / "tests").mkdir()
    (folder / "tests" / "test_many.py").write_text(tests)
    (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    return folder


def planted(kind: Kind) -> list[str]:
    path = Path("many.py")
    faults = find_faults(path, SOURCE.encode())
    return [f"{fault.before} → {fault.after}" for fault in faults if fault.kind is kind]


def test_every_kind_of_fault_is_found_where_code_runs() -> None:
    assert planted(Kind.COMPARISON) == ["len(items) > limit → (len(items) <= limit)"]
    assert planted(Kind.BOUNDARY) == [
        "3 → 4",
        "len(items) > limit → (len(items) >= limit)",
        "0 → 1",
        "0 → 1",
        "1 → 2",
    ]
    assert planted(Kind.NOT) == ["not items[0].isspace() → items[0].isspace()"]
    (swapped,) = planted(Kind.BOOLEAN)
    assert swapped.endswith("→ (len(items) > limit or not items[0].isspace())")
    assert [one.split(" → ")[1] for one in planted(Kind.RETURN)] == ["return False", "return True"]
    assert planted(Kind.STATEMENT) == ["found[name] = found.get(name, 0) + 1 → pass"]
    assert "3 → 16" in planted(Kind.CONSTANT)


def test_a_planted_fault_changes_its_place_and_nothing_else() -> None:
    source = "name = 'größer'; limit = 3  # größer\n".encode()
    fault = next(f for f in find_faults(Path("x.py"), source) if f.kind is Kind.BOUNDARY)
    assert fault.plant(source).decode() == "name = 'größer'; limit = 4  # größer\n"
    assert describe(fault) == "off by one: `3` → `4`"


def test_the_same_seed_chooses_the_same_faults_spread_over_packages(tmp_path: Path) -> None:
    package = project(tmp_path, STRONG) / "src" / "holdfast"
    for name in ("one", "two"):
        (package / name).mkdir()
        (package / name / "limits.py").write_text("LIMIT = 3\nSIZE = 4\n")
    chosen = choose_faults(package, 3, seed=5)
    assert chosen == choose_faults(package, 3, seed=5)
    assert {fault.path.parent.name for fault in chosen} == {"counting", "one", "two"}
    assert any(chosen != choose_faults(package, 3, seed) for seed in range(6, 12))
    (inner,) = {f.path.name for f in choose_faults(package, 9, 5, "holdfast.counting.many")}
    assert inner == "many.py"


def test_a_planted_fault_runs_although_it_has_the_size_and_time_of_the_source(
    tmp_path: Path,
) -> None:
    module = tmp_path / "many.py"
    write_module(module, b"FOUND = 1\n")
    written = module.stat()
    py_compile.compile(str(module), doraise=True)
    write_module(module, b"FOUND = 2\n")
    os.utime(module, ns=(written.st_atime_ns, written.st_mtime_ns))
    spec = importlib.util.spec_from_file_location("many_with_a_fault", module)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    assert loaded.FOUND == 2


@pytest.fixture
def without_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each run of pytest load none of the plugins that are installed: they take three quarters
    of its time, and the project here uses none."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def judged(folder: Path, tests: str, count: int) -> tuple[Scratch, list[tuple[Fault, Outcome]]]:
    (folder / "scratch").mkdir(parents=True)
    scratch = Scratch(project(folder / "project", tests), folder / "scratch")
    faults = choose_faults(scratch.package, count, 1, "holdfast.counting.many")
    told: list[str] = []
    results = run_all(scratch, faults, Limits(seconds=60), told.append)
    assert len(told) == 2 * len(results) == 2 * count
    assert (scratch.package / "counting" / "many.py").read_text() == SOURCE
    report = render_report(results, scratch.package, 1)
    assert report.startswith(f"Seed 1: {count} faults planted")
    assert all(f"| {result.outcome} | `counting/many.py:" in report for result in results)
    return scratch, [(result.fault, result.outcome) for result in results]


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.usefixtures("without_plugins")
@pytest.mark.parametrize(
    ("tests", "outcome"),
    [(STRONG, Outcome.KILLED), (WEAK, Outcome.SURVIVED)],
    ids=["strong", "weak"],
)
def test_a_strong_test_kills_what_a_weak_one_lets_pass(
    tmp_path: Path, tests: str, outcome: Outcome
) -> None:
    _, results = judged(tmp_path, tests, 3)
    assert [found for _, found in results] == [outcome] * 3
    ours = tmp_path / "project" / "src" / "holdfast" / "counting" / "many.py"
    assert ours.read_text() == SOURCE


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.usefixtures("without_plugins")
def test_a_test_that_fails_anyway_kills_nothing(tmp_path: Path) -> None:
    _, results = judged(tmp_path, BROKEN, 1)
    assert [found for _, found in results] == [Outcome.UNDECIDED]
