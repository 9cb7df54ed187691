"""What older rules and prompts made, counted: fast, and without touching anything."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.app.ingest.stages import stages_behind
from holdfast.app.memory import Holdfast
from holdfast.refine.core.rules_version import RULES_VERSION
from holdfast.refine.model_output.prompts import PROMPT_VERSION as PROMPTS


class OutdatedCounts(NamedTuple):
    """What could be made anew. `unfinished` sessions wait for their derived rows; `rules` counts
    those that older rules made, `prompts` those that a model summed up when asked in an older
    way; `stages` have not seen all."""

    unfinished: int = 0
    rules: int = 0
    prompts: int = 0
    stages: tuple[str, ...] = ()

    @property
    def any(self) -> bool:
        return bool(self.rules or self.prompts or self.stages)


def count_outdated(memory: Holdfast) -> OutdatedCounts:
    """Count what is older; fast, and nothing is changed."""
    store = memory.store
    return OutdatedCounts(
        len(memory.reader.stale_sessions()),
        store.count_outdated_sessions(RULES_VERSION),
        len(store.outdated_summaries(PROMPTS)),
        tuple(stages_behind(store)),
    )
