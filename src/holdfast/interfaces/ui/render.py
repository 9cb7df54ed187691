"""Rendering templates. Every value is escaped, unless a filter returns HTML (`Markup`)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from holdfast.app.search.hit_view import ended_lines, endings
from holdfast.interfaces.ui import formatting, prose
from holdfast.interfaces.ui.hidden_characters import show_hidden
from holdfast.language import counted

_HERE = Path(__file__).parent
STATIC = _HERE / "static"
# The navigation: path, name, and the key after `g`: the first letter of the name or, where another
# page has that, a later one.
PLACES = (
    ("/", "Home", "h"),
    ("/sessions", "Sessions", "s"),
    ("/memory", "Memory", "m"),
    ("/review", "Review", "r"),
    ("/banks", "Banks", "b"),
    ("/brief", "Brief", "f"),
    ("/entities", "Entities", "e"),
    ("/timeline", "Timeline", "t"),
    ("/repos", "Repos", "p"),
    ("/status", "Health", "l"),
)
_FILTERS: dict[str, Any] = {
    "age": formatting.age,
    "bank_keys": formatting.bank_keys,
    "bank_choices": formatting.bank_choices,
    "clock": formatting.clock,
    "count": counted,
    "day": formatting.day,
    "diff": prose.diff,
    "ended_lines": ended_lines,
    "endings": endings,
    "folded": prose.folded,
    "highlight": prose.highlight,
    "inline": prose.inline,
    "is_diff": prose.is_diff,
    "lasted": formatting.lasted,
    "link": formatting.link,
    "mark_words": prose.mark_words,
    "moment": formatting.moment,
    "pieces": formatting.pieces,
    "prose": prose.prose,
    "raw": prose.raw,
    "seconds": formatting.seconds,
    "session_link": formatting.session_link,
    "without": formatting.without,
}


@cache
def templates() -> Environment:
    """The templates. Each is compiled when it is first needed, and then kept."""
    made = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(_FILTERS)
    return made


class Pages:
    """The pages of a server."""

    def __init__(self) -> None:
        self._templates = templates()

    def render(self, template: str, **shown: Any) -> str:
        """A page, on which hidden characters are seen. Missing names are an error, except those
        that `base.html` always needs."""
        usual = {
            "title": "",
            "path": "",
            "form_key": "",
            "waiting": 0,
            "here": "/",
            "undo": "",
            "searched": "",
            "places": PLACES,
        }
        return show_hidden(self._templates.get_template(template).render({**usual, **shown}))
