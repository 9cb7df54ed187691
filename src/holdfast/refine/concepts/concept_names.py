"""Names for concepts: terms of the project's own vocabulary that are central to the members.

The best name is one that many members of a concept are about (`centrality`) and few other items of
the bank have, above all in titles, commits and names of files. A concept that has no such name is
not shown: a wrong name says less than none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from holdfast.language import truncate
from holdfast.refine.concepts.centrality import ABOUT, Subject
from holdfast.refine.concepts.items import Item, rarity_of
from holdfast.refine.concepts.process_words import is_process_stem
from holdfast.refine.concepts.terms import Key, Place, is_identifier, is_of_unknown_language, key_of
from holdfast.refine.concepts.vocabulary import BankNames, Vocabulary
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
    # Factors of terms that say less than a phrase: one word, an identifier of several words, and
    # words that many projects use.
    word: float = 0.6
    identifier: float = 0.55
    common_words: float = 0.7
    # Below 1, so that one very rare term does not outweigh one that recurs.
    rarity_exponent: float = 0.7
    # From a term that occurs everywhere in the bank to one that only this concept has.
    least_distinct: float = 0.4
    # The factor of a generic word of a name where its words are looked for in titles.
    generic_root: float = 0.5
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
    # How central a name must be to the members on average (`centrality`).
    min_central: float = 0.5
    few: int = 3  # of so many members, one that is about the name is enough
    # Different titles that must have a name, and those together with its uses by others than those
    # who ask, unless there is only one request.
    min_titles: int = 2
    min_titles_and_uses: int = 4
    # The share of the titles in the bank with the words of a name that its concept must have; more
    # for words that are written as any others, which may be about other things.
    min_own_titles: float = 0.4
    min_own_titles_of_words: float = 0.6
    # The share of the items with a name of one word that its concept must have.
    min_own_uses_of_word: float = 0.25
    # Members with different titles that must be about a name that names only a part of them.
    min_in_part: int = 2


UNNAMED = "Unnamed"
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

    @property
    def is_common(self) -> bool:
        """Whether it consists of words that many projects use."""
        return all(is_common(word.lower()) for word in self.text.split())

    @property
    def is_word(self) -> bool:
        """Whether it is one word, and no identifier."""
        return len(self.key) == 1 and not is_identifier(self.text)

    def is_in(self, title: str) -> bool:
        """Whether a title with the stems of the name has the name. In a language whose cases are
        not known it must have all of it, and one word is none."""
        if not is_of_unknown_language(self.text):
            return True
        return not self.is_word and self.text.lower() in title.lower()

    @property
    def is_plain(self) -> bool:
        """Whether it is written as any other words, and not as a name is, with capitals or as an
        identifier."""
        has_digit = any(map(str.isdigit, self.text))
        return self.text.islower() and not has_digit and not is_identifier(self.text)


class _Candidate(NamedTuple):
    """A term that some items have: its name, what it weighs in these, how central it is to each
    item, how many of these have a topic, and the titles of those that are about it."""

    name: Name
    weights: Sequence[float]
    central: Sequence[float]
    topical: int
    titles: Set[str]

    @property
    def share(self) -> float:
        """How central it is to the items on average."""
        return sum(self.central) / self.topical if self.topical else 0.0

    @property
    def is_told(self) -> bool:
        """Whether several items are about it. A request that was made twice does not name others,
        but it names a group that hardly has others."""
        about = sum(one >= ABOUT for one in self.central)
        return len(self.titles) > 1 or about * 2 > len(self.central)

    def names_all(self) -> bool:
        """Whether it names the items as a whole."""
        is_about = self.is_told if self.topical > _LIMITS.few else bool(self.titles)
        return is_about and self.share >= _LIMITS.min_central


class _Scored(NamedTuple):
    """A name with its score and the number of members that have its term."""

    name: Name
    score: float
    members: int


class ConceptNamer:
    """Names the concepts of one bank. Each group is analysed once, though often asked for."""

    def __init__(self, items: Sequence[Item], bank: BankNames | None = None) -> None:
        """`items` are those of the whole bank."""
        self._total = len(items)
        self._vocabulary = Vocabulary(items, bank)
        self._places: dict[str, Mapping[Key, Place]] = {}
        self._subjects: dict[str, Subject] = {}
        # The items that have a stem in their titles or commits.
        self._titled: defaultdict[str, set[str]] = defaultdict(set)
        for item in items:
            for root in self._subject(item).title:
                self._titled[root].add(item.uri)
        self._cache: dict[tuple[str, ...], list[Name]] = {}

    def names(self, items: Sequence[Item]) -> list[Name]:
        """Names for a group of items, the best first; [] if nothing names them."""
        items = items[-_LIMITS.max_items :]
        key = tuple(item.uri for item in items)
        known = self._cache.get(key)
        if known is None:
            known = self._cache[key] = self._find_names(items)
        return known

    def is_name_of(self, name: Name, items: Sequence[Item]) -> bool:
        """Whether a name is central enough to some items to name them."""
        items = items[-_LIMITS.max_items :]
        central = self._central(name, items)
        topical = sum(i.has_topic or c > 0 for i, c in zip(items, central, strict=True))
        return sum(central) >= _LIMITS.min_central * topical

    def proven_name(self, items: Sequence[Item]) -> Name | None:
        """The best name of a group of items, if it is worth showing. If it is not, the next best
        ones are even less: most of them are parts of it, or beside the point."""
        return next((one for one in self.names(items)[:1] if self._is_proven(one, items)), None)

    def _is_proven(self, name: Name, items: Sequence[Item]) -> bool:
        """Whether several requests or commits have a name, few of them outside of the items, and
        others than those who ask use it. A single request needs no more than its title."""
        if _is_single(items):
            return True
        having = set[str].intersection(*(self._titled[root] for root in name.key))
        own = [item for item in items if item.uri in having]
        share = _LIMITS.min_own_titles_of_words if name.is_plain else _LIMITS.min_own_titles
        titles = len({item.title for item in own if name.is_in(item.title)})
        uses = self._vocabulary.uses(name.key)
        if name.is_word:
            using = sum(name.key in self._terms(item) for item in items)
            if using < _LIMITS.min_own_uses_of_word * self._vocabulary.frequency(name.key):
                return False
        return (
            len(own) >= share * len(having)
            and titles >= _LIMITS.min_titles
            and uses > 0
            and titles + uses >= _LIMITS.min_titles_and_uses
        )

    def part(self, items: Sequence[Item], taken: Container[str]) -> list[Item]:
        """The items that the best name of some of them is about; [] if nothing names several.
        `taken` are names that others have, folded."""
        recent = items[-_LIMITS.max_items :]
        named = [
            one
            for one in self._candidates(recent)
            if len(one.titles) >= _LIMITS.min_in_part and one.name.folded not in taken
        ]
        if not named:
            return []
        best = min(named, key=lambda one: (-self._score(one, len(recent)), one.name.text))
        central = self._central(best.name, items)
        return [item for item, one in zip(items, central, strict=True) if one >= ABOUT]

    def _find_names(self, items: Sequence[Item]) -> list[Name]:
        """The terms that name the items. What a single request was about is named by its title, and
        not by words that many projects use."""
        single = _is_single(items)
        found = [
            one
            for one in self._candidates(items)
            if one.names_all() and not (single and not _is_title_of(one.name, items))
        ]
        scored = [
            _Scored(one.name, self._score(one, len(items)), len(one.weights)) for one in found
        ]
        scored.sort(key=lambda one: (-one.score, one.name.text))
        names: dict[str, Name] = {}
        for one in _phrases_first(_without_fragments(scored)):
            names.setdefault(one.name.folded, one.name)
        return list(names.values())[: _LIMITS.max_names]

    def _candidates(self, items: Sequence[Item]) -> Iterator[_Candidate]:
        """The terms that several of the items have, or the one if there is one."""
        found: defaultdict[Key, list[float]] = defaultdict(list)
        for item in items:
            for key, place in self._terms(item).items():
                found[key].append(_WEIGHTS.at(place))
        for key, weights in found.items():
            if len(weights) < min(_LIMITS.min_members, len(items)):
                continue
            if not self._vocabulary.is_name(key):
                continue
            name = Name(key, self._vocabulary.spelling(key))
            if not self._is_said(name, items):
                continue
            central = self._central(name, items)
            topical = sum(i.has_topic or c > 0 for i, c in zip(items, central, strict=True))
            titles = {i.title for i, c in zip(items, central, strict=True) if c >= ABOUT}
            yield _Candidate(name, weights, central, topical, titles)

    def _is_said(self, name: Name, items: Sequence[Item]) -> bool:
        """Whether somebody says a name, which is more than a file that is called so."""
        rarity = self._rarities(name)
        return any(self._subject(item).says(rarity) for item in items)

    def _central(self, name: Name, items: Sequence[Item]) -> list[float]:
        """How central a name is to each item."""
        rarity = self._rarities(name)
        # What only the body of a request has may have been pasted.
        unmentioned = (None, Place.REQUEST)
        return [
            self._subject(i).centrality(rarity, self._terms(i).get(name.key) not in unmentioned)
            for i in items
        ]

    def _terms(self, item: Item) -> Mapping[Key, Place]:
        known = self._places.get(item.uri)
        if known is None:
            known = self._places[item.uri] = self._vocabulary.places(item)
        return known

    def _subject(self, item: Item) -> Subject:
        known = self._subjects.get(item.uri)
        if known is None:
            known = self._subjects[item.uri] = Subject.of(item)
        return known

    def _rarities(self, name: Name) -> dict[str, float]:
        """The rarity of each stem of a name in the bank, less for generic ones."""
        return {
            root: self._vocabulary.rarity(root)
            * (_WEIGHTS.generic_root if is_generic(root) or is_process_stem(root) else 1)
            for root in key_of(name.text.split())
        }

    def _score(self, one: _Candidate, size: int) -> float:
        """How central a term is, how many members have it and where, times factors for its rarity
        in the bank, and its words."""
        key, text = one.name
        frequency = self._vocabulary.frequency(key)
        rarity = rarity_of(frequency, self._total) ** _WEIGHTS.rarity_exponent
        form = 1.0 if " " in text else _WEIGHTS.word if len(key) == 1 else _WEIGHTS.identifier
        form *= _WEIGHTS.common_words if one.name.is_common else 1
        in_group = len(one.weights) / frequency
        distinct = _WEIGHTS.least_distinct + (1 - _WEIGHTS.least_distinct) * in_group
        found = one.share * sum(one.weights) / size
        return round(found * rarity * form * distinct, 6)


def _is_single(items: Iterable[Item]) -> bool:
    """Whether some items hold only one request that says what it is about."""
    return sum(item.has_topic and not item.is_report for item in items) < 2


def _is_title_of(name: Name, items: Sequence[Item]) -> bool:
    """Whether a title has a name that says more than words of many projects do."""
    told = [set(term.key) for i in items for term in i.terms if term.place is Place.TITLE]
    return not name.is_common and any(told_words.issuperset(name.key) for told_words in told)


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
