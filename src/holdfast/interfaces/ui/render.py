"""Templates into pages. Everything is escaped; what a page may show as HTML it says itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

_HERE = Path(__file__).parent
STATIC = _HERE / "static"
# What is reached from every page: address, name, and the key that goes there.
PLACES = (
    ("/", "Ask", "a"),
    ("/sessions", "Sessions", "s"),
)


class Pages:
    """The templates, read once."""

    def __init__(self) -> None:
        self._templates = Environment(
            loader=FileSystemLoader(_HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters["day"] = _day

    def render(self, template: str, **shown: Any) -> str:
        """A page."""
        usual = {"title": "", "path": "", "form_key": "", "question": "", "places": PLACES}
        return self._templates.get_template(template).render({**usual, **shown})


def _day(time: str) -> str:
    return time[:10] or "undated"
