"""Everything that is known for longer than a session, brought up to date in its order.

A stage is given the memory and tells in words what it did, or "" if there was nothing to do. It
runs behind the scenes, after reading, and after decisions whose effect people expect to see.
"""

from __future__ import annotations

from collections.abc import Callable

from holdfast.app.memory import Holdfast
from holdfast.app.rule_reading import follow_rules
from holdfast.refine.pattern_stage import update_patterns

Stage = Callable[[Holdfast, Callable[[], None]], str]


def follow(memory: Holdfast, tick: Callable[[], None]) -> str:
    """Read files of rules that changed."""
    changed = 0
    here, root = memory.present()
    for bank in memory.store.banks():
        own = root if bank.id == here else ""
        changed += follow_rules(memory.store, memory.settings, memory.banks, bank.id, own)
        tick()
    return f"the rules of {changed} banks" if changed else ""


def learn(memory: Holdfast, tick: Callable[[], None]) -> str:
    """Group what people state, and propose what has earned the rank of a rule."""
    new = sum(memory.propose(bank) for bank in update_patterns(memory.store, tick))
    return f"{new} rules proposed" if new else ""


STAGES: tuple[Stage, ...] = (follow, learn)


def know(memory: Holdfast, tick: Callable[[], None] = lambda: None) -> str:
    """Run every stage that has something to do; returns what they did."""
    return "; ".join(filter(None, [stage(memory, tick) for stage in STAGES]))
