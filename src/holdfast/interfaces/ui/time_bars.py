"""The chart of the timeline, one lane of bars for each kind, as numbers for a template."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from holdfast.language import counted
from holdfast.recall.lookup.histogram import Histogram

# In SVG units: the column of labels, one lane, the row of dates, and the whole width.
_LABEL_WIDTH, _LANE_HEIGHT, _TOP, _WIDTH = 96.0, 46.0, 24.0, 1150.0
# The name of each kind, singular and plural.
KINDS = {
    "digest": ("session", "sessions"),
    "exchange": ("exchange", "exchanges"),
    "commit": ("commit", "commits"),
    "pull": ("pull", "pulls"),
    "issue": ("issue", "issues"),
    "fact": ("fact", "facts"),
    "memory": ("memory", "memories"),
}
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


class Bar(NamedTuple):
    """The records of one kind in one period."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    tooltip: str


class Column(NamedTuple):
    """A period: its position, its label and its number of records."""

    period: str
    x: float
    width: float
    name: str
    tooltip: str
    records: int


class Lane(NamedTuple):
    """A kind: the position of its bars, and its number of records."""

    kind: str
    name: str
    y: float
    records: int


class Lanes(NamedTuple):
    """The chart; `mark` is the position of the anchor, below 0 if there is none."""

    width: float
    height: float
    lanes: tuple[Lane, ...]
    columns: tuple[Column, ...]
    bars: tuple[Bar, ...]
    mark: float


def draw(spread: Histogram, kinds: Sequence[str], anchor: str = "") -> Lanes:
    """The chart. Kinds without records are left out. Heights grow with the square root, so that one
    record is visible beside a thousand."""
    totals = dict.fromkeys(kinds, 0)
    for tally in spread.tallies:
        totals[tally.kind] += tally.records
    shown = [kind for kind in kinds if totals[kind]] or list(kinds[:1])
    lanes = tuple(
        Lane(kind, KINDS[kind][1], _TOP + n * _LANE_HEIGHT, totals[kind])
        for n, kind in enumerate(shown)
    )
    step = (_WIDTH - _LABEL_WIDTH) / max(1, len(spread.periods))
    at = {period: _LABEL_WIDTH + n * step for n, period in enumerate(spread.periods)}
    most = dict.fromkeys(shown, 1)
    for tally in spread.tallies:
        most[tally.kind] = max(most[tally.kind], tally.records)
    base = {lane.kind: lane.y + _LANE_HEIGHT - 6 for lane in lanes}
    gap = min(3.0, step * 0.15)
    bars: list[Bar] = []
    for tally in spread.tallies:
        high = (_LANE_HEIGHT - 14) * math.sqrt(tally.records / most[tally.kind])
        tooltip = f"{counted(tally.records, *KINDS[tally.kind])}, {period_name(tally.period)}"
        x, y = at[tally.period] + gap, base[tally.kind] - high
        wide = round(step - 2 * gap, 1)
        bars.append(Bar(round(x, 1), round(y, 1), wide, round(high, 1), tally.kind, tooltip))
    height = _TOP + len(lanes) * _LANE_HEIGHT + 6
    columns = tuple(_column(spread, period, at[period], step) for period in spread.periods)
    return Lanes(_WIDTH, height, lanes, columns, tuple(bars), _mark(spread, at, step, anchor))


def _column(spread: Histogram, period: str, x: float, step: float) -> Column:
    inside = [tally for tally in spread.tallies if tally.period == period]
    parts = ", ".join(counted(tally.records, *KINDS[tally.kind]) for tally in inside) or "nothing"
    every = max(1, math.ceil(34 / step))
    number = spread.periods.index(period)
    name = _short(period, number == 0) if number % every == 0 else ""
    return Column(
        *(period, round(x, 1), round(step, 1), name),
        *(f"{period_name(period)}: {parts}", sum(tally.records for tally in inside)),
    )


def _mark(spread: Histogram, at: dict[str, float], step: float, anchor: str) -> float:
    for period, x in at.items():
        if anchor.startswith(period):
            return round(x + step / 2, 1)
    return -1.0


def _short(period: str, first: bool) -> str:
    if len(period) == 13:
        return period[11:]
    if len(period) == 10:
        return str(int(period[8:]))
    if len(period) == 7:
        month = _MONTHS[int(period[5:]) - 1]
        return f"{month} {period[2:4]}" if first or month == "Jan" else month
    return period


def period_name(period: str) -> str:
    """A span or a period as text."""
    if len(period) == 13:
        return f"{period_name(period[:10])}, {period[11:]}:00"
    if len(period) == 10:
        return f"{int(period[8:])} {period_name(period[:7])}"
    if len(period) == 7:
        return f"{_MONTHS[int(period[5:]) - 1]} {period[:4]}"
    return period or "all time"
