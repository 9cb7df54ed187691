"""The vocabulary of a bank: the terms of its items, how often they occur and how they are written.

A name for a concept must be a term that stands alone somewhere in the bank: "stop support" does
not, if it only ever occurs in "gradient stop support". The vocabulary of the project itself are the
words of its files, symbols, headings and commits.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from holdfast.language import split_identifier
from holdfast.refine.concepts.items import Item, rarity_of
from holdfast.refine.concepts.terms import (
    ASKED,
    Key,
    Place,
    Term,
    is_identifier,
    is_of_unknown_language,
    is_short_cjk,
    is_specific,
    key_of,
    names_thing,
)
from holdfast.refine.core.word_classes import WordClass, is_common, word_class

# Places where a project names its parts, as against prose.
_PATHS = frozenset((Place.FILE, Place.FOLDER))
_NAMING_PLACES = _PATHS | {Place.CODE, Place.MARKED, Place.COMMIT}
# Where somebody uses a term who neither asks nor quotes code.
_USING_PLACES = _PATHS | {Place.TEXT, Place.MARKED, Place.COMMIT}

# What a spelling counts that shows how the project writes a term, relative to one at the start of a
# sentence. A phrase that was written once is not the spelling of an identifier.
_SHOWN_WEIGHT = 4

_SHORT_ACRONYM = 3
# Shorter names are in those of projects by chance.
_MIN_PROJECT_LETTERS = 6


class BankNames(NamedTuple):
    """Names that are known from elsewhere and name no concept: that of the project, and those of
    the agents and people who speak in its sessions."""

    project: str = ""
    speakers: Sequence[str] = ()


def parts_of(key: Key) -> Iterator[Key]:
    """A key and all terms that may be inside of it."""
    for start in range(len(key)):
        for stop in range(start + 1, len(key) + 1):
            yield key[start:stop]


class Vocabulary:
    """The terms of some items."""

    def __init__(self, items: Sequence[Item], bank: BankNames | None = None) -> None:
        project, speakers = bank or BankNames()
        self._total = len(items)
        self._whole: Counter[Key] = Counter()
        self._words: Counter[str] = Counter()
        self._own_words: set[str] = set()
        self._paths: set[Key] = set()
        self._said: set[Key] = set()
        self._spellings: defaultdict[Key, Counter[str]] = defaultdict(Counter)
        self._forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._project: set[str] = set(key_of([*split_identifier(project), project]))
        self._project_letters = _letters(project)
        self._speakers = {key_of(speaker.split()) for speaker in speakers}
        # Words of a request that was made twice count once: they may be slips of the pen, unless
        # the reply has them, too.
        asked: defaultdict[str, set[str]] = defaultdict(set)
        for item in items:
            self._add(item.terms)
            for term in item.terms:
                if term.place in ASKED:
                    asked[item.title].update(term.key)
            self._words.update({r for t in item.terms if t.place not in ASKED for r in t.key})
        for words in asked.values():
            self._words.update(words)
        self._frequency: Counter[Key] = Counter()
        self._uses: Counter[Key] = Counter()
        for item in items:
            self._frequency.update(self.places(item).keys())
            used = {term.key for term in item.terms if term.place in _USING_PLACES}
            self._uses.update({part for key in used for part in parts_of(key)})

    def _add(self, terms: Sequence[Term]) -> None:
        keys = {term.key for term in terms}
        self._whole.update(keys)
        for term in terms:
            if term.place in _NAMING_PLACES:
                self._own_words.update(term.key)
            if term.place in _PATHS:
                self._paths.add(term.key)
            if term.place is not Place.MARKED or is_of_unknown_language(term.spelling):
                self._said.update(parts_of(term.key))
            self._spellings[term.key][term.spelling] += _SHOWN_WEIGHT if term.is_shown else 1
            if term.is_shown:
                for word in term.spelling.split():
                    self._forms[word.lower()][word] += 1

    def places(self, item: Item) -> dict[Key, Place]:
        """The terms of an item, also those inside of longer ones, each with its best place."""
        found: dict[Key, Place] = {}
        for key, _, place, _ in item.terms:
            for part in parts_of(key):
                if part in self._whole:
                    found[part] = max(place, found.get(part, place))
        return found

    def rarity(self, root: str) -> float:
        """The rarity of a word in the bank."""
        return rarity_of(self._words[root], self._total)

    def frequency(self, key: Key) -> int:
        """The number of items that have a term."""
        return self._frequency[key]

    def uses(self, key: Key) -> int:
        """The number of items that use a term outside of requests and code: in the agent's words, a
        commit or the name of a file. Requests alone have slips of the pen, and pasted text."""
        return self._uses[key]

    def is_name(self, key: Key) -> bool:
        """Whether a term can name a concept: it stands alone somewhere, its words are no slips of
        the pen, it is more than a heading over paragraphs, and it is not the project itself, nor
        one of those who speak in it."""
        if not self._whole[key] or key not in self._said or key in self._speakers:
            return False
        if any(self._words[root] < 2 and root not in self._own_words for root in key):
            return False
        words = self.spelling(key).split()
        letters = _letters("".join(words))
        if len(letters) >= _MIN_PROJECT_LETTERS and letters in self._project_letters:
            return False
        if self._project.intersection(key):
            return is_specific([part for word in words for part in self._beside_project(word)])
        if len(key) == 1:
            return is_specific(words) and self._is_word_name(key)
        if len(words) == 1 and is_common(words[0].lower()):
            return False
        return (key in self._paths and names_thing(words)) or is_specific(words)

    def _beside_project(self, word: str) -> list[str]:
        """What a word says beside the name of the project: of `HarbourWeb`, "Web"."""
        parts = split_identifier(word) if is_identifier(word) else [word]
        return [part for part in parts if not self._project.issuperset(key_of([part]))]

    def _is_word_name(self, key: Key) -> bool:
        """Whether a single word is a name: a file or a scope has it, or it is written with
        capitals, and no list of words knows it."""
        text = self.spelling(key)
        if word_class(text.lower()) is not WordClass.NOUN or text.lower().endswith("ing"):
            return False
        if key in self._paths:
            return True
        # "PRD" and "LTS" say less than the phrases that they are in.
        is_short = is_short_cjk(text) or (text.isupper() and len(text) <= _SHORT_ACRONYM)
        # Nor do words of other languages in the case of their sentence: "задач".
        return not is_short and not text.islower()

    def spelling(self, key: Key) -> str:
        """A term as the project writes it most often; words before identifiers."""
        counts = self._spellings[key]
        phrases = {s: n for s, n in counts.items() if " " in s and n > _SHOWN_WEIGHT}
        best = min(phrases or counts, key=lambda s: (-counts[s], s))
        is_shown = counts[best] >= _SHOWN_WEIGHT
        return " ".join(self._form(word, is_shown) for word in best.split())

    def _form(self, word: str, is_shown: bool) -> str:
        """A word as it is written most often, if that is a spelling of its own, as "LangSmith" or
        "CI"; else as it stands, or in lower case if it only starts sentences."""
        forms = self._forms.get(word.lower())
        most = min(forms, key=lambda form: (-forms[form], form)) if forms else word
        if is_identifier(most) or most.isupper():
            return most
        if is_shown or is_identifier(word) or word.isupper():
            return word
        return most if forms else word.lower()


def _letters(name: str) -> str:
    return "".join(filter(str.isalpha, name)).lower()
