"""Reads the decision records in docs/decisions, and makes the table of their index.

Every record has the same form: a numbered title, then the sections `SECTIONS` in this order. The
first sentence of "Status" is its state; a record that another one replaces links to that one.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parents[1] / "docs" / "decisions"
SECTIONS = ("Status", "Context", "Decision", "Measurement", "Consequences")
_TITLE = re.compile(r"^# (\d+)\. (.+)$", re.MULTILINE)
_STATE = re.compile(r"(Accepted|Superseded) on (\d{4}-\d\d-\d\d)( by \[decision \d+\]\([^)]+\))?\.")
_CHANGE = re.compile(r"\[[Dd]ecision (\d+)\]\(([^)]+)\)")


class DecisionRecord(NamedTuple):
    """One record: the text of each section by its name, in the order of the file."""

    file: str
    number: int
    title: str
    sections: dict[str, str]

    @property
    def state(self) -> str:
        """ "Accepted" or "Superseded"; "" if the record does not say."""
        found = _STATE.match(self.sections.get("Status", ""))
        return found[1] if found else ""

    @property
    def date(self) -> str:
        """The day of its state."""
        found = _STATE.match(self.sections.get("Status", ""))
        return found[2] if found else ""

    @property
    def related(self) -> list[tuple[int, str]]:
        """The records that its status names: number and file."""
        named = _CHANGE.findall(self.sections.get("Status", ""))
        return [(int(number), file) for number, file in named]


def read_record(path: Path) -> DecisionRecord:
    """The record in a file. A title that is not numbered has the number 0."""
    text = path.read_text("utf-8")
    title = _TITLE.match(text)
    head, *parts = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)
    sections = {name: body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}
    if title is None or head.strip() != title[0]:
        return DecisionRecord(path.name, 0, head.strip(), sections)
    return DecisionRecord(path.name, int(title[1]), title[2], sections)


def read_records() -> list[DecisionRecord]:
    """All records, by number."""
    return [read_record(path) for path in sorted(FOLDER.glob("[0-9]*.md"))]


def index() -> str:
    """The table of docs/decisions/README.md."""
    lines = ["| | decision | status | see also |", "|---|---|---|---|"]
    for record in read_records():
        also = ", ".join(f"[{number}]({file})" for number, file in record.related)
        state = f"{record.state.lower()} {record.date}"
        lines.append(
            f"| {record.number} | [{record.title}]({record.file}) | {state} | {also or '–'} |"
        )
    return "\n".join(lines)
