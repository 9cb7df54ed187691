"""What a test needs beyond this process: told from its code, and kept true while it runs.

A test is marked when it is collected, by what its code and that of its fixtures use in `tests`.
Where only the product starts a process, the test says so itself: `@pytest.mark.process`. Git and
ripgrep do not count: the product asks them at every turn, and they answer in milliseconds.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterable
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

# A module, or a function or class in one, and the mark of a test that uses it.
USES = {
    "subprocess": "process",
    "multiprocessing": "process",
    "concurrent.futures.process": "process",
    # Parts of the product that start programs: a command starts the worker.
    "holdfast.interfaces.cli.main": "process",
    "holdfast.app.doctor.examine": "process",
    "holdfast.app.background.worker_start": "process",
    "holdfast.refine.core.executor": "process",
    # Parts of the product that load a model.
    "holdfast.inference.packaged": "model",
    "holdfast.inference.encoder": "model",
    "holdfast.inference.cross_encoder": "model",
    "tests.support.http.browser.open_browser": "browser",
    "tests.support.postgres_server": "postgres",
    "tests.e2e.claude_code.sandbox.find_claude": "claude",
}
# The marks of a test that may start a process.
MAY_START = frozenset(USES.values()) - {"model"}
_ASKED = ("git", "rg")
# The model that comes with the package.
_MODEL = os.path.join("minilm", "model.onnx")  # noqa: PTH118 - compared with the end of a path
# Events that tell of a program and its arguments. From Python 3.13 on, `subprocess.Popen` starts
# a program by `os.posix_spawn`, so that both are told of it.
_WITH_PROGRAM = frozenset({"subprocess.Popen", "os.posix_spawn"})
_EVENTS = _WITH_PROGRAM | {"os.fork", "os.forkpty", "os.system", "pty.spawn"}


def marks_for(functions: Iterable[FunctionType]) -> set[str]:
    """The marks of a test that runs these functions: for what they use, by themselves or by way of
    others in `tests`. What the product does is not looked at."""
    return set[str]().union(*(_marks_for(function) for function in functions))


@cache
def _marks_for(start: FunctionType) -> frozenset[str]:
    marks: set[str] = set()
    seen: set[FunctionType] = set()
    waiting = [start]
    while waiting:
        function = waiting.pop()
        if function in seen:
            continue
        seen.add(function)
        for thing in _used_by(function):
            if isinstance(thing, ModuleType):
                marks |= _marks_of(thing.__name__)
                continue
            module = str(getattr(thing, "__module__", ""))
            marks |= _marks_of(module, str(getattr(thing, "__qualname__", "")))
            if _is_of_tests(module):
                waiting += _functions_of(thing)
    return frozenset(marks)


def _marks_of(module: str, name: str = "") -> set[str]:
    return {USES[use] for use in (module, f"{module}.{name}") if use in USES}


@cache
def _used_by(function: FunctionType) -> list[object]:
    """What the names in a function stand for in its module, and in modules of tests it names."""
    names = _names_in(function.__code__)
    scope: dict[str, Any] = function.__globals__
    used: list[object] = [scope[name] for name in names if name in scope]
    for thing in used[:]:
        if isinstance(thing, ModuleType) and _is_of_tests(thing.__name__):
            used += [vars(thing)[name] for name in names if name in vars(thing)]
    return used


def _names_in(code: CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names_in(constant)
    return names


def _functions_of(thing: object) -> list[FunctionType]:
    """A function itself, without what decorates it, or the methods of a class."""
    bare = getattr(thing, "__wrapped__", thing)
    if isinstance(bare, FunctionType):
        return [bare]
    members = vars(bare).values() if isinstance(bare, type) else ()
    return [one for one in members if isinstance(one, FunctionType)]


def _is_of_tests(module: str) -> bool:
    return module.startswith(("tests.", "test_"))


class NeedsWatch:
    """Takes note of the processes that are started, and of the packaged model being read, while a
    test runs that is not marked for it.

    Threads that ran before the test are not its own: what they do is not counted.
    """

    def __init__(self) -> None:
        self._watching = False
        self._older: set[int | None] = set()
        self._needed: list[tuple[str, str]] = []
        sys.addaudithook(self._hear)

    def begin(self) -> None:
        """Take note from here on."""
        here = threading.current_thread()
        self._older = {one.ident for one in threading.enumerate() if one is not here}
        self._needed = []
        self._watching = True

    def end(self) -> list[tuple[str, str]]:
        """Take note no more; the marks that the test needed, each with what it did."""
        self._watching = False
        return self._needed

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._watching or threading.get_ident() in self._older:
            return
        if event in _EVENTS:
            # `os.system` tells of a command line, which is no path of git or ripgrep.
            program = arguments[0] if event in _WITH_PROGRAM else ""
            command = arguments[1] if event in _WITH_PROGRAM else arguments[:1]
            if os.path.basename(os.fsdecode(program)) not in _ASKED:  # noqa: PTH119 - it may be bytes
                self._needed.append(("process", f"starts a process: {event} {command}"))
        elif event == "open" and isinstance(arguments[0], str) and arguments[0].endswith(_MODEL):
            self._needed.append(("model", f"reads a model: {arguments[0]}"))
