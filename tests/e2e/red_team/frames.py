"""What must hold of a text that an agent reads, whatever was recorded: nothing of a payload is
outside of the frame that we put around recorded text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html.parser import HTMLParser
from typing import Any, cast

from holdfast.framed_text import OWN_TAG

# Written out again, so that a fault in the product's pattern is found.
INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\U000e0000-\U000e0fff]"
)
ANY_TAG = re.compile(r"[<\uff1c]\s*[a-z/!?|]", re.IGNORECASE)
# Those by which a model is told who speaks; others are code, and stay in the project's own words.
HOST_TAG = re.compile(
    r"[<\uff1c]\s*/?\s*(holdfast-brief|system-reminder|function_|user-prompt|local-command|command-|"
    r"teammate)|<\|im_|<<SYS>>",
    re.IGNORECASE,
)


def openings(payload: str) -> set[str]:
    """What the lines of a payload begin with, as far as that is more than a mark or two."""
    lines = re.split("[\n\r\x0b\x85\u2028]", payload)
    return {line.strip() for line in lines if len(line.strip()) > 3}


def check_brief(text: str, payload: str) -> None:
    """A brief is one element, and no line of it is a line of the payload."""
    lines = text.split("\n")
    assert re.fullmatch(rf'<{OWN_TAG} id="[a-z]+-[0-9a-f]+">', lines[0])
    assert lines[-1] == f"</{OWN_TAG}>"
    inner = "\n".join(lines[1:-1])
    assert OWN_TAG not in inner.lower() and not ANY_TAG.search(inner), inner
    check_text(inner, payload, ("- ", "  "))


def check_text(text: str, payload: str, frames: Iterable[str]) -> None:
    """No tag of a host, no invisible character, and no line that begins as one of the payload does;
    a line that has words of the payload begins as one of the frames does."""
    assert not HOST_TAG.search(text), text
    assert not INVISIBLE.search(text), repr(text)
    for line in text.split("\n"):
        assert not line.startswith(tuple(openings(payload))), line
        held = any(words in line for words in openings(payload))
        assert not held or line.startswith(tuple(frames)), line


def strings(value: Any) -> Iterable[str]:
    """All texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in cast(dict[str, Any], value).values():
            yield from strings(one)
    elif isinstance(value, list):
        for one in cast(list[Any], value):
            yield from strings(one)


def check_data(value: Any) -> None:
    """No text in a JSON value has a tag of a host or an invisible character, and no record from
    outside has any tag; each of these is marked."""
    for one in strings(value):
        assert not HOST_TAG.search(one), one
        assert not INVISIBLE.search(one), repr(one)
    for record in records(value):
        inner: dict[str, Any] = record.get("metadata", record)
        is_outside = inner.get("trust") == "external" or "shared" in inner
        if is_outside and ("text" in record or "content" in record):
            assert not ANY_TAG.search(record.get("text") or record.get("content", "")), record
            assert inner["outside"].startswith("text from outside"), record


def records(value: Any) -> Iterable[dict[str, Any]]:
    """All objects in a JSON value."""
    if isinstance(value, dict):
        yield value
        for one in cast(dict[str, Any], value).values():
            yield from records(one)
    elif isinstance(value, list):
        for one in cast(list[Any], value):
            yield from records(one)


class Elements(HTMLParser):
    """The elements of a page that run or fetch something, and where links lead."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self.fetched: list[str] = []
        self.handlers: list[str] = []
        self.tags: set[str] = set()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "script":
            self.scripts.append(dict(attrs).get("src") or "")
        for name, value in attrs:
            if name.startswith("on"):
                self.handlers.append(f"{tag} {name}={value}")
            if name in ("src", "href", "action", "formaction"):
                self.fetched.append(value or "")
