"""Test files that cannot be imported on Windows, because they or what they import needs modules
that only POSIX systems have."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

TESTS = Path(__file__).parents[1]
POSIX_MODULES = frozenset("fcntl grp posix pty pwd resource syslog termios tty".split())
_IMPORT = re.compile(r"^(?:import|from) ([\w.]+)(?: import ([\w., ]+))?", re.MULTILINE)


def files_that_import(modules: Collection[str] = POSIX_MODULES) -> list[str]:
    """The files below tests/ that import one of these modules when they are imported, themselves or
    through other files below tests/."""
    imports = {_module(path): _imported(path) for path in TESTS.rglob("*.py")}
    found = {name for name, imported in imports.items() if imported & set(modules)}
    while more := {name for name, imported in imports.items() if imported & found} - found:
        found |= more
    return sorted(str(path) for path in TESTS.rglob("test_*.py") if _module(path) in found)


def _module(path: Path) -> str:
    return ".".join(("tests", *path.relative_to(TESTS).with_suffix("").parts))


def _imported(path: Path) -> set[str]:
    """The modules that a file names at its top, and the names it takes from packages."""
    told: set[str] = set()
    for module, names in _IMPORT.findall(path.read_text("utf-8")):
        told |= {module, *(f"{module}.{name.strip()}" for name in names.split(",") if name)}
    return told
