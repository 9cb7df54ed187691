"""The stages above the session, in their order. Each is loaded only when a bank is behind."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.store.progress import Progress

if TYPE_CHECKING:
    from holdfast.app.memory import Holdfast


class Stage(NamedTuple):
    """A stage by its name and the version of its rules; `module` has a function `run(memory,
    tick)` that brings all banks up to date and returns what it did, in words."""

    name: str
    version: int
    module: str


STAGES: tuple[Stage, ...] = ()


def stages_behind(progress: Progress) -> list[str]:
    """The names of the stages that have not seen all there is, by their present rules."""
    return [stage.name for stage in STAGES if progress.banks_behind(stage.name, stage.version)]


def know(memory: Holdfast, tick: Callable[[], None] = lambda: None) -> list[str]:
    """Bring every stage up to date; returns what was done, in words."""
    told: list[str] = []
    for stage in STAGES:
        if memory.store.banks_behind(stage.name, stage.version):
            module: Any = import_module(stage.module)
            told.append(f"{stage.name}: {module.run(memory, tick)}")
    return told
