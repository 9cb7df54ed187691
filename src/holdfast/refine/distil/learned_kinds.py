"""Of which kind a statement is.

Where it stands may tell, and that it is left open; else the selector guesses by its words. A
change that was made reads like a fact, and so does a cause: readers gave each statement of some 260
real sessions its kind, and a linear model of what they said decides where it is sure. The weights
are trained by tools/train_kinds.py; MODEL.md says on what.

The order of the numbers is part of the trained weights, as in `features`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from holdfast.model.knowledge import Kind
from holdfast.refine.core.open_items import is_left_open
from holdfast.refine.core.written_messages import COMMITTED, PULL_REQUEST
from holdfast.refine.distil.features import Numbers
from holdfast.refine.distil.second_look import Embed
from holdfast.refine.distil.selector import KINDS, Scored, scale
from holdfast.refine.distil.standalone import standalone
from holdfast.refine.distil.statements import Statement
from holdfast.refine.distil.utterances import Place, Utterance

WEIGHTS = Path(__file__).with_name("learned_kinds.npz")
# The entries of a vector of length one are small: so they count like the other numbers.
_VECTOR_SCALE = 6.5
# What is said there is always of one kind: who refuses something decides.
_BY_PLACE = {
    Place.ANSWER: Kind.DECISION,
    Place.REFUSAL: Kind.DECISION,
    Place.TASK: Kind.TODO,
    Place.FIX: Kind.LESSON,
}
# What an agent says is of one of these: it lays down no rules and has no preferences.
_OF_AGENTS = (Kind.DECISION, Kind.LESSON, Kind.FACT, Kind.OUTCOME)


class LikelihoodLimits(NamedTuple):
    """From which likelihood on a kind counts more than the one that words show. Chosen on graded
    statements of banks that the weights had not seen: with no limit as many are right, and half as
    many more are changed."""

    any: float = 0.45
    # An agent's words that the selector takes for none are rarely a decision.
    decision: float = 0.6


LIKELIHOODS = LikelihoodLimits()


def kind_of(statement: Statement, utterance: Utterance, guess: Kind) -> Kind:
    """The kind of a statement without vectors; `guess` is the selector's."""
    if utterance.place is Place.COMMIT and statement.lead in (COMMITTED, PULL_REQUEST):
        return Kind.OUTCOME
    if utterance.place in _BY_PLACE or utterance.is_person:
        return _BY_PLACE.get(utterance.place, guess)
    if is_left_open(statement.lead, statement.text):
        return Kind.TODO
    return Kind.FACT if guess in (Kind.RULE, Kind.PREFERENCE) else guess


def learned_kinds(
    scored: Sequence[Scored], utterances: Sequence[Utterance], embed: Embed
) -> list[Scored]:
    """Statements with their kinds by `kind_of`, with their likely kinds."""
    vectors = embed([standalone(one.candidate.statement) for one in scored])
    likelihoods = kind_likelihoods(_weights(), describe_form(scored, utterances), vectors)
    return [
        one._replace(kind=_kind(one, utterances[one.candidate.utterance], row))
        for one, row in zip(scored, likelihoods, strict=True)
    ]


def describe_form(scored: Sequence[Scored], utterances: Sequence[Utterance]) -> Numbers:
    """The numbers of statements with their places, their kinds by `kind_of`, and their scores."""
    rows: list[list[float]] = []
    for one in scored:
        statement, utterance = one.candidate.statement, utterances[one.candidate.utterance]
        rows.append(
            [
                *one.numbers,
                *(float(utterance.place is place) for place in Place),
                *(float(one.kind is kind) for kind in KINDS),
                float(utterance.is_person),
                float(statement.is_item),
                float(bool(statement.lead)),
                len(standalone(statement)) / 200,
                one.score,
            ]
        )
    return np.array(rows, np.float32)


def kind_likelihoods(weights: Mapping[str, Numbers], numbers: Numbers, vectors: Numbers) -> Numbers:
    """How likely each kind is, in the order of `KINDS`."""
    guess = model_inputs(weights, numbers, vectors) @ weights["out"] + weights["out_bias"]
    shares = np.exp(guess - guess.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def model_inputs(weights: Mapping[str, Numbers], numbers: Numbers, vectors: Numbers) -> Numbers:
    """What the model is given: deviations of the numbers, and vectors of about the same size."""
    return np.hstack([scale(weights, numbers), vectors * _VECTOR_SCALE]).astype(np.float32)


def _kind(one: Scored, utterance: Utterance, likelihoods: Numbers) -> Kind:
    """The likeliest kind that may be: tasks, places that tell the kind, and what people say keep
    theirs."""
    lead = one.candidate.statement.lead
    is_told_by_place = utterance.place in _BY_PLACE or (
        utterance.place is Place.COMMIT and lead in (COMMITTED, PULL_REQUEST)
    )
    if one.kind not in _OF_AGENTS or utterance.is_person or is_told_by_place:
        return one.kind
    likely = {kind: float(likelihoods[KINDS.index(kind)]) for kind in _OF_AGENTS}
    if one.kind is not Kind.DECISION and likely[Kind.DECISION] < LIKELIHOODS.decision:
        del likely[Kind.DECISION]
    best = max(likely, key=lambda kind: likely[kind])
    return best if likely[best] >= LIKELIHOODS.any else one.kind


@cache
def _weights() -> dict[str, Numbers]:
    with np.load(WEIGHTS) as weights:
        return {name: weights[name].astype(np.float32) for name in weights.files}
