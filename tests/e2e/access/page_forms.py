"""The forms of a page, with the values that a browser would send if nobody changed anything."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

_Attributes = list[tuple[str, str | None]]


class PageForm(NamedTuple):
    """Where a form is sent to, and its fields. A field may name its form instead of being in it."""

    action: str
    id: str
    fields: dict[str, str]
    # The boxes that nobody has ticked.
    boxes: dict[str, str]
    # What its address names.
    place: str = ""


def find_form(page: str, path: str) -> PageForm | None:
    """The first form of a page that is sent to such a path; what a group of the pattern matches is
    its place."""
    reader = _FormReader()
    reader.feed(page)
    for form in reader.forms:
        if found := re.fullmatch(path, form.action):
            for owner, name, value in reader.outside:
                if owner == form.id:
                    form.boxes[name] = value
            return form._replace(place="".join(map(unquote, found.groups())))
    return None


class _FormReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[PageForm] = []
        self.outside: list[tuple[str, str, str]] = []
        self._open: PageForm | None = None
        self._text_of = ""
        self._select = ""

    def handle_starttag(self, tag: str, attrs: _Attributes) -> None:
        given = {name: value or "" for name, value in attrs}
        name = given.get("name", "")
        if tag == "form":
            path = urlsplit(given.get("action", "")).path
            self._open = PageForm(path, given.get("id", ""), {}, {})
            self.forms.append(self._open)
        elif tag == "input" and given.get("form") and name:
            self.outside.append((given["form"], name, given.get("value", "on")))
        elif self._open is not None:
            self._read_field(self._open, tag, name, given)

    def _read_field(self, form: PageForm, tag: str, name: str, given: dict[str, str]) -> None:
        if tag == "input" and name:
            if given.get("type") in ("checkbox", "radio") and "checked" not in given:
                form.boxes.setdefault(name, given.get("value", "on"))
            else:
                form.fields[name] = given.get("value", "")
        elif tag == "textarea" and name:
            self._text_of = name
            form.fields[name] = ""
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select:
            value = given.get("value", "")
            if "selected" in given or self._select not in form.fields:
                form.fields[self._select] = value

    def handle_data(self, data: str) -> None:
        if self._open is not None and self._text_of:
            self._open.fields[self._text_of] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open = None
        elif tag == "textarea":
            self._text_of = ""
        elif tag == "select":
            self._select = ""
