"""The decision records in docs/decisions have one form, and agree on which amends which."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.decision_records import (
    FOLDER,
    SECTIONS,
    DecisionRecord,
    index,
    read_record,
    read_records,
)

_RECORDS = read_records()
_IDS = [record.file[:4] for record in _RECORDS]
# A record is read in two minutes. The longest lists the interfaces that a decision reaches.
_LONGEST_WORDS = 620


def test_decision_records_are_numbered_consecutively() -> None:
    assert len(_RECORDS) > 25
    assert [record.number for record in _RECORDS] == list(range(1, len(_RECORDS) + 1))
    assert [int(record.file[:4]) for record in _RECORDS] == [r.number for r in _RECORDS]


@pytest.mark.parametrize("record", _RECORDS, ids=_IDS)
def test_a_record_has_the_five_sections_in_order_and_each_says_something(
    record: DecisionRecord,
) -> None:
    assert tuple(record.sections) == SECTIONS
    assert all(record.sections.values())
    assert record.title and not record.title.endswith(".")


@pytest.mark.parametrize("record", _RECORDS, ids=_IDS)
def test_a_record_begins_with_its_state_and_its_day(record: DecisionRecord) -> None:
    assert record.state and record.date
    if record.state == "Superseded":
        assert record.related, "a superseded record links to its successor"


@pytest.mark.parametrize("record", _RECORDS, ids=_IDS)
def test_two_records_that_amend_each_other_name_each_other(record: DecisionRecord) -> None:
    by_number = {other.number: other for other in _RECORDS}
    for number, file in record.related:
        other = by_number[number]
        assert other.file == file
        assert record.number in [back for back, _ in other.related], other.file


@pytest.mark.parametrize("record", _RECORDS, ids=_IDS)
def test_a_record_is_short(record: DecisionRecord) -> None:
    words = sum(len(text.split()) for text in record.sections.values())
    assert words <= _LONGEST_WORDS


def test_the_index_lists_every_record_as_it_is() -> None:
    assert index() in (FOLDER / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "sections", "state"),
    [
        ("# Title\n\n## Context\n\nWhy.\n", ("Context",), ""),
        ("# 1. T\n\n## Status\n\nProposed.\n", ("Status",), ""),
        (
            "# 1. T\n\n## Status\n\nSuperseded on 2026-01-02 by [decision 2](0002-b.md).\n",
            ("Status",),
            "Superseded",
        ),
    ],
)
def test_what_a_record_lacks_is_noticed(
    tmp_path: Path, text: str, sections: tuple[str, ...], state: str
) -> None:
    file = tmp_path / "0001-a.md"
    file.write_text(text, "utf-8")
    record = read_record(file)
    assert tuple(record.sections) == sections and record.state == state
    assert record.related == ([(2, "0002-b.md")] if state else [])
