"""How likely a later session wants a statement: a score learned from statements that readers
graded.

Only what shows at once counts: the words of a statement, its kind, who said it, and how much was
said after it in its session. What is said early is often overtaken later, a reason is worth
reading, and a short statement tells no more than the code does.
"""

from __future__ import annotations

import re
from math import copysign, log1p, log2
from typing import NamedTuple

from holdfast.brief.known_statements import tells_failure
from holdfast.model.knowledge import Kind, Memory
from holdfast.refine.core.statement_similarity import own_words
from holdfast.regex import regex


class UsefulnessWeights(NamedTuple):
    """A logistic regression on 880 graded statements of 15 projects that a brief may tell: useful
    and true, or not. `bench/RESULTS.md` has what it gives on 850 of seven other projects."""

    # For `Memory.worth`, on a logarithmic scale.
    worth: float = 0.45
    # For the turns after it in its session, on a logarithmic scale from 0 to 1.
    turns_after: float = -0.84
    # For its words, from 0 to 1.
    words: float = 1.96
    number: float = 0.21
    # An agent that speaks of itself or to the reader.
    speaks: float = -0.16
    tests: float = -0.34
    reason: float = 0.42
    failure: float = 0.31
    by_person: float = 0.54
    outcome: float = 0.44
    fact: float = -0.09
    bias: float = -1.81


_WEIGHTS = UsefulnessWeights()
# More words, or more turns than 2 ** 8, make no difference.
_MAX_WORDS = 50
_MAX_TURNS_LOG = 8
_NUMBER = regex(r"\d")
_SPEAKS = regex(r"\b(?:I|we|you|my|our|your|me|us)\b")
_TESTS = regex(r"\btests?\b|\bspecs?\b", re.IGNORECASE)
_REASON = regex(
    r"\b(?:means?|which|so|therefore|thus|because|since|otherwise|instead|rather than)\b",
    re.IGNORECASE,
)


def usefulness(memory: Memory) -> float:
    """The score of a statement, from about -3 to 2, if it is the last of its session."""
    weights = _WEIGHTS
    text = own_words(memory.what)
    worth = memory.worth or 0.0
    score = weights.bias + weights.worth * copysign(log1p(abs(worth)), worth)
    score += weights.words * min(len(text.split()), _MAX_WORDS) / _MAX_WORDS
    score += weights.number * bool(_NUMBER.search(text))
    score += weights.speaks * (memory.by_agent and bool(_SPEAKS.search(text)))
    score += weights.tests * bool(_TESTS.search(text))
    score += weights.reason * bool(_REASON.search(text))
    score += weights.failure * tells_failure(memory)
    score += weights.by_person * (not memory.by_agent)
    score += weights.outcome * (memory.kind is Kind.OUTCOME)
    return score + weights.fact * (memory.kind is Kind.FACT)


def taken_off_for(turns_after: int) -> float:
    """What the score of a statement loses by the turns that its session has after it."""
    share = min(log2(1 + max(turns_after, 0)), _MAX_TURNS_LOG) / _MAX_TURNS_LOG
    return -_WEIGHTS.turns_after * share
