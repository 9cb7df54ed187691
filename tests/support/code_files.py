"""The Python files of this repository, each parsed once in a run of tests."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


def python_files(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


@cache
def parse_file(path: Path) -> ast.Module:
    """The tree of a file. The garbage collector is kept from the trees, which live as long as the
    process: going through them took two thirds of the time."""
    gc.disable()
    try:
        return ast.parse(path.read_text("utf-8"))
    finally:
        gc.freeze()
        gc.enable()


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """The statements, exception handlers and match cases below a node, at any depth: a tenth of the
    nodes that `ast.walk` finds, most of which are expressions."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner: list[ast.AST] | ast.AST = getattr(node, field, [])
            if isinstance(inner, list):  # the body of a lambda is an expression
                waiting += inner
                yield from inner
