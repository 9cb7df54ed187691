"""No test replaces a part of the product, and the check that says so finds tests that do.

What a test needs otherwise is an argument. Parts of the standard library may be replaced, by name:
`monkeypatch.setattr("sys.stderr", None)`; and a package may be missing, in `sys.modules`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.support.code_files import parse_file

TESTS = Path(__file__).parents[1]
_REPLACING = ("setattr", "delattr", "setitem", "delitem")


def imported_names(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """What each imported name stands for."""
    names: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.split(".")[0]] = alias.name
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def is_standard(name: str) -> bool:
    return name.split(".")[0] in sys.stdlib_module_names


def is_allowed_target(target: ast.expr, names: dict[str, str]) -> bool:
    """Whether the first argument of a replacing call is of the standard library by its name."""
    if isinstance(target, ast.Constant):
        return is_standard(str(target.value))
    first, _, _ = ast.unparse(target).partition(".")
    return is_standard(names.get(first, "?"))


def written(node: ast.AST) -> Iterator[ast.expr]:
    """The attributes and items that a statement sets or deletes."""
    for target in (
        *(node.targets if isinstance(node, ast.Assign | ast.Delete) else ()),
        *((node.target,) if isinstance(node, ast.AugAssign | ast.AnnAssign) else ()),
    ):
        for one in ast.walk(target):
            if isinstance(one, ast.Attribute | ast.Subscript) and not isinstance(one.ctx, ast.Load):
                yield one


def find_replacements(tree: ast.Module) -> list[str]:
    """Where a module sets or deletes something of what it imported, as `code (line)`."""
    nodes, found = list(ast.walk(tree)), list[str]()
    names = imported_names(nodes)
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            replaces = node.func.attr in _REPLACING
            if replaces and not is_allowed_target(node.args[0], names):
                found.append(f"{ast.unparse(node)} (line {node.lineno})")
        for target in written(node):
            base = target
            while isinstance(base, ast.Attribute | ast.Subscript):
                base = base.value
            if isinstance(base, ast.Name) and not is_standard(names.get(base.id, "sys")):
                found.append(f"{ast.unparse(target)} (line {target.lineno})")
    return found


@pytest.mark.parametrize(
    "code",
    [
        'monkeypatch.setattr(limits, "LONGEST", 3)',
        'monkeypatch.setattr("holdfast.limits.LONGEST", 3)',
        'monkeypatch.setattr(store.vectors, "after", broken)',
        'patch.setitem(limits.RESOLVERS, "claude-mem", known)',
        'monkeypatch.delattr(limits, "LONGEST")',
        "limits.LONGEST = 3",
        "limits.LONGEST += 3",
        'limits.RESOLVERS["claude-mem"] = known',
        "del limits.LONGEST",
    ],
)
def test_a_replaced_part_of_the_product_is_found(code: str) -> None:
    (found,) = find_replacements(ast.parse(f"from holdfast import limits\n{code}\n"))
    assert found.endswith("(line 2)")


@pytest.mark.parametrize(
    "code",
    [
        'monkeypatch.setattr("sys.stderr", None)',
        'monkeypatch.setitem(sys.modules, "tokenizers", None)',
        'monkeypatch.setenv("HOLDFAST_HOME", "/tmp")',
        "memory = limits.LONGEST",
        "memory.settings = limits",
        'setattr(boat, "name", 2)',
    ],
)
def test_what_replaces_nothing_of_the_product_passes(code: str) -> None:
    assert find_replacements(ast.parse(f"import sys\nfrom holdfast import limits\n{code}\n")) == []


@pytest.mark.slow
def test_no_test_replaces_a_part_of_the_product() -> None:
    files = sorted(TESTS.rglob("*.py"))
    assert len(files) > 300
    found = {
        str(path.relative_to(TESTS)): replaced
        for path in files
        if (replaced := find_replacements(parse_file(path)))
    }
    assert found == {}
