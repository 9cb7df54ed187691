"""The Python files of this repository, each parsed once in a run of tests."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


def python_files(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


@cache
def parse_file(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))
