"""How near a matter is to a prompt: by the words they share, rare ones heavier, other words for
the same thing for part; and by meaning, where a model is loaded.

A prompt is not a question: most of its words tell of the symptom, and the matter that settled it
need not hold them. So words that the memory has never met count little against it, and words that
every prompt holds count for nothing much.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from holdfast.brief.prompt_filter import is_common
from holdfast.language import stem, words
from holdfast.recall.query.expansion import Expansion, expand
from holdfast.recall.query.terms import Terms
from holdfast.store.protocol import Reader

_MOST = 2000
# An unknown word could have been said of anything.
_UNKNOWN = 0.5
_DULL = 0.25
_OTHER_WORD = 0.7
_READ = 8000
_MANY = 120
_COMMON = 0.2
_FEW = 100


class Overlap(NamedTuple):
    """What a text shares with a prompt: the share of the prompt's weight, and how many of its
    telling words."""

    share: float
    telling: int


class PromptSimilarity:
    """Measures texts against one prompt."""

    def __init__(self, reader: Reader, bank: str, terms: Terms) -> None:
        size = max(2, reader.count_passages(bank, _MOST))
        counts = reader.term_frequencies(bank, terms.words, _MOST)
        self._roots: dict[str, frozenset[str]] = {}
        self._weight: dict[str, float] = {}
        self._others: dict[str, frozenset[str]] = {}
        sought: list[str] = []
        for word, count in zip(terms.words, counts, strict=True):
            root = stem(word)
            if count <= max(_COMMON * size, _FEW) and not is_common(root):
                sought.append(word)
            weight = math.log(1 + size / (0.5 + count)) * (1.0 if count else _UNKNOWN)
            self._weight[root] = weight * (_DULL if is_common(root) else 1.0)
            others = expand([word], Expansion.FULL)
            self._others[root] = frozenset(stem(o) for other in others for o in words(other))
        # What every other passage holds finds nothing, and costs the most to look for.
        self.sought = Terms(tuple(sought) or terms.words, terms.phrases)
        self._total = sum(self._weight.values()) or 1.0
        self._telling = {root for root in self._weight if not is_common(root)}

    def roots(self, text: str) -> frozenset[str]:
        """The stems of a text, to be measured alone or with those of others."""
        known = self._roots.get(text)
        if known is None:
            known = frozenset(map(stem, set(words(text[:_READ]))))
            self._roots[text] = known
        return known

    def shared(self, there: frozenset[str]) -> Overlap:
        """What stems share with the prompt. Many stems share some by chance."""
        weight, telling = 0.0, 0
        for root, value in self._weight.items():
            if root in there:
                weight += value
                telling += root in self._telling
            elif self._others[root] & there:
                weight += _OTHER_WORD * value
                telling += root in self._telling
        by_chance = min(1.0, (_MANY / max(1, len(there))) ** 0.3)
        return Overlap(by_chance * weight / self._total, telling)
