"""Limits a machine keeps: raising one is a visible change to this file."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.support.code_files import ROOT, parse_file, python_files, statements

MOST_FILE_LINES = 600
MOST_FUNCTION_LINES = 80


@pytest.mark.slow
def test_no_file_exceeds_its_line_limit() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in python_files("src", "tests", "bench", "examples", "tools")
        if (lines := len(path.read_text("utf-8").splitlines())) > MOST_FILE_LINES
    }
    assert long == {}


@pytest.mark.slow
def test_no_function_exceeds_its_line_limit() -> None:
    long: dict[str, int] = {}
    for path in python_files("src", "tests", "bench", "examples", "tools"):
        for node in statements(parse_file(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
                lines = node.end_lineno - node.lineno + 1
                if lines > MOST_FUNCTION_LINES:
                    long[f"{path.relative_to(ROOT)}:{node.name}"] = lines
    assert long == {}


def test_test_folders_are_packages_named_like_those_of_src() -> None:
    """Stories across packages are in `e2e`, what tests share in `support`."""
    folders = {path.parent for path in python_files("tests") if path.name.startswith("test_")}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").exists()] == []
    tests, source = ROOT / "tests", ROOT / "src" / "holdfast"
    own = {folder.relative_to(tests) for folder in folders} - {Path()}
    named = {folder for folder in own if folder.parts[0] not in ("contracts", "e2e")}
    assert len(named) > 40
    # Tests of one module may have a folder, too.
    there = {one for one in named if (source / one).is_dir() or (source / f"{one}.py").exists()}
    assert sorted(map(str, named - there)) == []


@pytest.mark.slow
def test_no_exception_handler_is_blind() -> None:
    blind: list[str] = []
    for path in python_files("src"):
        for node in statements(parse_file(path)):
            if isinstance(node, ast.ExceptHandler):
                name = node.type.id if isinstance(node.type, ast.Name) else ""
                reraises = any(isinstance(inner, ast.Raise) for inner in statements(node))
                if (node.type is None or name in ("Exception", "BaseException")) and not reraises:
                    blind.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert blind == []


@pytest.mark.slow
def test_meaningless_names_are_not_used() -> None:
    banned = ("Manager", "Service", "Helper", "Processor", "Impl")
    found: list[str] = []
    for path in python_files("src"):
        assert path.stem not in ("utils", "common", "helpers", "misc"), path
        for node in statements(parse_file(path)):
            if isinstance(node, ast.ClassDef) and (
                node.name.endswith(banned) or node.name.startswith("Base")
            ):
                found.append(f"{path.relative_to(ROOT)}:{node.name}")
    assert found == []
