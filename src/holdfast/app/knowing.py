"""What a memory knows above its sessions: every stage, in order, for the banks that are behind."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from holdfast.store.protocol import Store


class Stage(NamedTuple):
    """A stage by the module and the function that bring it up to date, and what it makes."""

    name: str
    version: int
    module: str
    function: str
    noun: str


STAGES = (
    Stage("facts", 1, "holdfast.refine.knowing", "know_facts", "facts"),
    Stage("patterns", 1, "holdfast.refine.pattern_stage", "update_patterns", "patterns"),
)


def know(store: Store, tick: Callable[[], None] = lambda: None) -> list[str]:
    """Bring every stage up to date; returns those that had something to do. A stage is loaded
    only where a bank is behind."""
    done: list[str] = []
    for stage in STAGES:
        if store.banks_behind(stage.name, stage.version):
            module: Any = import_module(stage.module)
            getattr(module, stage.function)(store, tick)
            done.append(stage.noun)
    return done
