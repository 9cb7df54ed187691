"""`holdfast://<kind>/<id>`: how a record is named to people and programs."""

from __future__ import annotations

from holdfast.lazy_named_tuple import NamedTuple

SCHEME = "holdfast://"


class Uri(NamedTuple):
    """The two parts of `holdfast://<kind>/<id>`."""

    kind: str
    id: str

    def __str__(self) -> str:
        return f"{SCHEME}{self.kind}/{self.id}"


def uri(kind: str, id: str) -> str:
    """The URI of a record."""
    return f"{SCHEME}{kind}/{id}"


def parse_uri(text: str) -> Uri | None:
    """Read `holdfast://kind/id`, or `kind/id`, or a bare id (kind ""); None for anything else."""
    rest = text.strip().removeprefix(SCHEME)
    if not rest or any(c.isspace() for c in rest):
        return None
    kind, slash, id = rest.partition("/")
    if not slash:
        return Uri("", kind)
    return Uri(kind, id) if kind and id else None
