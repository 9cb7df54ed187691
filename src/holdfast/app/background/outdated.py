"""Counts what an older version of the rules or prompts has derived. Fast and read-only."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.app.ingest.stages import stages_behind
from holdfast.app.memory import Holdfast
from holdfast.refine.core.rules_version import RULES_VERSION
from holdfast.refine.model_output.prompts import PROMPT_VERSION as PROMPTS


class OutdatedCounts(NamedTuple):
    """What could be derived again: `unfinished` sessions have no derived records yet, `rules`
    sessions were derived by older rules, `prompts` sessions were summarised with older prompts,
    `stages` names the knowledge stages that have not processed every change."""

    unfinished: int = 0
    rules: int = 0
    prompts: int = 0
    stages: tuple[str, ...] = ()

    @property
    def any(self) -> bool:
        return bool(self.rules or self.prompts or self.stages)


def count_outdated(memory: Holdfast) -> OutdatedCounts:
    store = memory.store
    return OutdatedCounts(
        len(memory.reader.stale_sessions()),
        store.count_outdated_sessions(RULES_VERSION),
        len(store.outdated_summaries(PROMPTS)),
        tuple(stages_behind(store)),
    )
