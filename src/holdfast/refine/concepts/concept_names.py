"""Names for concepts: terms of the project's own vocabulary that recur among the members.

The best name is one that many members of a concept have and few other items of the bank, above all
in titles, commits, headings and names of files. A concept of which no term recurs has no name, and
is not shown: a bad name says less than none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from holdfast.language import truncate
from holdfast.refine.concepts.items import Item, rarity_of
from holdfast.refine.concepts.terms import (
    ASKED,
    Key,
    Place,
    is_file,
    key_of,
    roots_of,
    without_error_messages,
)
from holdfast.refine.concepts.vocabulary import (
    Vocabulary,
    has_plural_modifier,
    is_plain_word,
    parts_of,
)
from holdfast.refine.core.word_classes import is_common, is_generic


class NameWeights(NamedTuple):
    """What a term weighs by where it occurs, and how its score is computed. Tuned by reading the
    names of real sessions; bench/RESULTS.md says which, and how good names of others are."""

    request: float = 0.4
    text: float = 0.4
    code: float = 0.6
    folder: float = 0.4
    title: float = 1.0
    marked: float = 0.8
    file: float = 0.9
    commit: float = 1.2  # the highest: people word it to name the work
    # The factor of a term of so many words, spelled out. A single word says too little.
    by_words: tuple[float, ...] = (0.6, 1.0, 1.05, 0.9)
    identifier: float = 0.55  # of several words, spelled as one
    plain_word: float = 0.7  # times the above, for one ordinary word
    plural_modifier: float = 0.6  # likewise, for "names guest registry": two lists side by side
    common_words: float = 0.7  # likewise, for a phrase of words that many projects use
    # Below 1, so that one very rare term does not outweigh one that recurs.
    rarity_exponent: float = 0.7
    # From a term that occurs everywhere in the bank to one that only this concept has.
    least_distinct: float = 0.4
    # From a term of words that are prose only to one of words of files, symbols and headings.
    least_own: float = 0.3
    # The factor of a term that only replies have, in the group.
    only_replied: float = 0.7
    # A longer term replaces a single word that it contains from this share of its score on.
    min_share_of_word: float = 0.4

    def at(self, place: Place) -> float:
        """What a term weighs at a place."""
        return (
            self.request, self.text, self.code, self.folder, self.title, self.marked, self.file,
            self.commit,
        )[place - 1]  # fmt: skip


class NameLimits(NamedTuple):
    """What is read for a name, and how many are offered."""

    max_chars: int = 60
    max_items: int = 60  # the latest members; more cost time and hardly change the name
    max_names: int = 6
    min_members: int = 2  # that have the term, unless there is only one
    # The share of the members that must have the term: below it, it names a part of them. More if
    # none of them has it where things are named: in a title, a heading, a file or a commit.
    min_share: float = 0.2
    min_share_in_text: float = 0.4


UNNAMED = "Unnamed"
_ASKED = ASKED | {Place.FILE, Place.FOLDER, Place.COMMIT}
_WEIGHTS = NameWeights()
_LIMITS = NameLimits()


class Name(NamedTuple):
    """A name of a concept, and the key of its term."""

    key: Key
    text: str

    @property
    def folded(self) -> str:
        """The same for the same name in other words: "OpenAI", "openai" and "OpenAI feature"."""
        words = [word for word in self.text.split() if not is_generic(word.lower())]
        return "".join(key_of(words) or self.key)


@dataclass(slots=True)
class _Found:
    """What was found of a term: its weights in the members that have it, and their titles."""

    weights: list[float] = field(default_factory=list[float])
    best: Place = Place.REQUEST
    is_asked: bool = False  # in a request, a file or a commit
    titles: set[str] = field(default_factory=set[str])

    @property
    def count(self) -> int:
        """The number of members that have the term."""
        return len(self.weights)

    def is_frequent(self, size: int, titles: int) -> bool:
        """Whether enough of `size` members have the term. If these have several titles, so must
        those with the term, or be more than half: a request that was made twice does not name
        the others."""
        if len(self.titles) < min(_LIMITS.min_members, titles) and self.count * 2 <= size:
            return False
        is_named = max(self.weights) >= min(_WEIGHTS.title, _WEIGHTS.marked, _WEIGHTS.file)
        share = _LIMITS.min_share if is_named else _LIMITS.min_share_in_text
        return self.count >= max(min(_LIMITS.min_members, size), share * size)


class _Scored(NamedTuple):
    """A name with its score and the number of members that have its term."""

    name: Name
    score: float
    members: int


class ConceptNamer:
    """Names the concepts of one bank. Each group is analysed once, though often asked for."""

    def __init__(self, items: Sequence[Item], project: str = "") -> None:
        """`items` are those of the whole bank; `project` is its name."""
        self._total = len(items)
        self._vocabulary = Vocabulary(items, project)
        self._places: dict[str, Mapping[Key, Place]] = {}
        self._cache: dict[tuple[str, ...], list[Name]] = {}

    def names(self, items: Sequence[Item]) -> list[Name]:
        """Names for a group of items, the best first; [] if nothing names them."""
        items = items[-_LIMITS.max_items :]
        key = tuple(item.uri for item in items)
        known = self._cache.get(key)
        if known is None:
            known = self._cache[key] = self._find_names(items)
        return known

    def _find_names(self, items: Sequence[Item]) -> list[Name]:
        found: defaultdict[Key, _Found] = defaultdict(_Found)
        for item in items:
            for key, place in self._terms(item).items():
                found[key].weights.append(_WEIGHTS.at(place))
                found[key].best = max(found[key].best, place)
                found[key].titles.add(item.title)
            for term in item.terms:
                if term.place in _ASKED:
                    for part in parts_of(term.key):
                        found[part].is_asked = True
        titles = len({item.title for item in items})
        asked = _asked_roots(items)
        scored = [
            _Scored(Name(key, text), self._score(key, text, own, len(items)), own.count)
            for key, own in found.items()
            if own.weights
            and own.is_frequent(len(items), titles)
            # What only the text of requests has, and neither a title nor a reply, was pasted.
            and (len(items) == 1 or own.best is not Place.REQUEST)
            and (text := self._name_text(key))
            and _is_about(text, asked)
        ]
        scored.sort(key=lambda one: (-one.score, one.name.text))
        names: dict[str, Name] = {}
        for one in _phrases_first(_without_fragments(scored)):
            names.setdefault(one.name.folded, one.name)
        return list(names.values())[: _LIMITS.max_names]

    def _terms(self, item: Item) -> Mapping[Key, Place]:
        known = self._places.get(item.uri)
        if known is None:
            known = self._places[item.uri] = self._vocabulary.places(item)
        return known

    def _name_text(self, key: Key) -> str:
        return self._vocabulary.spelling(key) if self._vocabulary.is_name(key) else ""

    def _score(self, key: Key, text: str, own: _Found, size: int) -> float:
        """How many members have a term and where, times factors for its rarity in the bank, its
        words, whether they are of the project's own, and whether people named it."""
        frequency = self._vocabulary.frequency(key)
        rarity = rarity_of(frequency, self._total) ** _WEIGHTS.rarity_exponent
        words = text.count(" ") + 1
        length = _WEIGHTS.by_words[min(words, len(_WEIGHTS.by_words)) - 1]
        if words == 1 and len(key) > 1:
            length = _WEIGHTS.identifier
        length *= _WEIGHTS.plain_word if is_plain_word(text) else 1
        length *= _WEIGHTS.plural_modifier if has_plural_modifier(text) else 1
        is_common_phrase = all(is_common(word.lower()) for word in text.split())
        length *= _WEIGHTS.common_words if is_common_phrase else 1
        length *= 1 if own.is_asked else _WEIGHTS.only_replied
        distinct = _between(_WEIGHTS.least_distinct, own.count / frequency)
        own_words = _between(_WEIGHTS.least_own, self._vocabulary.own_share(key))
        return round(sum(own.weights) / size * rarity * length * distinct * own_words, 6)


def _asked_roots(items: Sequence[Item]) -> set[str]:
    """The stems of what people asked for, changed and committed in some items, as against what
    only replies say."""
    found = {root for item in items for root in roots_of(without_error_messages(item.title))}
    found.update(
        root for item in items for term in item.terms if term.place in _ASKED for root in term.key
    )
    return found


def _is_about(text: str, asked: Set[str]) -> bool:
    """Whether people named something of a term, or it is a file: else it is a detail that replies
    mention."""
    words = text.split()
    telling = [word for word in words if not is_generic(word.lower())] or words
    return not asked.isdisjoint(key_of(telling)) or any(map(is_file, words))


def _between(least: float, share: float) -> float:
    return least + (1 - least) * share


def _without_fragments(scored: Sequence[_Scored]) -> list[_Scored]:
    """The same without terms that no member has outside of one longer term: "product tour" where
    all say "Packmind product tour"."""
    inside: set[tuple[Key, int]] = {
        (one.name.key[start:stop], one.members)
        for one in scored
        for start in range(len(one.name.key))
        for stop in range(start + 1, len(one.name.key) + 1)
        if stop - start < len(one.name.key)
    }
    return [one for one in scored if (one.name.key, one.members) not in inside]


def _phrases_first(scored: Sequence[_Scored]) -> list[_Scored]:
    """The same, with the best longer term before a single word that it contains."""
    found: list[_Scored] = []
    for one in scored:
        if len(one.name.key) == 1 and one not in found:
            root = one.name.key[0]
            longer = next((s for s in scored if len(s.name.key) > 1 and root in s.name.key), None)
            is_near = longer and longer.score >= _WEIGHTS.min_share_of_word * one.score
            if longer and is_near and longer not in found:
                found.append(longer)
        if one not in found:
            found.append(one)
    return found


def title_name(items: Sequence[Item]) -> str:
    """The title of the first member with a topic, for a concept that has no other name but is
    shown because a person decided about it."""
    titled = [item for item in items if item.has_topic] or list(items)
    return truncate(titled[0].title, _LIMITS.max_chars) if titled else UNNAMED
