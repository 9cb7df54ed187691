"""The stages above the session (facts, patterns, memories, …), run in order where one is behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from holdfast.inference import packaged
from holdfast.settings import NO_MODEL, Settings
from holdfast.store.protocol import Store

OnProgress = Callable[[], None]


class Stage(NamedTuple):
    """A stage: its name, the version of its rules, what it `makes` in words, what is added to the
    version with vectors, and whether it reads the vectors of the store."""

    name: str
    version: int
    makes: str
    by_vectors: int = 0
    reads_vectors: bool = False

    def banks_behind(self, store: Store, settings: Settings) -> list[str]:
        """The banks with changes that the stage has not seen with its present rules."""
        version = self.version + (self.by_vectors if _uses_vectors(settings) else 0)
        return store.progress.banks_behind(self.name, version, self.reads_vectors)


# Builds all concepts of a bank anew, from the vectors too.
CONCEPTS = Stage("concepts", 15, "concepts", reads_vectors=True)

# In order: a stage reads what those before it wrote. A stage's module is imported only when it has
# work, so its version is repeated here; a test compares the two.
STAGES = (
    Stage("retain", 39, "memories", by_vectors=1000),
    Stage("facts", 27, "facts"),
    Stage("patterns", 5, "patterns"),
    Stage("reflect", 5, "opinions"),
    CONCEPTS,
    Stage("entities", 5, "entities"),
    Stage("authorship", 2, "authors of commits"),
)


def _uses_vectors(settings: Settings) -> bool:
    """Whether statements are chosen with vectors of the model that comes with Holdfast: where it
    is installed, and the settings do not turn vectors off."""
    return settings.embed_model != NO_MODEL and packaged.EMBEDDER.is_file()


def _run(stage: Stage, store: Store, settings: Settings, now: str, on_progress: OnProgress) -> int:
    """Bring every bank up to date; returns how many records changed."""
    match stage.name:
        case "retain":
            from holdfast.refine.memories.memory_stage import update_memories

            return update_memories(store, on_progress, _uses_vectors(settings))
        case "facts":
            from holdfast.refine.facts.fact_stage import update_facts

            return update_facts(store, on_progress)
        case "patterns":
            from holdfast.refine.rules.pattern_stage import update_patterns

            return len(update_patterns(store, on_progress))
        case "reflect":
            from holdfast.learn.opinions import update_all_banks

            return update_all_banks(store, on_progress, now)
        case "concepts":
            from holdfast.refine.concepts.concept_stage import update_concepts

            return update_concepts(store, on_progress)
        case "entities":
            from holdfast.refine.entities.entity_stage import update_entities

            return update_entities(store, on_progress)
        case _:
            from holdfast.refine.git.commit_authorship import link_all_commits

            return link_all_commits(store, on_progress)


def stages_behind(store: Store, settings: Settings) -> list[str]:
    """The names of the stages that have not processed every change with their present rules."""
    return [stage.name for stage in STAGES if stage.banks_behind(store, settings)]


def update_stages(
    store: Store,
    settings: Settings,
    now: Callable[[], str],
    on_progress: OnProgress = lambda: None,
    among: Sequence[Stage] = STAGES,
) -> dict[str, int]:
    """Run those of some stages that are behind; returns how many records each has changed. Sessions
    are derived first, because one that is not derived yet looks empty to the stages."""
    if store.sessions.stale(1):
        from holdfast.refine.sessions import derive

        derive.derive_stale(store, on_progress)
    add_missing_parts(store, on_progress)
    done: dict[str, int] = {}
    for stage in among:
        if stage.banks_behind(store, settings):
            done[stage.name] = _run(stage, store, settings, now(), on_progress)
    return done


def update_concepts_of(store: Store, banks: Sequence[str], on_progress: OnProgress) -> int:
    """Build the concepts of some banks that have changes; returns how many changed."""
    from holdfast.refine.concepts.concept_stage import update_concepts

    return update_concepts(store, on_progress, banks)


def add_missing_parts(store: Store, on_progress: OnProgress = lambda: None) -> None:
    """Index the parts of words of passages that an older version wrote. Can be stopped and started
    again at any time."""
    left = True
    while left:
        with store.transaction():
            left = bool(store.passages.add_missing_parts())
        on_progress()
