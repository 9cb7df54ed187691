"""What is known above the session, brought up to date: the stages in their order.

Loaded only when there is something to do. Each stage has its own work list, so any of them may be
killed or left half-way; a bank that is behind is simply behind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from holdfast.learn import mind
from holdfast.refine import retain
from holdfast.store.protocol import Store

STAGES = ((retain.NAME, retain.VERSION), (mind.NAME, mind.VERSION))
# After a decision only this much is done at once; more waits for the worker.
_SOON = 40


class Known(NamedTuple):
    """What was done: sessions retained, opinions formed or changed, and whether more waits."""

    sessions: int = 0
    opinions: int = 0
    more: bool = False


def know(
    store: Store,
    now: Callable[[], str],
    tick: Callable[[], None] = lambda: None,
    most: int = 1_000_000,
) -> Known:
    """Run all stages over the banks that are behind, at most so many sessions of each."""
    sessions = opinions = 0
    banks = dict.fromkeys(bank for stage in STAGES for bank in store.banks_behind(*stage))
    for bank in banks:
        done, updated = mind.settle_bank(store, bank, now(), tick, most)
        sessions += done
        opinions += updated.formed + updated.changed + updated.faded + updated.removed
    more = any(store.banks_behind(*stage) for stage in STAGES)
    return Known(sessions, opinions, more)


def know_soon(store: Store, now: Callable[[], str]) -> None:
    """The same after a decision: only where a stage has been before, and only if it is little."""
    behind = dict.fromkeys(bank for stage in STAGES for bank in store.banks_behind(*stage))
    for bank in behind:
        if not store.has_reached(bank, retain.NAME):
            continue
        if len(store.changes(bank, retain.NAME, retain.VERSION, _SOON + 1)) <= _SOON:
            mind.settle_bank(store, bank, now())
