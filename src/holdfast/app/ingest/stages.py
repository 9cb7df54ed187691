"""What is known above the session, brought up to date: every stage in its order, where one is
behind. A stage is loaded only then."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from holdfast.store.protocol import Store
from holdfast.store.protocol.progress import StageProgress

OnProgress = Callable[[], None]


class Stage(NamedTuple):
    """A stage: its name, the version of its rules, and the function that brings every bank up to
    date; it returns how many records changed."""

    name: str
    version: int
    run: Callable[[Store, OnProgress, str], int]


def _facts(store: Store, tick: OnProgress, now: str) -> int:
    from holdfast.refine.facts.fact_stage import update_facts

    return update_facts(store, tick)


def _patterns(store: Store, tick: OnProgress, now: str) -> int:
    from holdfast.refine.rules.pattern_stage import update_patterns

    return len(update_patterns(store, tick))


def _retain(store: Store, tick: OnProgress, now: str) -> int:
    from holdfast.refine.memories.memory_stage import update_memories

    return update_memories(store, tick)


def _reflect(store: Store, tick: OnProgress, now: str) -> int:
    from holdfast.learn.opinion_stage import update_all_banks

    return update_all_banks(store, tick, now)


def _concepts(store: Store, tick: OnProgress, now: str) -> int:
    from holdfast.refine.concepts.concept_stage import update_concepts

    return update_concepts(store, tick)


def _entities(store: Store, tick: OnProgress, now: str) -> int:
    from holdfast.refine.entities.entity_stage import update_entities

    return update_entities(store, tick)


def _authorship(store: Store, tick: OnProgress, now: str) -> int:
    from holdfast.refine.git.commit_authorship import link_all_commits

    return link_all_commits(store, tick)


# In order: a stage reads what those before it wrote. A stage's module is imported only when it has
# work, so its version is repeated here; a test compares the two.
STAGES = (
    Stage("facts", 2, _facts),
    Stage("patterns", 1, _patterns),
    Stage("retain", 1, _retain),
    Stage("reflect", 1, _reflect),
    Stage("concepts", 1, _concepts),
    Stage("entities", 4, _entities),
    Stage("authorship", 2, _authorship),
)


def stages_behind(progress: StageProgress) -> list[str]:
    """The names of the stages that have not seen all there is, by their present rules."""
    return [stage.name for stage in STAGES if progress.banks_behind(stage.name, stage.version)]


def update_stages(
    store: Store, now: Callable[[], str], on_progress: Callable[[], None] = lambda: None
) -> dict[str, int]:
    """Run the stages that are behind; returns how much each has changed. A session that waits to
    be derived would look like one that says nothing."""
    if store.stale_sessions(1):
        from holdfast.refine.sessions import derive

        derive.derive_stale(store, on_progress)
    done: dict[str, int] = {}
    for stage in STAGES:
        if store.banks_behind(stage.name, stage.version):
            done[stage.name] = stage.run(store, on_progress, now())
    return done
