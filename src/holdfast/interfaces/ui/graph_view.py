"""Entities and their ties as a picture: numbers and texts for a template that draws SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from holdfast.interfaces.ui.graph_layout import Label, NodeToPlace, place_labels, place_nodes
from holdfast.recall.lookup.entities import Neighbour, Neighbourhood

_WIDTH = 860.0
_MIN_HEIGHT, _HEIGHT_PER_ENTITY = 600.0, 1.7
_MAX_LABEL_CHARS = 24
# The name of each kind, singular and plural.
KINDS = {
    "person": ("person", "people"),
    "component": ("component", "components"),
    "file": ("file", "files"),
    "concept": ("concept", "concepts"),
}


class Drawn(NamedTuple):
    """A node: its entity, position, size and label."""

    entity: Neighbour
    x: float
    y: float
    radius: float
    label: Label


class Line(NamedTuple):
    """A tie as a line, and whether it ends at the focus."""

    x1: float
    y1: float
    x2: float
    y2: float
    width: float
    own: bool


class Picture(NamedTuple):
    """The picture; lines are drawn below nodes. `hidden` counts labels without room."""

    width: float
    height: float
    nodes: tuple[Drawn, ...]
    lines: tuple[Line, ...]
    hidden: int


@lru_cache(maxsize=16)
def draw(found: Neighbourhood) -> Picture:
    """Lay out and label a neighbourhood; more entities make a higher picture."""
    height = _MIN_HEIGHT + _HEIGHT_PER_ENTITY * len(found.entities)
    most = max((one.records for one in found.entities), default=1)
    radii = [round(4 + 9 * math.sqrt(one.records / max(1, most)), 1) for one in found.entities]
    spots = [
        NodeToPlace(one.via, one.hops, radius)
        for one, radius in zip(found.entities, radii, strict=True)
    ]
    points = place_nodes(spots, found.ties, _WIDTH, height)
    labels = _place_labels(found.entities, points, radii, height)
    nodes = tuple(
        Drawn(one, x, y, radius, text)
        for one, (x, y), radius, text in zip(found.entities, points, radii, labels, strict=True)
    )
    firmest = max((tie.records for tie in found.ties), default=1)
    focused = any(one.hops for one in found.entities)
    lines = tuple(
        Line(
            *points[tie.one],
            *points[tie.other],
            round(0.6 + 2.4 * math.sqrt(tie.records / firmest), 2),
            focused and 0 in (tie.one, tie.other),
        )
        for tie in sorted(found.ties, key=lambda tie: tie.records)
    )
    return Picture(_WIDTH, height, nodes, lines, sum(not node.label.shown for node in nodes))


def _place_labels(
    entities: Sequence[Neighbour],
    points: Sequence[tuple[float, float]],
    radii: Sequence[float],
    height: float,
) -> list[Label]:
    """Labels; the nearest and most mentioned entities get room first."""
    order = sorted(
        range(len(entities)), key=lambda n: (entities[n].hops > 1, -entities[n].records, n)
    )
    focused = any(one.hops for one in entities)
    if focused:
        order.sort(key=lambda n: n != 0)
    texts = [shorten_name(entities[n].name) for n in order]
    at, sizes = [points[n] for n in order], [radii[n] for n in order]
    made = place_labels(texts, at, sizes, _WIDTH, height, 0 if focused else -1)
    back = dict(zip(order, made, strict=True))
    return [back[n] for n in range(len(entities))]


def shorten_name(name: str, most: int = _MAX_LABEL_CHARS) -> str:
    """A name for a label: the last part of a long path, the start of any other long name."""
    name = " ".join(name.split())
    if len(name) <= most:
        return name
    if "/" in name and " " not in name:
        name = name.rstrip("/").rpartition("/")[2]
        if len(name) < most:
            return "…/" + name
    return name[: most - 1].rstrip() + "…"
