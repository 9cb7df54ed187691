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
    "imported": ("imported", "imported"),
}
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


class Bar(NamedTuple):
    """The records of one kind in one period."""

    kind: str
    x: float
    y: float
    width: float
    height: float


class Column(NamedTuple):
    """A period: its position, its label and its number of records."""

    period: str
    x: float
    width: float
    name: str
    tooltip: str
    records: int


class Lane(NamedTuple):
    """A kind: the position of its bars, its number of records, and that of its highest bar."""

    kind: str
    name: str
    y: float
    records: int
    most: int


class Lanes(NamedTuple):
    """The chart; `mark` is the position of the anchor, below 0 if there is none."""

    width: float
    height: float
    lanes: tuple[Lane, ...]
    columns: tuple[Column, ...]
    bars: tuple[Bar, ...]
    mark: float


def draw(spread: Histogram, kinds: Sequence[str], anchor: str = "") -> Lanes:
    """The chart, with a mark at the time `anchor`. Kinds without records are left out. Each lane
    has a scale of its own, from 0 to its highest bar."""
    counts = {
        kind: {one.period: one.records for one in spread.tallies if one.kind == kind}
        for kind in kinds
    }
    shown = [kind for kind in kinds if counts[kind]] or list(kinds[:1])
    lanes = tuple(
        Lane(
            kind,
            KINDS[kind][1],
            _TOP + n * _LANE_HEIGHT,
            sum(counts[kind].values()),
            max(counts[kind].values(), default=1),
        )
        for n, kind in enumerate(shown)
    )
    step = (_WIDTH - _LABEL_WIDTH) / max(1, len(spread.periods))
    at = {period: _LABEL_WIDTH + n * step for n, period in enumerate(spread.periods)}
    gap = min(3.0, step * 0.15)
    bars: list[Bar] = []
    for lane in lanes:
        for period, records in counts[lane.kind].items():
            high = max(1.5, (_LANE_HEIGHT - 14) * records / lane.most)
            x, y = at[period] + gap, lane.y + _LANE_HEIGHT - 6 - high
            bars.append(
                Bar(lane.kind, round(x, 1), round(y, 1), round(step - 2 * gap, 1), round(high, 1))
            )
    height = _TOP + len(lanes) * _LANE_HEIGHT + 6
    columns = tuple(_column(spread, period, at[period], step) for period in spread.periods)
    marks = (round(x + step / 2, 1) for period, x in at.items() if anchor.startswith(period))
    return Lanes(_WIDTH, height, lanes, columns, tuple(bars), next(marks, -1.0))


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
