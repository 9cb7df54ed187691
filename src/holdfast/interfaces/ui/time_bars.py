"""The chart of the timeline, one lane of bars for each kind, in pieces by bank, as numbers for a
template."""

from __future__ import annotations

import math
from calendar import monthrange
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from holdfast.interfaces.ui.plots import COLOURS
from holdfast.language import counted
from holdfast.recall.lookup.histogram import BankCount, Histogram

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
# What a bar is, by the length of its period.
_UNITS = {4: "year", 7: "month", 10: "day", 13: "hour"}
OTHER_BANKS = "other banks"
_NO_NAMES: Mapping[str, str] = MappingProxyType({})
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


class Bar(NamedTuple):
    """The records of one kind and bank in one period; `colour` is the class of its colour."""

    x: float
    y: float
    width: float
    height: float
    colour: str
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
    """A kind: the position of its bars, its number of records, and that of its highest bar."""

    kind: str
    name: str
    y: float
    records: int
    most: int


class Lanes(NamedTuple):
    """The chart; `mark` is the position of the anchor, below 0 if there is none. `names` are the
    banks by the classes of their colours, empty if the memory has one alone; `unit` is what a bar
    is."""

    width: float
    height: float
    lanes: tuple[Lane, ...]
    columns: tuple[Column, ...]
    bars: tuple[Bar, ...]
    mark: float
    names: tuple[tuple[str, str], ...] = ()
    unit: str = ""


def draw(
    spread: Histogram, kinds: Sequence[str], anchor: str = "", names: Mapping[str, str] = _NO_NAMES
) -> Lanes:
    """The chart; `names` are those of the banks by their ids. Kinds without records are left out.
    Each lane has a scale of its own, from 0 to its highest bar."""
    detail = spread.detail or tuple(BankCount("", *tally) for tally in spread.tallies)
    colours = _colours(detail, names)
    heaps: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    totals = dict.fromkeys(kinds, 0)
    for one in detail:
        totals[one.kind] += one.records
        heaps[one.kind, one.period][one.bank] += one.records
    shown = [kind for kind in kinds if totals[kind]] or list(kinds[:1])
    most = dict.fromkeys(shown, 1)
    for (kind, _), heap in heaps.items():
        most[kind] = max(most[kind], heap.total())
    lanes = tuple(
        Lane(kind, KINDS[kind][1], _TOP + n * _LANE_HEIGHT, totals[kind], most[kind])
        for n, kind in enumerate(shown)
    )
    step = (_WIDTH - _LABEL_WIDTH) / max(1, len(spread.periods))
    at = {period: _LABEL_WIDTH + n * step for n, period in enumerate(spread.periods)}
    base = {lane.kind: lane.y + _LANE_HEIGHT - 6 for lane in lanes}
    bars: list[Bar] = []
    for (kind, period), heap in sorted(heaps.items()):
        x, wide = _place(period, at, step)
        y = base[kind]
        for bank, records in sorted(heap.items(), key=lambda one: list(colours).index(one[0])):
            high = max(1.5, (_LANE_HEIGHT - 14) * records / most[kind])
            y -= high
            name = f"{names[bank]}, " if colours[bank] and bank in names else ""
            tooltip = f"{name}{counted(records, *KINDS[kind])}, {period_name(period)}"
            box = (round(x, 1), round(y, 1), wide, round(high, 1))
            bars.append(Bar(*box, colours[bank] or kind, tooltip))
    height = _TOP + len(lanes) * _LANE_HEIGHT + 6
    columns = tuple(_column(spread, period, at[period], step) for period in spread.periods)
    return Lanes(
        *(_WIDTH, height, lanes, columns, tuple(bars), _mark(spread, at, step, anchor)),
        _legend(colours, names),
        _UNITS.get(max((len(one.period) for one in detail), default=0), ""),
    )


def _colours(detail: Sequence[BankCount], names: Mapping[str, str]) -> dict[str, str]:
    """The class of the colour of each bank, those with most records first; "" if `names` has but
    one bank, which is drawn in the colours of the kinds. Banks beyond the last colour share it."""
    totals: Counter[str] = Counter()
    for one in detail:
        totals[one.bank] += one.records
    ordered = [bank for bank, _ in totals.most_common()]
    if len(names) < 2:
        return dict.fromkeys(ordered, "")
    return {
        bank: f"sort-{min(n, COLOURS - 1)}" if bank in names else ""
        for n, bank in enumerate(ordered)
    }


def _legend(colours: Mapping[str, str], names: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The banks by the classes of their colours; those that share one are named together."""
    banks: defaultdict[str, list[str]] = defaultdict(list)
    for bank, colour in colours.items():
        if colour:
            banks[colour].append(names.get(bank, bank))
    return tuple(
        (named[0] if len(named) == 1 else OTHER_BANKS, colour) for colour, named in banks.items()
    )


def _place(period: str, at: Mapping[str, float], step: float) -> tuple[float, float]:
    """Where a bar begins, and its width: in the column of its period, or of its month if it is a
    day of one."""
    if period in at:
        gap = min(3.0, step * 0.15)
        return at[period] + gap, round(step - 2 * gap, 1)
    days = monthrange(int(period[:4]), int(period[5:7]))[1]
    wide = step / days
    return at[period[:7]] + (int(period[8:10]) - 1) * wide, round(max(1.5, wide - 0.6), 1)


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
