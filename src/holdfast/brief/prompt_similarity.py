"""How similar a text is to a prompt, by the words they share: rare ones weigh more, synonyms count
in part.

A prompt is not a query: most of its words describe the symptom, and the decision that explains it
need not contain them. So words that the memory does not know count half, and words of every prompt
a quarter.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from holdfast.brief.prompt_filter import is_common
from holdfast.language import stem, words
from holdfast.recall.query.expansion import Expansion, expand
from holdfast.recall.query.terms import Terms
from holdfast.store.protocol import Reader

# Counting stops here: a word in more passages is common, however many there are.
_MAX_COUNTED = 2000
_MAX_CHARACTERS = 8000
# Weights of words, against 1 (chosen with the thresholds of `GoalBriefLimits`): one that the memory
# does not know, one of every prompt, and a synonym in place of the word.
_UNKNOWN_WORD = 0.5
_COMMON_WORD = 0.25
_SYNONYM = 0.7
# Texts of more stems than this share some by chance: their overlap shrinks with this power.
_STEMS_WITHOUT_CHANCE = 120
_CHANCE_POWER = 0.3
# Words in more than this share of the passages, and in more than so many, are not searched for:
# they find nothing and cost the most.
_TOO_FREQUENT_SHARE = 0.2
_TOO_FREQUENT_COUNT = 100


class Overlap(NamedTuple):
    """What a text shares with a prompt: the share of the prompt's weight, and the number of words
    that are not common."""

    share: float
    rare_words: int


class PromptSimilarity:
    """Measures texts against one prompt."""

    def __init__(self, reader: Reader, bank: str, terms: Terms) -> None:
        size = max(2, reader.count_passages(bank, _MAX_COUNTED))
        counts = reader.term_frequencies(bank, terms.words, _MAX_COUNTED)
        self._stems: dict[str, frozenset[str]] = {}
        self._weights: dict[str, float] = {}
        self._synonyms: dict[str, frozenset[str]] = {}
        searched: list[str] = []
        for word, count in zip(terms.words, counts, strict=True):
            root = stem(word)
            rare = count <= max(_TOO_FREQUENT_SHARE * size, _TOO_FREQUENT_COUNT)
            if rare and not is_common(root):
                searched.append(word)
            weight = math.log(1 + size / (0.5 + count)) * (1.0 if count else _UNKNOWN_WORD)
            self._weights[root] = weight * (_COMMON_WORD if is_common(root) else 1.0)
            others = expand([word], Expansion.FULL)
            self._synonyms[root] = frozenset(stem(o) for other in others for o in words(other))
        self.search_terms = Terms(tuple(searched) or terms.words, terms.phrases)
        self._total = sum(self._weights.values()) or 1.0
        self._rare = {root for root in self._weights if not is_common(root)}

    def stems(self, text: str) -> frozenset[str]:
        """The stems of a text, to be measured alone or with those of others."""
        known = self._stems.get(text)
        if known is None:
            known = frozenset(map(stem, set(words(text[:_MAX_CHARACTERS]))))
            self._stems[text] = known
        return known

    def overlap(self, stems: frozenset[str]) -> Overlap:
        """What some stems share with the prompt."""
        weight, rare_words = 0.0, 0
        for root, value in self._weights.items():
            if root in stems:
                weight += value
                rare_words += root in self._rare
            elif self._synonyms[root] & stems:
                weight += _SYNONYM * value
                rare_words += root in self._rare
        by_chance = min(1.0, (_STEMS_WITHOUT_CHANCE / max(1, len(stems))) ** _CHANCE_POWER)
        return Overlap(by_chance * weight / self._total, rare_words)
