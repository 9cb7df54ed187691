"""Bar charts as numbers and texts for a template that draws SVG."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from holdfast.language import counted

# The size of a plot in SVG units: the whole, and the margins for the labels of its axes.
_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 640.0, 180.0, 62.0, 14.0, 24.0
# Half the label of a narrow last bar, which would be cut at the edge.
_RIGHT = 14.0
# So many labels of days fit below a plot.
_MAX_LABELS = 13
# The style sheet has so many colours for bars; further names repeat them.
COLOURS = 6


class Piece(NamedTuple):
    """A piece of a bar; `colour` is the number of its colour in the style sheet."""

    x: float
    y: float
    width: float
    height: float
    colour: int
    tooltip: str


class Tick(NamedTuple):
    """A label on an axis."""

    at: float
    text: str


class Column(NamedTuple):
    """The whole height above a period, which can be a link."""

    period: str
    x: float
    width: float
    tooltip: str


class Row(NamedTuple):
    """A period in numbers: what there is under each name, in the order of the names."""

    period: str
    amounts: tuple[str, ...]


class Plot(NamedTuple):
    """Bars by period, in pieces by name. `cap` is the height of the line for the daily limit, below
    0 if it is far above all bars and not drawn."""

    width: float
    height: float
    base: float
    pieces: tuple[Piece, ...]
    days: tuple[Tick, ...]
    amounts: tuple[Tick, ...]
    names: tuple[str, ...]
    cap: float
    columns: tuple[Column, ...] = ()
    rows: tuple[Row, ...] = ()


def by_day(
    amounts: Mapping[tuple[str, str], float],
    last: str,
    count: int,
    spell: Callable[[float], str],
    cap: float = 0.0,
) -> Plot:
    """A plot of the `count` days up to `last`; `amounts` are by day and name. A plot of more than a
    fortnight labels one day a week."""
    days = [f"{date.fromisoformat(last) - timedelta(days=n)}" for n in reversed(range(count))]
    every = 7 if count > 14 else 1
    labels = [short_day(day) if (count - 1 - n) % every == 0 else "" for n, day in enumerate(days)]
    return bars(amounts, list(zip(days, labels, strict=True)), spell, cap)


def by_week(
    amounts: Mapping[tuple[str, str], int],
    last: str,
    count: int,
    noun: str,
    order: Sequence[str] = (),
) -> Plot:
    """A plot of how many of something there were in the `count` weeks up to that of the day `last`;
    `amounts` are by day and name."""
    end = monday(last)
    weeks = [f"{date.fromisoformat(end) - timedelta(weeks=n)}" for n in reversed(range(count))]
    summed: defaultdict[tuple[str, str], int] = defaultdict(int)
    for (day, name), amount in amounts.items():
        summed[monday(day), name] += amount
    every = -(-count // _MAX_LABELS)
    labels = [short_day(week) if n % every == 0 else "" for n, week in enumerate(weeks)]
    return count_bars(summed, list(zip(weeks, labels, strict=True)), noun, order)


def count_bars(
    amounts: Mapping[tuple[str, str], int],
    periods: Sequence[tuple[str, str]],
    noun: str,
    order: Sequence[str] = (),
) -> Plot:
    """A plot of how many of something there were in some periods; its axis has whole numbers."""
    whole = [sum(n for (period, _), n in amounts.items() if period == one) for one, _ in periods]
    top = max(whole)
    made = bars(
        amounts, periods, lambda n: counted(round(n), noun), at_least=top + top % 2, order=order
    )
    axis = [tick._replace(text=tick.text.partition(" ")[0]) for tick in made.amounts]
    return made._replace(amounts=tuple(axis))


def monday(day: str) -> str:
    """The first day of a day's week."""
    found = date.fromisoformat(day)
    return f"{found - timedelta(days=found.weekday())}"


def short_day(day: str) -> str:
    """2 Sep."""
    return f"{int(day[8:10])} {date.fromisoformat(day[:10]):%b}"


def bars(
    amounts: Mapping[tuple[str, str], float],
    periods: Sequence[tuple[str, str]],
    spell: Callable[[float], str],
    cap: float = 0.0,
    at_least: float = 1e-9,
    order: Sequence[str] = (),
) -> Plot:
    """A plot of some periods, each with its label; `amounts` are by period and name. The axis goes
    up to `at_least` or farther. Names are in `order`, else by their letters."""
    shown = {period for period, _ in periods}
    present = {name for period, name in amounts if period in shown}
    names = [name for name in order if name in present] or sorted(present)
    whole = [sum(amounts.get((period, name), 0.0) for name in names) for period, _ in periods]
    top = max(*whole, cap if cap <= 3 * max(whole) else 0.0, at_least)
    base, step = _HEIGHT - _BOTTOM, (_WIDTH - _LEFT - _RIGHT) / len(periods)
    room, gap = base - _TOP, min(6.0, step * 0.1)
    pieces: list[Piece] = []
    for number, (period, _) in enumerate(periods):
        y = base
        for colour, name in enumerate(names):
            amount = amounts.get((period, name), 0.0)
            if amount:
                high = max(1.0, room * amount / top)
                y -= high
                x = round(_LEFT + number * step + gap, 1)
                box = (x, round(y, 1), round(step - 2 * gap, 1), round(high, 1))
                pieces.append(Piece(*box, colour % COLOURS, f"{period}: {name}, {spell(amount)}"))
    ticks = [
        Tick(round(_LEFT + (n + 0.5) * step, 1), label)
        for n, (_, label) in enumerate(periods)
        if label
    ]
    columns = [
        Column(period, round(_LEFT + n * step, 1), round(step, 1), f"{period}: {spell(amount)}")
        for n, ((period, _), amount) in enumerate(zip(periods, whole, strict=True))
    ]
    grid = [Tick(round(base - room * share, 1), spell(top * share)) for share in (0, 0.5, 1)]
    cap_at = round(base - room * cap / top, 1) if 0 < cap <= top else -1.0
    return Plot(
        _WIDTH,
        _HEIGHT,
        base,
        tuple(pieces),
        tuple(ticks),
        tuple(grid),
        tuple(names),
        cap_at,
        tuple(columns),
        tuple(
            Row(period, tuple(spell(amounts.get((period, name), 0.0)) for name in names))
            for (period, _), amount in zip(periods, whole, strict=True)
            if amount
        ),
    )


class Sparkline(NamedTuple):
    """Small bars without axes, and what they say as text."""

    width: float
    height: float
    bars: tuple[Piece, ...]
    text: str

    @property
    def has_bars(self) -> bool:
        """Whether there is anything to see."""
        return any(bar.height > _SPARK_NOTHING for bar in self.bars)


# The width of one bar of a sparkline with its gap, the gap, the height of all, and the height of a
# bar for nothing, in SVG units.
_MAX_DURATIONS = 60
_SPARK_STEP, _SPARK_GAP, _SPARK_HEIGHT, _SPARK_NOTHING = 8.0, 2.0, 28.0, 0.5


def sparkline(amounts: Sequence[tuple[str, int]], noun: str) -> Sparkline:
    """Bars of how many of something there were in each period, by the first day of each."""
    top = max((amount for _, amount in amounts), default=0) or 1
    bars: list[Piece] = []
    for n, (period, amount) in enumerate(amounts):
        high = max(2.0, round(_SPARK_HEIGHT * amount / top, 1)) if amount else _SPARK_NOTHING
        box = (n * _SPARK_STEP, _SPARK_HEIGHT - high, _SPARK_STEP - _SPARK_GAP, high)
        bars.append(Piece(*box, 0, f"{short_day(period)}: {counted(amount, noun)}"))
    whole = sum(amount for _, amount in amounts)
    most = max(amounts, key=lambda one: one[1], default=("", 0))
    text = f"{counted(whole, noun) if whole else f'no {noun}s'} in {counted(len(amounts), 'week')}"
    if whole:
        text += f", at most {most[1]} a week, in that of {short_day(most[0])}"
    return Sparkline(len(amounts) * _SPARK_STEP, _SPARK_HEIGHT, tuple(bars), text)


def duration_bars(durations_ms: Sequence[float]) -> Sparkline:
    """The latest durations, the oldest first."""
    latest = list(durations_ms)[-_MAX_DURATIONS:]
    top = max(latest, default=0.0) or 1.0
    bars = tuple(
        Piece(
            n * _SPARK_STEP / 2,
            _SPARK_HEIGHT - (high := max(1.0, round(_SPARK_HEIGHT * one / top, 1))),
            _SPARK_STEP / 2 - 1,
            high,
            1,
            f"{one:.1f} ms",
        )
        for n, one in enumerate(latest)
    )
    text = f"the latest {len(latest)}, up to {top:.0f} ms"
    return Sparkline(len(latest) * _SPARK_STEP / 2, _SPARK_HEIGHT, bars, text)


class Share(NamedTuple):
    """A part of a whole, from 0 to 100 along a bar."""

    name: str
    start: float
    width: float
    amount: int


def shares(parts: Sequence[tuple[str, int]]) -> tuple[Share, ...]:
    """The parts of a whole side by side, without those that are 0."""
    whole = sum(amount for _, amount in parts) or 1
    made: list[Share] = []
    start = 0.0
    for name, amount in parts:
        if amount:
            wide = 100 * amount / whole
            made.append(Share(name, round(start, 2), round(wide, 2), amount))
            start += wide
    return tuple(made)


def format_bytes(size: float) -> str:
    """12 bytes, 3.4 kB, 5.6 MB."""
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
