"""The steps that an investigation reports, and the limits of its effort."""

from __future__ import annotations

from enum import StrEnum

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.query import Answer, Confidence


class ResearchStage(StrEnum):
    """The stages of an investigation. The last three end it."""

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
    """One step: its round, a text for people, the query it is about, how many records it found and
    which; with the last step, the answer."""

    stage: ResearchStage
    text: str
    round: int = 1
    query: str = ""
    found: int = 0
    uris: tuple[str, ...] = ()
    answer: Answer | None = None


class ResearchEffort(NamedTuple):
    """The confidence at which an investigation stops, and its limits: rounds, and seconds after
    the first round."""

    wanted: Confidence
    rounds: int
    seconds: float
