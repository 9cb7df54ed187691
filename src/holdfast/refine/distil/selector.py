"""The learned selector: how much a statement is worth remembering, and of which kind it is.

A small network over the numbers of `features`, of which one is the score of the statement's words.
The weights are trained by tools/train_selector.py; what they were trained on and how well they do
is in MODEL.md beside them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from holdfast.model.knowledge import Kind
from holdfast.refine.distil.features import (
    Candidate,
    Numbers,
    content_words,
    describe,
    hashed_words,
    sentences_of,
)
from holdfast.refine.distil.utterances import Utterance

WEIGHTS = Path(__file__).with_name("selector.npz")
# The kinds in the order of the weights.
KINDS = tuple(Kind)


class SelectionLimits(NamedTuple):
    """What is selected of a session. A lower threshold remembers more, and more that is not worth
    it: it was chosen where as many records are right as items are found."""

    threshold: float = -0.9
    most: int = 15
    # Two statements that share this part of the words of the shorter one say the same.
    same_words: float = 0.7
    # Items of one list: more of them are details of one matter.
    items_of_list: int = 2
    # What a session delivered is said in a few; more of them are steps on the way.
    outcomes: int = 3
    # Beyond `most`: what an agent wrote down for later sessions is distilled already.
    notes: int = 4
    note_threshold: float = 0.0
    # From so many requests on, `most` grows by one with each, up to so many.
    many_requests: int = 8
    most_more: int = 24

    def for_requests(self, count: int) -> SelectionLimits:
        """The same for a session with so many requests."""
        more = min(self.most_more, max(0, count - self.many_requests))
        return self._replace(most=self.most + more)


LIMITS = SelectionLimits()
# Numbers farther from the mean than so many deviations count as this far: what was rare in training
# would decide everything elsewhere.
_FARTHEST = 3.0


class Scored(NamedTuple):
    """A candidate with its score, its kind, and the numbers that it was scored by."""

    candidate: Candidate
    score: float
    kind: Kind
    numbers: tuple[float, ...] = ()


# Sentences, each by the number of its utterance and its own.
Span = frozenset[tuple[int, int]]


def span_of(candidate: Candidate) -> Span:
    """The sentences that a candidate is made of."""
    number, statement = candidate
    return frozenset((number, statement.position + n) for n in range(statement.length))


class Selector:
    """Scores statements with trained weights."""

    def __init__(self, weights: Mapping[str, Numbers]) -> None:
        self.weights = {name: values.astype(np.float32) for name, values in weights.items()}

    def score(
        self, utterances: Sequence[Utterance], candidates: Sequence[Candidate]
    ) -> list[Scored]:
        """The candidates in their order, each with its score and its likeliest kind."""
        if not candidates:
            return []
        sentences = sentences_of(utterances, candidates)
        by_word = np.stack(
            [
                self._by_words(hashed_words(c.statement, utterances[c.utterance].is_person, own))
                for c, own in zip(candidates, sentences, strict=True)
            ]
        )
        numbers = np.hstack([describe(utterances, candidates, sentences), by_word[:, :1]])
        scores = network(self.weights, numbers)
        kinds = by_word[:, 1:].argmax(axis=1)
        return [
            Scored(candidate, score, KINDS[kind], tuple(row))
            for candidate, score, kind, row in zip(
                candidates, scores.tolist(), kinds.tolist(), numbers.tolist(), strict=True
            )
        ]

    def _by_words(self, hashed: Mapping[int, float]) -> Numbers:
        """What the words of a statement alone say: the worth, then each kind."""
        rows = self.weights["words"].take(np.fromiter(hashed, np.intp, len(hashed)), axis=0)
        values = np.fromiter(hashed.values(), np.float32, len(hashed))
        return values @ rows + self.weights["words_bias"]


def network(weights: Mapping[str, Numbers], numbers: Numbers) -> Numbers:
    """The scores of rows of numbers: one hidden layer."""
    hidden = np.tanh(scale(weights, numbers) @ weights["hidden"] + weights["hidden_bias"])
    return hidden @ weights["out"] + weights["out_bias"]


def scale(weights: Mapping[str, Numbers], numbers: Numbers) -> Numbers:
    """Rows of numbers as deviations from the mean of those that were trained on."""
    found = (numbers - weights["mean"]) / weights["spread"]
    return np.clip(found, -_FARTHEST, _FARTHEST)


def select(
    scored: Sequence[Scored],
    limits: SelectionLimits = LIMITS,
    notes: Collection[int] = (),
) -> list[Scored]:
    """The statements to remember, in the order they were said: the best, without those that overlap
    with a better one or say the same. `notes` are the utterances that were written for later."""
    chosen: list[tuple[Scored, frozenset[str]]] = []
    taken: set[tuple[int, int]] = set()
    lists: Counter[tuple[int, str]] = Counter()
    outcomes = 0
    notes_left = limits.notes
    for one in sorted(scored, key=lambda s: (-s.score, s.candidate.utterance)):
        if one.score < limits.threshold:
            break
        number, statement = one.candidate
        is_beyond = len(chosen) >= limits.most
        is_note = number in notes and one.score >= limits.note_threshold
        if is_beyond and not (is_note and notes_left):
            continue
        span = span_of(one.candidate)
        words = content_words(statement.text)
        own_list = number, statement.lead
        if statement.lead and lists[own_list] == limits.items_of_list:
            continue
        if one.kind is Kind.OUTCOME and outcomes == limits.outcomes:
            continue
        if span & taken or any(says_the_same(words, other, limits) for _, other in chosen):
            continue
        chosen.append((one, words))
        taken |= span
        lists[own_list] += 1
        outcomes += one.kind is Kind.OUTCOME
        notes_left -= is_beyond
    kept = [one for one, _ in chosen]
    return sorted(kept, key=lambda s: (s.candidate.utterance, s.candidate.statement.position))


def says_the_same(
    one: frozenset[str], other: frozenset[str], limits: SelectionLimits = LIMITS
) -> bool:
    """Whether the words of two statements are mostly those of the shorter one."""
    return len(one & other) >= limits.same_words * max(1, min(len(one), len(other)))


@cache
def packaged_selector() -> Selector:
    """The selector that comes with this package."""
    with np.load(WEIGHTS) as weights:
        return Selector(dict(weights))
