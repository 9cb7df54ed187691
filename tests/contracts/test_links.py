"""Links between our own pages lead somewhere: to a file, and to a heading that is in it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("bench/*.md")])
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_CODE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


@cache
def headings(page: Path) -> frozenset[str]:
    """The names that links know the headings of a page by."""
    found = _HEADING.findall(_CODE.sub("", page.read_text("utf-8")))
    return frozenset(
        re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in found
    )


@pytest.mark.parametrize("page", _PAGES, ids=[str(page.relative_to(ROOT)) for page in _PAGES])
def test_links_point_to_existing_files(page: Path) -> None:
    wrong: list[str] = []
    for link in _LINK.findall(page.read_text("utf-8")):
        if "://" in link or link.startswith("mailto:"):
            continue
        name, _, heading = link.partition("#")
        there = (page.parent / name).resolve() if name else page
        known = there.exists() and (not heading or heading in headings(there))
        wrong += [] if known else [link]
    assert not wrong


# Files of projects in examples, and of an agent that is to be added.
_MADE_UP = frozenset({"NAME.py", "x.py", "y.py", "ferry.py", "growth.py", "rest.js"})


def test_repository_files_named_on_a_page_exist() -> None:
    named = re.compile(r"\b(?:src|tests|tools|bench)/[\w/.-]+\.(?:py|sql|js|md)\b")
    pages = [*_PAGES, ROOT / "pyproject.toml", ROOT / "Makefile"]
    found = {(page.name, name) for page in pages for name in _named_in(page, named)}
    assert len(found) > 20
    assert sorted((page, name) for page, name in found if not (ROOT / name).exists()) == []


def _named_in(page: Path, pattern: re.Pattern[str]) -> list[str]:
    # What was true of a release is not changed with the files.
    if page.name == "CHANGELOG.md":
        return []
    found = pattern.findall(_CODE.sub("", page.read_text("utf-8")))
    return [name for name in found if name.rpartition("/")[2] not in _MADE_UP]
