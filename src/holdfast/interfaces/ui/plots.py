"""Plots of amounts, as plain numbers and texts for a template."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

_WIDTH, _HEIGHT, _LEFT, _TOP, _BASE = 640.0, 180.0, 62.0, 14.0, 24.0
COLOURS = 6


class Piece(NamedTuple):
    """A piece of a bar; `sort` is the number of its colour."""

    x: float
    y: float
    width: float
    height: float
    colour: int
    tooltip: str


class Tick(NamedTuple):
    """A word on an axis."""

    at: float
    text: str


class Plot(NamedTuple):
    """Bars by day, in pieces by name; `cap` is how high the day's limit lies, below 0 where it
    is far above everything."""

    width: float
    height: float
    base: float
    pieces: tuple[Piece, ...]
    days: tuple[Tick, ...]
    amounts: tuple[Tick, ...]
    names: tuple[str, ...]
    cap: float


def by_day(
    amounts: Mapping[tuple[str, str], float],
    last: str,
    count: int,
    spell: Callable[[float], str],
    cap: float = 0.0,
) -> Plot:
    """The last days up to one, what each name took in each."""
    days = [f"{date.fromisoformat(last) - timedelta(days=n)}" for n in reversed(range(count))]
    names = sorted({name for _, name in amounts})
    whole = [sum(amounts.get((day, name), 0.0) for name in names) for day in days]
    top = max(*whole, cap if cap <= 3 * max(whole) else 0.0, 1e-9)
    step, room = (_WIDTH - _LEFT) / count, _HEIGHT - _TOP - _BASE
    pieces: list[Piece] = []
    for number, day in enumerate(days):
        y = _HEIGHT - _BASE
        for colour, name in enumerate(names):
            amount = amounts.get((day, name), 0.0)
            if amount:
                high = max(1.0, room * amount / top)
                y -= high
                x = round(_LEFT + number * step + 1, 1)
                box = (x, round(y, 1), round(step - 2, 1), round(high, 1))
                pieces.append(Piece(*box, colour % COLOURS, f"{day}: {name}, {spell(amount)}"))
    ticks = [
        Tick(round(_LEFT + (n + 0.5) * step, 1), f"{int(day[8:])}.{int(day[5:7])}.")
        for n, day in enumerate(days)
        if (count - 1 - n) % 7 == 0
    ]
    grid = [
        Tick(round(_HEIGHT - _BASE - room * share, 1), spell(top * share)) for share in (0, 0.5, 1)
    ]
    drawn = 0 < cap <= top
    return Plot(
        *(_WIDTH, _HEIGHT, _HEIGHT - _BASE, tuple(pieces), tuple(ticks), tuple(grid)),
        *(tuple(names), round(_HEIGHT - _BASE - room * cap / top, 1) if drawn else -1.0),
    )


class Share(NamedTuple):
    """A part of a whole, from 0 to 100 along a bar."""

    name: str
    start: float
    width: float
    amount: int


def shares(parts: Sequence[tuple[str, int]]) -> tuple[Share, ...]:
    """Parts side by side; those of nothing are left out."""
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
