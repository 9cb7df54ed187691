"""Reads and checks the labels of a set: what a memory should know after each session.

A line describes an item (`session`, `kind`, `text`, `weight`) or a session (`session`, `title`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from holdfast.app.evaluation.json_lines import (
    LINE_REMEDY,
    JsonLine,
    line_error,
    read_lines,
    required_name,
)
from holdfast.errors import InputError
from holdfast.model.knowledge import Kind
from holdfast.model.query import SourceLocation

LABELS = "labels.jsonl"
WEIGHTS = (1, 2, 3)
# What stands between the bank and the file name in the name of a session.
_BANK_MARK = "__"
_KINDS = ", ".join(Kind)
_ITEM_KEYS = ("kind", "text", "weight")


class LabelledItem(NamedTuple):
    """What should be known after a session; of weight 3 if the next would go wrong without it."""

    session: str
    kind: Kind
    text: str
    weight: int


class LabelledTitle(NamedTuple):
    """A good title for a session."""

    session: str
    title: str


class Labels(NamedTuple):
    """The checked labels of a set. Sessions are named by the file names of their transcripts."""

    items: Sequence[LabelledItem]
    titles: Sequence[LabelledTitle]

    @property
    def sessions(self) -> frozenset[str]:
        """The names of the sessions that are labelled."""
        return frozenset(one.session for one in (*self.items, *self.titles))


def session_name(name: str) -> str:
    """The name that sessions are compared by: without the bank that may stand before it."""
    return name.rpartition(_BANK_MARK)[2]


def read_labels(path: Path) -> Labels:
    """Read and check a file of labels."""
    items: list[LabelledItem] = []
    titles: list[LabelledTitle] = []
    title_lines: dict[str, int] = {}
    for location, line in read_lines(path):
        session = session_name(required_name(location, line, "session", "label"))
        if not session:
            raise line_error(
                location,
                f"session ends with {_BANK_MARK}",
                "Name the file of the session's transcript, without its ending.",
            )
        is_item = any(key in line for key in _ITEM_KEYS)
        if is_item:
            items.append(_parse_item(location, line, session))
        if "title" in line:
            if session in title_lines:
                raise line_error(
                    location,
                    f"session {session!r} has a title in line {title_lines[session]}",
                    "Give every session one title.",
                )
            title_lines[session] = location.line
            titles.append(LabelledTitle(session, required_name(location, line, "title", "session")))
        elif not is_item:
            raise line_error(
                location,
                "neither an item nor the title of a session",
                "Write kind, text and weight of an item, or the title of a session.",
            )
    if not items and not titles:
        raise InputError(f"{path} has no labels.", LINE_REMEDY)
    return Labels(items, titles)


def _parse_item(location: SourceLocation, line: JsonLine, session: str) -> LabelledItem:
    kind = required_name(location, line, "kind", "item")
    if kind not in list(Kind):
        raise line_error(location, f"there is no kind {kind!r}", f"The kinds are {_KINDS}.")
    text = required_name(location, line, "text", "item")
    weight: object = line.get("weight")
    if isinstance(weight, bool) or not isinstance(weight, int) or weight not in WEIGHTS:
        raise line_error(
            location,
            "weight is missing" if weight is None else f"weight is {weight!r}",
            "Give every item a weight: 1 (nice to have), 2 (useful) or 3 (needed).",
        )
    return LabelledItem(session, Kind(kind), text, weight)
