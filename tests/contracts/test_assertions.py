"""Every test asserts something, and the check that says so finds tests that do not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.code_files import parse_file, statements

TESTS = Path(__file__).parents[1]
# Calls that fail a test: of pytest, and helpers that say by their name that they assert.
_ASSERTING = re.compile(r"(raises|warns|fail|xfail|_?(assert|expect|check)(_\w+|s)?)$")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def functions_in(tree: ast.Module) -> list[Function]:
    return [node for node in statements(tree) if isinstance(node, Function)]


@cache
def is_fixture(function: Function) -> bool:
    """What a fixture asserts is that it could be made, not what its test is about."""
    return any("fixture" in ast.unparse(one) for one in function.decorator_list)


@cache
def called_names(function: Function) -> set[str]:
    """The names of what a function calls, or hands on to be called."""
    names: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.Name):
            names.add(node.id)
    return names


@cache
def asserts_itself(function: Function) -> bool:
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            name = node.func.id if isinstance(node.func, ast.Name) else name
            if _ASSERTING.match(name):
                return True
    return False


def asserting_helpers(functions: list[Function]) -> set[str]:
    """The names of functions that assert, by themselves or through one another."""
    names = {one.name for one in functions if asserts_itself(one)}
    while True:
        more = {one.name for one in functions if called_names(one) & names} | names
        if more == names:
            return names
        names = more


def helper_modules(tree: ast.Module) -> Iterator[Path]:
    """The files of the tests' own modules that a test file imports from."""
    for node in statements(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests."):
            base = TESTS.parent.joinpath(*(node.module or "").split("."))
            inner = (base / f"{alias.name}.py" for alias in node.names)
            yield from (path for path in (base.with_suffix(".py"), *inner) if path.is_file())


def find_unasserted(tree: ast.Module) -> list[str]:
    """The test functions of a module that cannot fail but by an error, as `name (line)`."""
    imported = [one for p in helper_modules(tree) for one in functions_in(parse_file(p))]
    own = [one for one in functions_in(tree) if not one.name.startswith("test")]
    names = asserting_helpers([one for one in (*imported, *own) if not is_fixture(one)])
    return [
        f"{one.name} (line {one.lineno})"
        for one in functions_in(tree)
        if one.name.startswith("test") and not asserts_itself(one) and not called_names(one) & names
    ]


@pytest.mark.parametrize(
    "body",
    [
        "assert f()",
        "for x in f():\n        assert x",
        "with pytest.raises(ValueError):\n        f()",
        "check_balance(f())",
        "self.assert_clean()",
        "through()",
        "f(direct)",
    ],
)
def test_a_test_that_asserts_passes(body: str) -> None:
    helpers = "def direct():\n    assert True\n\ndef through():\n    direct()\n\n"
    assert find_unasserted(ast.parse(f"{helpers}def test_x():\n    {body}\n")) == []


@pytest.mark.parametrize("body", ["f()", "x = f() == 1", "mute()", "f().checked", "pass"])
def test_a_test_that_asserts_nothing_is_found(body: str) -> None:
    helpers = "def mute():\n    return f()\n\n@pytest.fixture\ndef f():\n    assert True\n\n"
    found = find_unasserted(ast.parse(f"{helpers}def test_x(f):\n    {body}\n"))
    assert found == ["test_x (line 8)"]


@pytest.mark.slow
def test_every_test_asserts_something() -> None:
    files = sorted(TESTS.rglob("test_*.py"))
    assert len(files) > 200
    found = {
        str(path.relative_to(TESTS)): without
        for path in files
        if (without := find_unasserted(parse_file(path)))
    }
    assert found == {}
