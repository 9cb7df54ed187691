"""Rendering templates. Every value is escaped, unless a filter returns HTML (`Markup`)."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from holdfast.app.search.hit_view import ended_lines, endings
from holdfast.interfaces.ui import formatting, prose
from holdfast.interfaces.ui.hidden_characters import show_hidden
from holdfast.language import counted
from holdfast.operations.catalogue import describe, uri_of
from holdfast.operations.screen import amount

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
    "bytes": amount,
    "clock": partial(formatting.spell, form="clock"),
    "count": counted,
    "day": formatting.spell,
    "described": describe,
    "ended_lines": ended_lines,
    "endings": endings,
    "uri_of": uri_of,
    "moment": partial(formatting.spell, form="moment"),
    **{
        name: getattr(formatting, name)
        for name in (
            "age", "bank_choices", "bank_keys", "fingerprint", "lasted", "link", "pieces", "place",
            "session_link",
        )
    },
    **{
        name: getattr(prose, name)
        for name in (
            "diff", "folded", "highlight", "inline", "is_diff", "mark_words", "prose", "raw",
        )
    },
}  # fmt: skip
# The names that `base.html` needs, where a page does not say otherwise.
_USUAL: dict[str, Any] = {
    "title": "", "path": "", "form_key": "", "waiting": 0, "here": "/", "undo": "", "note": "",
    "searched": "", "places": PLACES,
}  # fmt: skip


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

    def render(self, template: str, **shown: Any) -> str:
        """A page, on which hidden characters are seen. A name that is missing is an error."""
        return show_hidden(templates().get_template(template).render({**_USUAL, **shown}))
