"""The stages above the session (facts, patterns, memories, …), run in order where one is behind.

A stage's module is imported only when that stage has work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from holdfast.store.protocol import Store

OnProgress = Callable[[], None]


class Stage(NamedTuple):
    """A stage: its name, the version of its rules, and the function that brings every bank up to
    date; it returns how many records changed."""

    name: str
    version: int
    run: Callable[[Store, OnProgress, str], int]


def _facts(store: Store, on_progress: OnProgress, now: str) -> int:
    from holdfast.refine.facts.fact_stage import update_facts

    return update_facts(store, on_progress)


def _patterns(store: Store, on_progress: OnProgress, now: str) -> int:
    from holdfast.refine.rules.pattern_stage import update_patterns

    return len(update_patterns(store, on_progress))


def _retain(store: Store, on_progress: OnProgress, now: str) -> int:
    from holdfast.refine.memories.memory_stage import update_memories

    return update_memories(store, on_progress)


def _reflect(store: Store, on_progress: OnProgress, now: str) -> int:
    from holdfast.learn.opinion_stage import update_all_banks

    return update_all_banks(store, on_progress, now)


def _concepts(store: Store, on_progress: OnProgress, now: str) -> int:
    from holdfast.refine.concepts.concept_stage import update_concepts

    return update_concepts(store, on_progress)


def _entities(store: Store, on_progress: OnProgress, now: str) -> int:
    from holdfast.refine.entities.entity_stage import update_entities

    return update_entities(store, on_progress)


def _authorship(store: Store, on_progress: OnProgress, now: str) -> int:
    from holdfast.refine.git.commit_authorship import link_all_commits

    return link_all_commits(store, on_progress)


# In order: a stage reads what those before it wrote. A stage's module is imported only when it has
# work, so its version is repeated here; a test compares the two.
STAGES = (
    Stage("retain", 10, _retain),
    Stage("facts", 9, _facts),
    Stage("patterns", 3, _patterns),
    Stage("reflect", 4, _reflect),
    Stage("concepts", 3, _concepts),
    Stage("entities", 5, _entities),
    Stage("authorship", 2, _authorship),
)


def stages_behind(store: Store) -> list[str]:
    """The names of the stages that have not processed every change with their present rules."""
    return [
        stage.name for stage in STAGES if store.progress.banks_behind(stage.name, stage.version)
    ]


def update_stages(
    store: Store, now: Callable[[], str], on_progress: OnProgress = lambda: None
) -> dict[str, int]:
    """Run the stages that are behind; returns how many records each has changed. Sessions are
    derived first, because one that is not derived yet looks empty to the stages."""
    if store.sessions.stale(1):
        from holdfast.refine.sessions import derive

        derive.derive_stale(store, on_progress)
    add_missing_parts(store, on_progress)
    done: dict[str, int] = {}
    for stage in STAGES:
        if store.progress.banks_behind(stage.name, stage.version):
            done[stage.name] = stage.run(store, on_progress, now())
    return done


def add_missing_parts(store: Store, on_progress: OnProgress = lambda: None) -> None:
    """Index the parts of words of passages that an older version wrote. Can be stopped and started
    again at any time."""
    left = True
    while left:
        with store.transaction():
            left = bool(store.passages.add_missing_parts())
        on_progress()
