"""The stage *reflect*.

Reflection looks at all that people of a bank said, so it waits until everything is retained:
evidence that is only not retained yet must not look like evidence that was withdrawn.
"""

from __future__ import annotations

from collections.abc import Callable

from holdfast.learn.opinions import OpinionCounts, update_opinions
from holdfast.refine.memories import memory_stage
from holdfast.store.protocol import Writer

NAME = "reflect"
VERSION = 1
_ALL = 1_000_000


def update_all_banks(writer: Writer, tick: Callable[[], None], now: str) -> int:
    """Reflect on every bank that changed; returns how many opinions are not what they were."""
    done = 0
    for bank in writer.banks_behind(NAME, VERSION):
        tick()
        updated = update_bank(writer, bank, now)
        done += updated.formed + updated.changed + updated.faded + updated.removed
    return done


def update_bank(writer: Writer, bank: str, now: str) -> OpinionCounts:
    """Bring the opinions of a bank up to date with what was retained, once all of it is."""
    with writer.transaction():
        if writer.unseen_changes(bank, memory_stage.NAME, memory_stage.VERSION, 1):
            return OpinionCounts()
        changes = writer.unseen_changes(bank, NAME, VERSION, _ALL)
        done = update_opinions(writer, bank, now)
        if changes:
            writer.mark_seen(bank, NAME, VERSION, changes[-1].number)
        return done
