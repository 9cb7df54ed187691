from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from holdfast.interfaces.ui.formatting import age, split_heading

NOW = datetime(2026, 11, 17, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("before", "told"),
    [
        (timedelta(seconds=30), "just now"),
        (timedelta(minutes=59), "59 minutes ago"),
        (timedelta(hours=47), "47 hours ago"),
        (timedelta(days=13), "13 days ago"),
        (timedelta(days=34), "4 weeks ago"),
        (timedelta(days=70), "2 months ago"),
        (timedelta(days=400), "1 year ago"),
        (timedelta(days=-3), "20 Nov 2026"),
    ],
)
def test_an_age_is_told_in_its_largest_unit(before: timedelta, told: str) -> None:
    assert age((NOW - before).isoformat(), NOW) == told


def test_a_record_without_a_time_has_no_age() -> None:
    assert age("") == "undated"


def test_the_heading_of_a_text_is_its_first_line() -> None:
    assert split_heading("A cache\n\nIn Redis.") == ("A cache", "In Redis.")
    assert split_heading("One line only.") == ("One line only.", "")


def test_the_name_of_a_tool_is_no_heading_by_itself() -> None:
    assert split_heading("Bash\ngit status\nclean") == ("Bash git status", "clean")


def test_a_long_first_line_is_cut_and_stands_whole_below() -> None:
    text = "word " * 80
    heading, rest = split_heading(text)
    assert len(heading) <= 160 and heading.endswith("…") and rest == text.strip()


def test_the_heading_of_a_long_line_is_the_sentences_that_fit() -> None:
    first = "The tide gauge is read every six minutes. It needs a key."
    rest = "Nobody knows where the key is kept, " * 6
    assert split_heading(f"{first} {rest}\nMore.") == (first, f"{rest.strip()}\nMore.")
