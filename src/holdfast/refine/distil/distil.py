"""What is worth remembering of a session: a few statements, each of a kind, that stand alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from holdfast.language import sentences
from holdfast.model.knowledge import Kind
from holdfast.model.records import Turn
from holdfast.refine.distil.features import Candidate, content_words, find_candidates
from holdfast.refine.distil.selector import LIMITS, Scored, SelectionLimits, Selector, select
from holdfast.refine.distil.standalone import standalone
from holdfast.refine.distil.utterances import Place, Utterance, find_utterances
from holdfast.refine.facts.hypotheses import is_guess
from holdfast.refine.facts.momentary_orders import is_for_the_moment

# Words, without stop words, that a statement needs to be understood.
_MIN_WORDS = 4


class Distilled(NamedTuple):
    """A statement to remember: its kind, its words, the turn that states it and whether whoever the
    agent works for said it."""

    kind: Kind
    text: str
    turn: Turn
    is_person: bool


def distil(
    turns: Sequence[Turn], subject: str, selector: Selector, limits: SelectionLimits = LIMITS
) -> list[Distilled]:
    """The statements of a session to remember, in the order they were said. `subject`: what the
    session was about."""
    utterances = find_utterances(turns)
    scored = selector.score(utterances, find_candidates(utterances))
    lasting = [one for one in scored if _may_last(one.candidate, utterances)]
    return [_distilled(one, utterances, subject) for one in select(lasting, limits)]


def _may_last(candidate: Candidate, utterances: Sequence[Utterance]) -> bool:
    """Whether a statement says something: a question does not, nor does a guess at a cause, a line
    that only leads to the next, or a few words that say nothing."""
    utterance, text = utterances[candidate.utterance], candidate.statement.text
    if utterance.place is Place.ANSWER:
        return True
    if text.rstrip(" *_`\"')").endswith(("?", "？", ":")):
        return False
    if len(content_words(text)) < _MIN_WORDS:
        return False
    return utterance.is_person or not any(map(is_guess, sentences(text)))


def _distilled(one: Scored, utterances: Sequence[Utterance], subject: str) -> Distilled:
    utterance = utterances[one.candidate.utterance]
    statement = one.candidate.statement
    kind = Kind.DECISION if utterance.place is Place.ANSWER else one.kind
    if kind is Kind.RULE and (not utterance.is_person or is_for_the_moment(statement.text)):
        # Only people lay down rules, and not with an order for the moment.
        kind = Kind.PREFERENCE if utterance.is_person else Kind.DECISION
    return Distilled(kind, standalone(statement, subject), utterance.turn, utterance.is_person)
