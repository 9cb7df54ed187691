"""`docs/seeds.md`: every row of the designs has an answer, a state and a test that exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from tools.design_rows import PAGE, STATES, read_rows, summary

TESTS = Path(__file__).parents[1]
DESIGNS = 5


@cache
def functions(file: Path) -> frozenset[str]:
    """The names of the test functions in a file."""
    tree = ast.parse(file.read_text("utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in tree.body if isinstance(node, kinds))


@pytest.mark.slow
def test_every_test_that_the_page_names_exists() -> None:
    rows = read_rows(PAGE.read_text("utf-8"))
    gone: list[str] = []
    for row in rows:
        path, _, name = row.test.strip("`").partition("::")
        file = TESTS / path
        if not file.is_file() or name not in functions(file):
            gone.append(f"{row.design}, row {row.number}: {row.test}")
    assert rows and gone == []


def test_every_row_has_an_answer_and_a_known_state() -> None:
    rows = read_rows(PAGE.read_text("utf-8"))
    for row in rows:
        assert row.asked and row.answer and row.state in STATES, row
    named = [(row.design, row.asked) for row in rows]
    assert len(set(named)) == len(named)


def test_the_rows_of_each_design_are_numbered_without_a_gap() -> None:
    rows = read_rows(PAGE.read_text("utf-8"))
    designs = dict.fromkeys(row.design for row in rows)
    assert len(designs) == DESIGNS
    for design in designs:
        numbers = [int(row.number) for row in rows if row.design == design]
        assert numbers == list(range(1, len(numbers) + 1)), design


def test_the_counts_on_the_page_are_those_of_its_rows() -> None:
    text = PAGE.read_text("utf-8")
    assert summary() in text
    total = re.search(r"^\| all \| (\d+) \|", text, re.MULTILINE)
    assert total is not None and int(total[1]) == len(read_rows(text))
    # Every line of a table that looks like a row is one: a cell too many would leave it out.
    assert len(re.findall(r"^\| \d+ \|", text, re.MULTILINE)) == len(read_rows(text))
