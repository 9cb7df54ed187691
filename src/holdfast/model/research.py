"""What an investigation tells while it goes on: one small record a step, and its effort."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from holdfast.model.query import Answer, Confidence


class ResearchStage(StrEnum):
    """How far an investigation is. The last three end it."""

    PLANNED = "planned"
    SEARCHING = "searching"
    FOUND = "found"
    READING = "reading"
    SYNTHESISING = "synthesising"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


FINAL_STAGES = (ResearchStage.DONE, ResearchStage.CANCELLED, ResearchStage.FAILED)


class ResearchEvent(NamedTuple):
    """One step: in which round, in words for people; the query it is about, how many records came
    of it and which they are; the answer with the last step."""

    stage: ResearchStage
    text: str
    round: int = 1
    query: str = ""
    found: int = 0
    uris: tuple[str, ...] = ()
    answer: Answer | None = None


class ResearchEffort(NamedTuple):
    """What is wanted before an investigation rests, and what it may take at most: rounds, and
    seconds after the first round."""

    wanted: Confidence
    rounds: int
    seconds: float
