"""The color scheme changes colors alone, and the width of the window nearly none: what is readable
in light and in dark is readable on every screen."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

STYLE = (files("holdfast.interfaces.ui") / "static" / "style.css").read_text("utf-8")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_QUERY = re.compile(r"@media\s*([^{]+?)\s*\{((?:[^{}]*\{[^{}]*\})*)[^{}]*\}")
# What decides on the contrast of a text: a large or a bold one needs less of it.
_OF_CONTRAST = {
    *("background", "background-color", "background-image", "color", "fill", "filter", "font"),
    *("font-size", "font-weight", "mix-blend-mode", "opacity", "text-decoration"),
    *("text-decoration-line", "visibility"),
}
# They are on pages that test_every_page.py shows in every layout: a session, the sessions, records
# by kind, and an answer.
_DEPENDS_ON_WIDTH = {
    (".stick h1", "font-size"),
    (".records.sessions > li > p:not(.quiet)", "color"),
    (".records.sessions > li > p:not(.quiet)", "font-size"),
    (".records.shelf > li:not(.with-action) > .marks", "font-size"),
    (".answered > .sources", "font-size"),
}


def _changed_where(feature: str) -> list[tuple[str, str]]:
    """The selectors and properties of all rules that apply to some windows only."""
    queries = [found for found in _QUERY.findall(_COMMENT.sub("", STYLE)) if feature in found[0]]
    rules = [rule for _, rules in queries for rule in _RULE.findall(rules)]
    return [
        (selector.strip(), declaration.partition(":")[0].strip())
        for selector, declarations in rules
        for declaration in declarations.split(";")
        if declaration.strip()
    ]


def test_dark_mode_replaces_nothing_but_named_colors() -> None:
    changed = _changed_where("prefers-color-scheme")
    assert len(changed) > 20
    assert [one for one in changed if one[0] != ":root" or not one[1].startswith("--")] == []


def test_the_width_of_a_window_decides_on_the_contrast_of_few_texts() -> None:
    changed = _changed_where("width")
    assert len(changed) > 40
    named = {one for one in changed if one[1] in _OF_CONTRAST or one[1].startswith("--")}
    assert named == _DEPENDS_ON_WIDTH


@pytest.mark.parametrize("feature", ["prefers-color-scheme", "width"])
def test_every_query_of_the_style_sheet_is_read(feature: str) -> None:
    text = _COMMENT.sub("", STYLE)
    begun = re.findall(rf"@media[^{{]*\b{feature}", text)
    assert len(begun) == sum(feature in query for query, _ in _QUERY.findall(text)) > 1
