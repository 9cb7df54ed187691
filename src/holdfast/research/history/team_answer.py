"""What the team knows of a question: the answer, the commits and records that bear on it, and the
people to ask."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.model.query import Answer, Hit, Layer
from holdfast.research.answering.answer import AskRequest
from holdfast.research.history.expertise import Expert, rank_experts
from holdfast.research.history.git_answers import commits_about
from holdfast.research.history.question_kinds import read_history_question
from holdfast.store.protocol import Reader

# Commits, pulls and issues; what sessions came to; what people wrote down.
LAYERS = (Layer.TEAM, Layer.OBSERVATIONS, Layer.RULES)
_PEOPLE = 3


class TeamAnswer(NamedTuple):
    """An answer with what it was made from, best first, and who knows most about its matter."""

    answer: Answer
    evidence: tuple[Hit, ...] = ()
    people: tuple[Expert, ...] = ()


def people_to_ask(reader: Reader, way: AskRequest) -> tuple[Expert, ...]:
    """Who to ask: nobody, where no commit speaks of the matter as a whole."""
    dig = read_history_question(way.question)
    topic = dig.topic if dig is not None else way.question
    if not commits_about(reader, way, topic).commits:
        return ()
    known = rank_experts(reader, way.bank, topic, way.as_of or way.now(), 20)
    return tuple(expert for expert in known if not expert.is_bot)[:_PEOPLE]
