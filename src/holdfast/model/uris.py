"""`holdfast://<word>/<id>`: how a record is named to people and programs."""

from __future__ import annotations

from typing import NamedTuple

SCHEME = "holdfast://"


class Uri(NamedTuple):
    """The two parts of `holdfast://<word>/<id>`."""

    word: str
    id: str

    def __str__(self) -> str:
        return f"{SCHEME}{self.word}/{self.id}"


def uri(word: str, id: str) -> str:
    """Spell the URI of a record."""
    return f"{SCHEME}{word}/{id}"


def parse_uri(text: str) -> Uri | None:
    """Read `holdfast://word/id`, or `word/id`, or a bare id (word ""); None for anything else."""
    rest = text.strip().removeprefix(SCHEME)
    if not rest or any(c.isspace() for c in rest):
        return None
    word, slash, id = rest.partition("/")
    if not slash:
        return Uri("", word)
    return Uri(word, id) if word and id else None
