"""Printing a record that is about to be shared, as a diff is read."""

from __future__ import annotations

from holdfast.interfaces.cli.screen import Screen, day, number
from holdfast.model.team import SharedRecord
from holdfast.model.trust import Trust


def print_shared_record(screen: Screen, shared: SharedRecord, sign: str, redacted: int = 0) -> None:
    """The record in the words that others will read; `sign` is that of a diff (+, -, ±) and
    `redacted` counts the secrets that were replaced in it."""
    outside = " · holds words from outside" if shared.lineage is Trust.EXTERNAL else ""
    head = f"{sign} {shared.kind} {shared.origin} · {day(shared.time)}{outside}"
    screen.line(head, "red" if sign == "-" else "green")
    screen.wrap(shared.text, f"{sign}   ", f"{sign}   ")
    if shared.note:
        screen.wrap(f"note: {shared.note}", f"{sign}   ")
    if redacted:
        screen.line(f"    ({number(redacted, 'secret')} taken out)")
