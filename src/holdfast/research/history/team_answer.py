"""The team's answer to a question: the answer itself, the records found, and the people to ask."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.model.query import Answer, Hit, Layer
from holdfast.research.answering.answer import AskRequest
from holdfast.research.history.expertise import Expert, rank_experts
from holdfast.research.history.git_answers import commits_about
from holdfast.research.history.question_kinds import read_history_question
from holdfast.store.protocol import Reader

# Commits, pulls and issues; results of sessions; what people wrote down.
LAYERS = (Layer.TEAM, Layer.OBSERVATIONS, Layer.RULES)
_MAX_PEOPLE = 3
# Ranked before bots are left out.
_RANKED = 20


class TeamAnswer(NamedTuple):
    """An answer, the records found for it, best first, and the experts on its topic."""

    answer: Answer
    evidence: tuple[Hit, ...] = ()
    people: tuple[Expert, ...] = ()


def people_to_ask(reader: Reader, request: AskRequest) -> tuple[Expert, ...]:
    """The experts on the topic of a question; nobody if no commit is about the whole topic."""
    question = read_history_question(request.question)
    topic = question.topic if question is not None else request.question
    if not commits_about(reader, request, topic).commits:
        return ()
    known = rank_experts(reader, request.bank, topic, request.as_of or request.now(), _RANKED)
    return tuple(expert for expert in known if not expert.is_bot)[:_MAX_PEOPLE]
