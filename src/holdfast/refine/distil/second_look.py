"""The second look at the best statements of a session: how near each is to the others, by vectors.

The selector scores a statement by its words, its form and its place. What a session was about, and
what several of its messages say in different words, vectors tell better. They take milliseconds
each, so only the best statements get one, and only in a session that has many to choose from.

The order of the numbers is part of the trained weights, as in `features`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from holdfast.refine.distil.features import Numbers
from holdfast.refine.distil.selector import Scored, SelectionLimits, network
from holdfast.refine.distil.standalone import standalone
from holdfast.refine.distil.utterances import Place, Utterance

# One vector of length one for each text.
Embed = Callable[[Sequence[str]], Numbers]
# How the weights of the second look are named among those of the selector.
PREFIX = "near_"


class SecondLookLimits(NamedTuple):
    """Which statements get a second look. Chosen on the training projects and 56 further sessions:
    40 statements lose two points of recall, 80 gain nothing."""

    best: int = 60
    # With no more statements than this, words alone choose as well.
    few: int = 30
    # The best by which the centre of a session is found, beside that of all.
    core: int = 15
    # The nearest others whose mean nearness tells how often a matter comes up.
    nearest: int = 3


SECOND_LOOK = SecondLookLimits()
# What is selected after a second look. The sum of both scores is lower than the first. Since steps
# of plans and lists of changes are left out, two statements more than 16 were mostly status. There
# are more outcomes, since learned kinds no longer call finished work a fact, and more items of a
# list, since what repeats them is joined.
LIMITS_BY_VECTORS = SelectionLimits(threshold=-2.0, most=16, items_of_list=3, outcomes=5)

_WRITTEN = frozenset((Place.COMMIT, Place.NOTE, Place.PLAN))


def look_again(
    weights: Mapping[str, Numbers],
    scored: Sequence[Scored],
    utterances: Sequence[Utterance],
    embed: Embed,
) -> list[Scored]:
    """The statements, best first as given, with what their vectors add to their scores."""
    own = {n.removeprefix(PREFIX): v for n, v in weights.items() if n.startswith(PREFIX)}
    added = network(own, describe_again(scored, utterances, embed))
    return [
        one._replace(score=one.score + float(more)) for one, more in zip(scored, added, strict=True)
    ]


def describe_again(
    scored: Sequence[Scored], utterances: Sequence[Utterance], embed: Embed
) -> Numbers:
    """The numbers of each statement, best first as given, with its nearness to the others."""
    vectors = embed([standalone(one.candidate.statement) for one in scored])
    said_in = [utterances[one.candidate.utterance] for one in scored]
    numbers = np.array([one.numbers for one in scored], np.float32)
    scores = np.array([one.score for one in scored], np.float32)
    return np.hstack([numbers, _nearness(vectors, scores, said_in)]).astype(np.float32)


def _nearness(vectors: Numbers, scores: Numbers, said_in: Sequence[Utterance]) -> Numbers:
    """How near each statement is to the centre of all, to the rest, and to what sums up."""
    count = len(scores)
    worth = (1 / (1 + np.exp(-scores))).astype(np.float32)
    near = vectors @ vectors.T
    np.fill_diagonal(near, 0)
    core = min(count, SECOND_LOOK.core)
    closest = np.sort(near, axis=1)[:, -SECOND_LOOK.nearest :]
    places = [utterance.place for utterance in said_in]
    found = (
        vectors @ _centre(vectors, worth),
        vectors @ _centre(vectors[:core], worth[:core]),
        near.mean(axis=1),
        near @ worth / worth.sum(),
        closest.mean(axis=1),
        _nearest_of(near, [place is Place.CLOSING for place in places]),
        _nearest_of(near, [utterance.is_person for utterance in said_in]),
        _nearest_of(near, [place in _WRITTEN for place in places]),
        np.arange(count) / count,
        np.full(count, np.log1p(count)),
        scores,
    )
    return np.stack(found, axis=1).astype(np.float32)


def _centre(vectors: Numbers, worth: Numbers) -> Numbers:
    centre = worth @ vectors
    return (centre / max(1e-9, float(np.linalg.norm(centre)))).astype(np.float32)


def _nearest_of(near: Numbers, chosen: Sequence[bool]) -> Numbers:
    """How near each statement is to the nearest of the chosen ones; 0 where none is chosen."""
    if not any(chosen):
        return np.zeros(len(near), np.float32)
    return np.clip(near[:, np.array(chosen)].max(axis=1), 0, None)
