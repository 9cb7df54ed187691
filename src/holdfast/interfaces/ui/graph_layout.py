"""Positions of the nodes of a graph, and of the labels that have room.

The layout is deterministic: nodes start in sectors around the focus (or on a spiral), a
force-directed layout relaxes them, and nodes that still overlap are separated. Labels are placed in
order of importance, beside their node and over nothing else; a label without room is shown when
the node is pointed at.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Rounds of the force-directed layout and of separating nodes: more take longer and change little.
_ROUNDS = 70
_PUSHES = 60
# Pixels between two nodes, and between nodes and the edge of the page.
_GAP = 7.0
_EDGE = 26.0
_GOLDEN = math.pi * (3 - math.sqrt(5))
# Pixels of one letter and one line in the font of the page.
_LETTER = 7.2
_LINE = 15.0

_Points = NDArray[np.float32]


class NodeToPlace(NamedTuple):
    """A node: the index of the node that leads to it (its own for the first), and its radius."""

    via: int
    hops: int
    radius: float


class Label(NamedTuple):
    """A text beside a node; `anchor` is the SVG text-anchor. If not `shown`, it appears when the
    node is pointed at."""

    text: str
    x: float
    y: float
    anchor: str
    shown: bool


class Box(NamedTuple):
    """A rectangle."""

    left: float
    top: float
    right: float
    bottom: float

    def within(self, other: Box) -> bool:
        """Whether it lies inside another."""
        across = other.left <= self.left and self.right <= other.right
        return across and other.top <= self.top and self.bottom <= other.bottom


def place_nodes(
    spots: Sequence[NodeToPlace],
    edges: Sequence[tuple[int, int, float]],
    width: float,
    height: float,
) -> list[tuple[float, float]]:
    """A point for every node, all within the page."""
    if not spots:
        return []
    focused = len(spots) > 1 and all(spot.hops for spot in spots[1:])
    at = _sectors(spots) if focused else _spiral(len(spots))
    radii = np.array([spot.radius for spot in spots], dtype=np.float32)
    # Single precision is enough for pixels, and takes half the time.
    at = _relax(at.astype(np.float32), edges, focused)
    at = _stretch(at, width, height, focused)
    at = _separate(at, radii, width, height, focused)
    return [(round(float(x), 1), round(float(y), 1)) for x, y in at]


def _spiral(count: int) -> NDArray[np.float64]:
    steps = np.arange(count)
    far = np.sqrt((steps + 0.5) / count)
    return np.stack([far * np.cos(steps * _GOLDEN), far * np.sin(steps * _GOLDEN)], axis=1)


def _sectors(spots: Sequence[NodeToPlace]) -> NDArray[np.float64]:
    """Every node in the sector of the node that leads to it, as wide as its descendants need."""
    below: list[list[int]] = [[] for _ in spots]
    for number, spot in enumerate(spots):
        if spot.via != number:
            below[spot.via].append(number)
    weight = [1.0] * len(spots)
    for number in range(len(spots) - 1, 0, -1):
        if spots[number].via != number:
            weight[spots[number].via] += weight[number]
    at = np.zeros((len(spots), 2))
    deepest = max(spot.hops for spot in spots)
    waiting = [(0, 0.0, 2 * math.pi)]
    while waiting:
        number, start, end = waiting.pop()
        whole = sum(weight[one] for one in below[number])
        for one in below[number]:
            share = (end - start) * weight[one] / whole
            angle, far = start + share / 2, spots[one].hops / deepest
            at[one] = far * math.cos(angle), far * math.sin(angle)
            waiting.append((one, start, start + share))
            start += share
    return at


def _relax(at: _Points, edges: Sequence[tuple[int, int, float]], focused: bool) -> _Points:
    """Force-directed layout: springs along edges, repulsion between all nodes, smaller steps with
    every round."""
    count = len(at)
    near = 1.2 / math.sqrt(count)
    one = np.array([edge[0] for edge in edges], dtype=np.intp)
    other = np.array([edge[1] for edge in edges], dtype=np.intp)
    firm = np.array([1 + math.log(max(1.0, edge[2])) for edge in edges], dtype=np.float32)
    for round_ in range(_ROUNDS):
        force = near**2 / (_squared_distances(at) + 1e-4)
        move = at * force.sum(axis=1)[:, None] - force @ at
        if len(edges):
            pull = at[one] - at[other]
            far = np.sqrt((pull**2).sum(axis=1))
            pull *= (far * firm / near * 0.12)[:, None]
            np.add.at(move, one, -pull)
            np.add.at(move, other, pull)
        move -= at * 0.35
        step = np.sqrt((move**2).sum(axis=1)) + 1e-9
        heat = 0.12 * (1 - round_ / _ROUNDS) + 0.004
        at = at + move * (np.minimum(step, heat) / step)[:, None]
        if focused:
            at = at - at[0]
    return at


def _stretch(at: _Points, width: float, height: float, focused: bool) -> _Points:
    """Stretch the positions over the page, mixing position and rank so that no corner is crowded
    while another is empty; a focus stays in the middle."""
    size = np.array([width, height], dtype=np.float32)
    spread = np.empty_like(at)
    for axis in (0, 1):
        own = at[:, axis]
        reach = max(float(np.abs(own).max()), 1e-9)
        order = np.empty(len(own))
        order[np.argsort(own, kind="stable")] = np.linspace(-1, 1, len(own))
        if focused:
            order -= order[0]
        spread[:, axis] = 0.4 * own / reach + 0.6 * order
        for side in (-1, 1):
            there = spread[:, axis] * side > 0
            if there.any():
                spread[there, axis] /= np.abs(spread[there, axis]).max()
    return (size / 2 + spread * (size / 2 - _EDGE)).astype(np.float32)


def _separate(at: _Points, radii: _Points, width: float, height: float, focused: bool) -> _Points:
    """Push overlapping nodes apart, as far as there is room."""
    apart = radii[:, None] + radii[None, :] + _GAP
    np.fill_diagonal(apart, 0)
    low = np.full(2, _EDGE / 2, dtype=np.float32)
    high = np.array([width, height], dtype=np.float32) - low
    for _ in range(_PUSHES):
        far = np.sqrt(_squared_distances(at)) + 1e-6
        over = np.maximum(apart - far, 0)
        if not over.any():
            break
        over /= far
        move = (at * over.sum(axis=1)[:, None] - over @ at) / 2
        if focused:
            move[0] = 0
        at = np.clip(at + move, low, high)
    return at


def _squared_distances(at: _Points) -> _Points:
    """The squared distance of each node from each."""
    across = np.subtract.outer(at[:, 0], at[:, 0])
    down = np.subtract.outer(at[:, 1], at[:, 1])
    return across * across + down * down


# The most important nodes are labelled even over other nodes, though not over other labels.
_ALWAYS_LABELLED = 3


def text_width(text: str) -> float:
    """The width of a text in pixels, estimated generously."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return (len(text) + wide) * _LETTER + 5


def place_labels(
    texts: Sequence[str],
    at: Sequence[tuple[float, float]],
    radii: Sequence[float],
    width: float,
    height: float,
    bold: int = -1,
) -> list[Label]:
    """A label for every node. Earlier nodes get room first, and the first few are shown in any
    case; the `bold` one takes more room."""
    taken = np.empty((2 * len(texts), 4), dtype=np.float32)
    count = len(texts)
    for number, ((x, y), radius) in enumerate(zip(at, radii, strict=True)):
        taken[number] = x - radius, y - radius, x + radius, y + radius
    labels: list[Label] = []
    page = Box(0, 0, width, height)
    for number, text in enumerate(texts):
        positions = _label_positions(text, at[number], radii[number], number == bold)
        for made, box in positions:
            if box.within(page) and not _overlaps(box, taken[:count], number):
                labels.append(made)
                taken[count] = box
                count += 1
                break
        else:
            first = number < _ALWAYS_LABELLED
            kept, box = _hidden_position(
                positions, page, taken[len(texts) : count] if first else taken[:0]
            )
            shown = number == bold or (first and not _overlaps(box, taken[len(texts) : count]))
            labels.append(kept._replace(shown=shown))
            if shown:
                taken[count] = box
                count += 1
    return labels


def _overlaps(box: Box, taken: _Points, but: int = -1) -> bool:
    """Whether a box overlaps any of the taken ones, except number `but`."""
    across = (taken[:, 0] < box.right) & (taken[:, 2] > box.left)
    over = across & (taken[:, 1] < box.bottom) & (taken[:, 3] > box.top)
    if but >= 0:
        over[but] = False
    return bool(over.any())


def _label_positions(
    text: str, at: tuple[float, float], radius: float, bold: bool
) -> list[tuple[Label, Box]]:
    """The positions of a label: right, left, below and above its node, then the corners."""
    (x, y), wide = at, text_width(text) * (1.3 if bold else 1)
    radius += 5 if bold else 0
    half = wide / 2

    def beside(start: float, end: float, line: float) -> list[tuple[Label, Box]]:
        """A label that begins at `start`, and one that ends at `end`."""
        return [
            (
                Label(text, start, line + 4, "start", True),
                Box(start, line - 8, start + wide, line + 7),
            ),
            (Label(text, end, line + 4, "end", True), Box(end - wide, line - 8, end, line + 7)),
        ]

    made = beside(x + radius + 4, x - radius - 4, y)
    for line in (y + radius + _LINE - 3, y - radius - 5):
        box = Box(x - half, line - 11, x + half, line + 4)
        made.append((Label(text, x, line, "middle", True), box))
    for line in (y + radius + 5, y - radius):
        made += beside(x + 5, x - 5, line)
    return made


def _hidden_position(
    positions: Sequence[tuple[Label, Box]], page: Box, labels: _Points
) -> tuple[Label, Box]:
    """The position of a label without room: on the page, and over no other label if possible."""
    fit = [position for position in positions if position[1].within(page)]
    free = [position for position in fit if not _overlaps(position[1], labels)]
    return (free or fit or positions)[0]
