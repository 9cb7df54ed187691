"""What is known above the session, brought up to date: every stage in its order, where one is
behind. A stage is loaded only then."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from holdfast.store.progress import Progress
from holdfast.store.protocol import Store


class Stage(NamedTuple):
    """A stage: its name and version, and the function that brings it up to date; one that is
    `timed` must know what time it is."""

    name: str
    version: int
    module: str
    function: str
    timed: bool = False


# The versions are those of the modules: a stage must not be loaded to know that it is not needed.
STAGES = (
    Stage("facts", 2, "holdfast.refine.knowing", "know_facts"),
    Stage("patterns", 1, "holdfast.refine.pattern_stage", "update_patterns"),
    Stage("retain", 1, "holdfast.refine.retain", "know_retained"),
    Stage("reflect", 1, "holdfast.learn.mind", "know_mind", timed=True),
    Stage("concepts", 1, "holdfast.refine.concepts.stage", "know_concepts"),
    Stage("entities", 4, "holdfast.refine.entities", "know_entities"),
    Stage("authorship", 2, "holdfast.refine.authorship", "know_authors"),
)


def stages_behind(progress: Progress) -> list[str]:
    """The names of the stages that have not seen all there is, by their present rules."""
    return [stage.name for stage in STAGES if progress.banks_behind(stage.name, stage.version)]


def know(
    store: Store, now: Callable[[], str], tick: Callable[[], None] = lambda: None
) -> dict[str, int]:
    """Run the stages that are behind; returns how much each has changed. A session that waits to
    be derived would look like one that says nothing."""
    if store.stale_sessions(1):
        derive: Any = import_module("holdfast.refine.derive")
        derive.derive_stale(store, tick)
    done: dict[str, int] = {}
    for stage in STAGES:
        if store.banks_behind(stage.name, stage.version):
            module: Any = import_module(stage.module)
            run = getattr(module, stage.function)
            done[stage.name] = run(store, tick, now()) if stage.timed else run(store, tick)
    return done
