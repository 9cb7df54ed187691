"""Whether a rule says the same as a text, in whatever words, or the opposite."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from holdfast.language import content_stems, is_negated, sentences, shared_fraction
from holdfast.model.knowledge import Rule

# The cosine similarity of a text to each of some others. None stands for "no model available".
Similarity = Callable[[str, Sequence[str]], Sequence[float]]


class MatchThresholds(NamedTuple):
    """When two sentences say the same. Lower values find more rewordings, and more that only
    share a subject."""

    # Overlap of their stems.
    same_words: float = 0.75
    # Stems in common, and their share of the longer sentence: so that a short sentence does not
    # match a long one by two words.
    min_common: int = 2
    min_share_of_longer: float = 0.4
    # Cosine similarity of their embeddings.
    same_embedding: float = 0.8
    # Characters of a rule's sentence that are compared.
    sentence_chars: int = 400


_MATCH = MatchThresholds()


class MatchingRule(NamedTuple):
    """A rule that says the same, or the opposite, and the sentence in which it does."""

    rule: Rule
    sentence: str
    opposes: bool = False

    @property
    def where(self) -> str:
        """Its file and line, for people."""
        return f"{self.rule.path}:{self.rule.line}"


def same_meaning(one: str, other: str) -> float:
    """How far two sentences say the same by their stems, from 0 to 1; 0 if they share too few."""
    stems, other_stems = content_stems(one), content_stems(other)
    common = len(stems & other_stems)
    longer = max(len(stems), len(other_stems)) or 1
    if common < min(_MATCH.min_common, longer) or common / longer < _MATCH.min_share_of_longer:
        return 0.0
    return shared_fraction(stems, other_stems)


def find_matching_rule(
    text: str, rules: Iterable[Rule], similarity: Similarity | None
) -> MatchingRule | None:
    """The rule that says the same as a text or its opposite; None if there is none."""
    candidates = [
        (rule, s[: _MATCH.sentence_chars]) for rule in rules for s in sentences(rule.text)
    ]
    scores = [same_meaning(text, sentence) for _, sentence in candidates]
    if similarity is not None and candidates:
        similarities = similarity(text, [sentence for _, sentence in candidates])
        scores = [
            max(score, _MATCH.same_words if value >= _MATCH.same_embedding else 0.0)
            for score, value in zip(scores, similarities, strict=True)
        ]
    best = max(range(len(candidates)), key=lambda n: scores[n], default=None)
    if best is None or scores[best] < _MATCH.same_words:
        return None
    rule, sentence = candidates[best]
    return MatchingRule(rule, sentence, is_negated(sentence) != is_negated(text))


def says_the_same(text: str, others: Iterable[str], similarity: Similarity | None) -> bool:
    """Whether one of the other texts says the same as this one."""
    others = [other for other in others if is_negated(other) == is_negated(text)]
    if any(same_meaning(text, other) >= _MATCH.same_words for other in others):
        return True
    return bool(
        similarity is not None
        and others
        and any(v >= _MATCH.same_embedding for v in similarity(text, others))
    )
