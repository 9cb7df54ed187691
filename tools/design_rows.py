"""Reads the tables of `docs/seeds.md`, and counts their rows by design and state."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).parents[1] / "docs" / "seeds.md"
# Tables of the designs follow this heading level; the text before them has others.
_HEADING = re.compile(r"^## (.+)$")
_CELLS = 5
STATES = ("works", "differs", "in part")


class DesignRow(NamedTuple):
    """One row of a design: what it asks for, what answers to it, and the test that proves it."""

    design: str
    number: str
    asked: str
    answer: str
    state: str
    test: str


def read_rows(text: str) -> list[DesignRow]:
    """The rows of all designs on the page."""
    rows: list[DesignRow] = []
    design = ""
    for line in text.splitlines():
        if found := _HEADING.match(line):
            design = found[1]
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if design and len(cells) == _CELLS and cells[0].isdigit():
            rows.append(DesignRow(design, *cells))
    return rows


def summary() -> str:
    """A table of how many rows each design has, and in which state."""
    rows = read_rows(PAGE.read_text("utf-8"))
    lines = ["| design | rows | " + " | ".join(STATES) + " |", "|---" * (2 + len(STATES)) + "|"]
    for design in (*dict.fromkeys(row.design for row in rows), ""):
        own = [row for row in rows if design in ("", row.design)]
        states = Counter(row.state for row in own)
        counts = " | ".join(str(states[state]) for state in STATES)
        lines.append(f"| {design or 'all'} | {len(own)} | {counts} |")
    return "\n".join(lines)
