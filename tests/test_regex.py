"""Patterns that are compiled late do what compiled ones do."""

from __future__ import annotations

import re

import pytest

from holdfast.regex import regex


def test_a_lazy_regex_behaves_like_a_compiled_pattern() -> None:
    tide = regex(r"(?P<what>tide)_(\d+)", re.IGNORECASE)
    match = tide.search("the Tide_7 table")
    assert match is not None and match.groups() == ("Tide", "7")
    assert [tide.sub(r"\2", text) for text in ("tide_1", "TIDE_2")] == ["1", "2"]
    assert (tide.pattern, tide.groups) == (r"(?P<what>tide)_(\d+)", 2)
    assert regex(rb"\d+").findall(b"1 and 22") == [b"1", b"22"]


def test_a_lazy_regex_is_not_compiled_before_it_is_used() -> None:
    broken = regex("(")
    with pytest.raises(re.error):
        broken.search("")
