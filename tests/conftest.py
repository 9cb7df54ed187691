"""What holds for every test: what it needs is told by its marks, and it leaves nothing behind."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from collections.abc import Generator
from pathlib import Path
from types import FunctionType

import pytest
from hypothesis import HealthCheck, settings

from tests.support.needs import MAY_START, NeedsWatch, marks_for
from tests.support.posix_tests import files_that_import
from tests.support.run_folder import WORKER_VARIABLE, use_run_folder
from tests.support.run_order import order_for_workers

MEMORY = Path("/dev/shm")
SLOW_S = 2.0
SLOW_SHOWN = 10
_NOT_QUICK = {"slow", "model", *MAY_START}
WATCH = NeedsWatch()

# A property holds or it does not. By default Hypothesis fails where one example takes more than
# 200 ms, or making examples a second, which a busy machine decides; and it tries other examples in
# every run. `--hypothesis-profile=search` looks for new counterexamples.
_ANY_MACHINE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("search", _ANY_MACHINE)
settings.register_profile("same-examples", _ANY_MACHINE, derandomize=True)
settings.load_profile("same-examples")

# Windows has no such modules: tests that are about terminals, limits and forks are left out there.
collect_ignore = files_that_import() if sys.platform == "win32" else []

# Until all tests are collected next to nothing is garbage, and looking for it takes a tenth of the
# time.
gc.disable()

# The tests start hundreds of processes. Where the environment keeps Python from writing down what
# it compiled, each of them would compile the whole package anew, for longer than it then works.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


# Reading a question with each of twenty texts takes long, and few tests are about that: those name
# the reranker that ships, and processes that others start do without.
os.environ.setdefault("HOLDFAST_RERANKER", "none")


@pytest.fixture(scope="session", autouse=True)
def shared_run_folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tell where the workers of this run keep what they share."""
    use_run_folder(tmp_path_factory.getbasetemp())


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Remove the inboxes of the homes that several tests shared, before pytest removes these."""
    factory: pytest.TempPathFactory | None = getattr(session.config, "_tmp_path_factory", None)
    if factory is not None:
        _remove(_inboxes_of_homes(factory.getbasetemp()))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """Remove the inboxes of the homes of a test. Their names follow from the paths of the homes,
    which pytest removes after a test that passed and may use again in the next run."""
    folder = item.funcargs.get("tmp_path") if isinstance(item, pytest.Function) else None
    inboxes = _inboxes_of_homes(folder) if isinstance(folder, Path) else []
    try:
        return (yield)
    finally:
        _remove(inboxes)


def _inboxes_of_homes(base: Path) -> list[Path]:
    """The inboxes in memory that homes below a folder point to."""
    found: list[Path] = []
    for folder, _, files in os.walk(base):
        if "inbox" not in files or Path(folder).name != "hooks":
            continue
        try:
            found.append(Path(Path(folder, "inbox").read_text("utf-8").strip()))
        except (OSError, UnicodeDecodeError):
            continue
    return [path for path in found if path.parent == MEMORY and path.name.startswith("holdfast-")]


def _remove(folders: list[Path]) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test with what its code shows that it needs; workers begin with the longest."""
    for item in items:
        if isinstance(item, pytest.Function):
            for mark in sorted(marks_for(_code_of(item))):
                item.add_marker(mark)
    if WORKER_VARIABLE in os.environ:
        items[:] = order_for_workers(items)


def pytest_collection_finish() -> None:
    """Keep the garbage collector from going through all tests and modules again and again. What is
    garbage already stays: looking for it takes half a second."""
    gc.freeze()
    gc.enable()


def _code_of(item: pytest.Function) -> list[FunctionType]:
    """A test and its fixtures, without what decorates them."""
    found: list[object] = [item.obj]
    for definitions in item._fixtureinfo.name2fixturedefs.values():  # pyright: ignore[reportPrivateUsage]
        found += [definition.func for definition in definitions]
    bare = [getattr(one, "__wrapped__", one) for one in found]
    return [one for one in bare if isinstance(one, FunctionType)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """Fixtures must not do what their test is not marked for."""
    return (yield from _watch(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """A test must not do what it is not marked for."""
    return (yield from _watch(item))


def _watch(item: pytest.Item) -> Generator[None]:
    marks = {mark.name for mark in item.iter_markers()}
    WATCH.begin()
    try:
        result = yield
    finally:
        needed = WATCH.end()
    for mark, what in needed:
        if not marks & {mark, *MAY_START}:
            pytest.fail(
                f"{what}\n`make quick` runs this test because it is not marked. "
                f"Add @pytest.mark.{mark}, or do without.",
                pytrace=False,
            )
    return result


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the slowest of the tests of `make quick` that took longer than one of them may. That is
    no failure: on a busy machine any test may."""
    long = [
        (report.duration, report.nodeid)
        for report in terminalreporter.getreports("passed")
        if report.when == "call"
        and report.duration > SLOW_S
        and not _NOT_QUICK & {*report.keywords}
    ]
    for duration, name in sorted(long, reverse=True)[:SLOW_SHOWN]:
        terminalreporter.write_line(f"took {duration:.0f} s without a mark: {name}")
