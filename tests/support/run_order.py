"""In which order the workers of a test run take its files.

A worker takes a file at a time (`--dist loadfile`), so that what the tests of a file share is made
once. The files that take longest come first: at the end only short ones are left, and no worker
waits for another.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import pytest

# Seconds that tests with a mark take on the average, of all tests in a whole run on two idle cores.
_SECONDS = {"claude": 4.0, "browser": 2.5, "slow": 0.7, "process": 0.4, "model": 0.3}
_WITHOUT_MARK_S = 0.04


def order_for_workers(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """All tests, those of the files that take longest first."""
    marks: dict[Path, list[set[str]]] = {}
    for item in items:
        marks.setdefault(item.path, []).append({mark.name for mark in item.iter_markers()})
    place = {path: number for number, path in enumerate(longest_first(marks))}
    return sorted(items, key=lambda item: place[item.path])


def longest_first(marks: Mapping[Path, Sequence[Collection[str]]]) -> list[Path]:
    """Files by how long they are expected to take, given the marks of their tests. Those with a
    browser come before all others, because it stays open from one of them to the next."""

    def rank(path: Path) -> tuple[bool, float, Path]:
        has_browser = any("browser" in test for test in marks[path])
        return not has_browser, -sum(map(_expected_s, marks[path])), path

    return sorted(marks, key=rank)


def _expected_s(marks: Collection[str]) -> float:
    return _WITHOUT_MARK_S + sum(_SECONDS.get(mark, 0.0) for mark in marks)
