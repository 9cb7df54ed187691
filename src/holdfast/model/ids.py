"""Stable names for records: content-hash ids and `holdfast://` URIs.

An id is a hash of what makes a record itself, so that doing the same work twice names the
same row. Ids never contain a bank: a record keeps its name when a bank is renamed.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

SCHEME = "holdfast://"
ID_BYTES = 8


class Uri(NamedTuple):
    """The two parts of `holdfast://<word>/<id>`."""

    word: str
    id: str

    def __str__(self) -> str:
        return f"{SCHEME}{self.word}/{self.id}"


def content_id(*parts: str) -> str:
    """Hash the parts to 16 hex digits; the borders between parts count."""
    joined = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(joined, digest_size=ID_BYTES).hexdigest()


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
