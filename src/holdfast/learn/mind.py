"""The stage *reflect*, and both stages of the mind in their order.

Reflection looks at all that people of a bank said, so it waits until everything is retained:
evidence that is only not retained yet must not look like evidence that was withdrawn.
"""

from __future__ import annotations

from collections.abc import Callable

from holdfast.learn.opinions import Updated, update_opinions
from holdfast.refine import retain
from holdfast.refine.retain import retain_bank
from holdfast.store.protocol import Writer

NAME = "reflect"
VERSION = 1
_ALL = 1_000_000


def is_behind(writer: Writer) -> bool:
    """Whether either stage has something to do."""
    return bool(
        writer.banks_behind(retain.NAME, retain.VERSION) or writer.banks_behind(NAME, VERSION)
    )


def reflect_bank(writer: Writer, bank: str, now: str) -> Updated:
    """Bring the opinions of a bank up to date with what was retained, once all of it is."""
    with writer.transaction():
        if writer.changes(bank, retain.NAME, retain.VERSION, 1):
            return Updated()
        changes = writer.changes(bank, NAME, VERSION, _ALL)
        done = update_opinions(writer, bank, now)
        if changes:
            writer.reach(bank, NAME, VERSION, changes[-1].number)
        return done


def settle_bank(
    writer: Writer, bank: str, now: str, tick: Callable[[], None] = lambda: None, most: int = _ALL
) -> tuple[int, Updated]:
    """Retain what changed in a bank, at most so many sessions, and reflect on it once all is."""
    done = retain_bank(writer, bank, tick, most)
    if not writer.changes(bank, NAME, VERSION, 1):
        return done, Updated()
    return done, reflect_bank(writer, bank, now)
