"""The background stage `reflect`, which updates the opinions of banks.

Opinions depend on everything that people of a bank said, so the stage waits until all of it is
retained: evidence that is not retained yet must not look like evidence that was withdrawn.
"""

from __future__ import annotations

from collections.abc import Callable

from holdfast.learn.opinions import OpinionCounts, update_opinions
from holdfast.refine.memories import memory_stage
from holdfast.store.protocol import Writer

NAME = "reflect"
VERSION = 4
_NO_LIMIT = 1_000_000


def update_all_banks(writer: Writer, tick: Callable[[], None], now: str) -> int:
    """Update the opinions of every bank that changed; returns how many opinions changed."""
    changed = 0
    for bank in writer.progress.banks_behind(NAME, VERSION):
        tick()
        changed += sum(update_bank(writer, bank, now))
    return changed


def update_bank(writer: Writer, bank: str, now: str) -> OpinionCounts:
    """Update the opinions of a bank, unless some of its records are not retained yet."""
    with writer.transaction():
        if memory_stage.is_behind(writer, bank):
            return OpinionCounts()
        changes = writer.progress.unseen_changes(bank, NAME, VERSION, _NO_LIMIT)
        counts = update_opinions(writer, bank, now)
        if changes:
            writer.progress.mark_seen(bank, NAME, VERSION, changes[-1].number)
        return counts
