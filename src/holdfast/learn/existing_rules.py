"""Whether a file of rules says something already, in whatever words, or says the opposite."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from holdfast.language import denies, sentences, shared, telling
from holdfast.model.knowledge import Rule

# How like a text is to each of some others, from -1 to 1; where a model is at hand.
Similarity = Callable[[str, Sequence[str]], Sequence[float]]

_SAME = 0.75
_LEAST_SHARED = 2
_OF_LONGER = 0.4
_ALIKE = 0.8
_SENTENCE = 400


class MatchingRule(NamedTuple):
    """A rule that says the same, or the opposite, and the sentence in which it does."""

    rule: Rule
    sentence: str
    opposes: bool = False

    @property
    def where(self) -> str:
        """Where it stands, for people."""
        return f"{self.rule.path}:{self.rule.line}"


def same_meaning(one: str, other: str) -> float:
    """How much two sentences tell the same, by their stems: 0 where they share too little."""
    ours, theirs = telling(one), telling(other)
    common = len(ours & theirs)
    longer = max(len(ours), len(theirs)) or 1
    if common < min(_LEAST_SHARED, longer) or common / longer < _OF_LONGER:
        return 0.0
    return shared(ours, theirs)


def find_matching_rule(
    text: str, rules: Iterable[Rule], likeness: Similarity | None
) -> MatchingRule | None:
    """The rule that says what a text says, or its opposite."""
    told = [(rule, s[:_SENTENCE]) for rule in rules for s in sentences(rule.text)]
    scores = [same_meaning(text, sentence) for _, sentence in told]
    if likeness is not None and told:
        alike = likeness(text, [sentence for _, sentence in told])
        scores = [
            max(score, _SAME if near >= _ALIKE else 0.0)
            for score, near in zip(scores, alike, strict=True)
        ]
    best = max(range(len(told)), key=lambda n: scores[n], default=None)
    if best is None or scores[best] < _SAME:
        return None
    rule, sentence = told[best]
    return MatchingRule(rule, sentence, denies(sentence) != denies(text))


def says_the_same(text: str, others: Iterable[str], likeness: Similarity | None) -> bool:
    """Whether one of some texts says the same as this one."""
    others = [other for other in others if denies(other) == denies(text)]
    if any(same_meaning(text, other) >= _SAME for other in others):
        return True
    return bool(
        likeness is not None and others and any(v >= _ALIKE for v in likeness(text, others))
    )
