"""The items that are grouped into concepts: exchanges and memories with their features.

Features are files, file topics, folders, names of code and stems. A changed file weighs more than
one that was only read, and a file that every project has weighs next to nothing. Words of the work
process ("commit", "lint", "review") say how the work was done, not what it was about. In a bank
rare features weigh more (inverse document frequency), on a coarse scale, so that weights, and with
them the concepts, stay the same when a bank grows by a few records.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from holdfast.language import STOPWORDS, code_names, split_identifier, stem, words
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Memory
from holdfast.model.records import Exchange, Outcome
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.refine.concepts.file_names import file_topic, file_weight, is_index, normalise_path
from holdfast.refine.concepts.process_words import is_process_stem
from holdfast.refine.concepts.terms import (
    ASKED,
    Key,
    Place,
    Term,
    commit_terms,
    file_term,
    find_terms,
)
from holdfast.refine.core.keywords import COMMON_WORK_WORDS, extract_keywords
from holdfast.refine.core.passages import exchange_text
from holdfast.refine.core.signals import COMMITTED, is_commit
from holdfast.regex import regex


class ItemWeights(NamedTuple):
    """What a feature weighs before its rarity in the bank is considered. Only the ratios matter:
    they say which features decide that two items belong together."""

    changed_file: float = 1.0
    read_file: float = 0.35
    # Relative to the file itself:
    file_topic: float = 0.7  # "nightly" of src/test_nightly.py
    folder: float = 0.35
    keyword: float = 1.0
    code_name: float = 1.2
    title_word: float = 0.8
    process_word: float = 0.1  # relative to any other word


class ItemLimits(NamedTuple):
    """What is read of a record, and what makes it one of its own topic."""

    max_files: int = 30
    max_names: int = 6
    max_memory_keywords: int = 8
    max_title_chars: int = 200  # of a memory, which has no title of its own
    max_text_chars: int = 600
    # The sum of all weights from which an exchange says what it is about; below it ("commit this",
    # "go ahead") it belongs to the exchange before it.
    min_weight_of_topic: float = 2.0
    # One exchange of so many turns and changed files is a concept by itself (docs/concepts.md).
    large_turns: int = 40
    large_files: int = 3


_WEIGHTS = ItemWeights()
_LIMITS = ItemLimits()
_ADDRESS = regex(r"\b\w+://\S+")
# The sections of the details of an exchange, as `refine/sessions/exchanges.py` writes them.
_SECTION = regex(r"\n(?=(?:Changed|Failed|Result): )")
_SECTION_LABEL = regex(r"^(?:Asked|Result): ")
# How an agent reports to the one that gave it a task: "Task #4 (dashboard) is done".
_REPORT = regex(
    r"^\W*task\b(?: #?\w+)?(?: \([^)\n]*\))?:?(?: (?:is|was|are|were|now|already|has been))*"
    r" (?:done|completed?|finished)\b",
    re.IGNORECASE,
)
_MACHINE_SECTIONS = ("Changed: ", "Failed: ")
_REQUEST_LABEL = "Asked: "


@dataclass(frozen=True, slots=True)
class Item:
    """One exchange or memory. `founded_id` is the id of the concept that it would found. `files`
    and `words` are its features with their weights. `has_topic` is false if it does not say what it
    is about, as "commit this" or "go ahead"."""

    uri: str
    founded_id: str
    kind: str
    time: str
    session: str
    seq: int
    trust: Trust
    title: str
    text: str
    files: Mapping[str, float]
    words: Mapping[str, float]
    changed_files: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    commit_subjects: tuple[str, ...] = ()
    outcome: str = ""
    is_large: bool = False
    hash: str = ""
    has_topic: bool = True
    terms: tuple[Term, ...] = ()

    @property
    def is_report(self) -> bool:
        """Whether it only reports that a task is done."""
        return _REPORT.match(self.title) is not None

    @property
    def order(self) -> tuple[str, str, int, str]:
        """The sort key of time; items without a time come first."""
        return self.time, self.session, self.seq, self.uri


def concept_id(founder: str) -> str:
    """The id of the concept that a record founds."""
    return content_id("concept", founder)


class TextFeatures(NamedTuple):
    """What is read from the texts and files of an exchange: most of the time that an item takes."""

    files: Mapping[str, float]
    words: Mapping[str, float]
    terms: tuple[Term, ...]

    @classmethod
    def read(cls, exchange: Exchange) -> TextFeatures:
        """Read the texts of an exchange."""
        x = exchange
        return cls(
            _file_features(x.files_modified, x.files_read),
            _word_features(x.keywords, x.title, " ".join(filter(None, (x.title, x.summary)))),
            _exchange_terms(x, _commit_subjects(x)),
        )

    @classmethod
    def from_json(cls, text: str) -> TextFeatures:
        """The features that `to_json` wrote."""
        files, words, terms = json.loads(text)
        return cls(files, words, tuple(Term(tuple(k), s, Place(p), n) for k, s, p, n in terms))

    def to_json(self) -> str:
        """All of it as text."""
        return json.dumps(self, separators=(",", ":"))


def text_fingerprint(exchange: Exchange, version: int) -> str:
    """The same for the same texts and files, as long as the rules have the same version."""
    x = exchange
    read = (x.title, x.summary, x.details, x.facts, x.keywords, x.files_read, x.files_modified)
    return content_id(str(version), repr(read))


def _commit_subjects(exchange: Exchange) -> list[str]:
    return [fact.removeprefix(COMMITTED) for fact in exchange.facts if is_commit(fact)]


def exchange_item(exchange: Exchange, features: TextFeatures | None = None) -> Item:
    """The item of an exchange. `features` are those of its texts, if they are known."""
    x = exchange
    name = uri("exchange", x.id)
    files, words, terms = features or TextFeatures.read(x)
    is_long = x.last_seq - x.first_seq >= _LIMITS.large_turns
    changes_own_file = any(weight >= _WEIGHTS.changed_file for weight in files.values())
    names_topic = changes_own_file or any(not is_process_stem(s) for s in _stems(x.title))
    weight = sum(files.values()) + sum(words.values())
    return Item(
        name, concept_id(name), "exchange", x.started, x.session, x.first_seq, x.trust, x.title,
        x.summary, files, words,
        tuple(map(normalise_path, x.files_modified)), x.keywords, tuple(_commit_subjects(x)),
        "" if x.outcome is Outcome.OPEN else x.outcome.value,
        is_long and len(x.files_modified) >= _LIMITS.large_files,
        content_id(exchange_text(x)), names_topic and weight >= _LIMITS.min_weight_of_topic,
        terms,
    )  # fmt: skip


def memory_item(memory: Memory) -> Item:
    """The item of a remembered text."""
    m = memory
    name = uri("memory", m.id)
    title, text = m.what[: _LIMITS.max_title_chars], m.what[: _LIMITS.max_text_chars]
    keywords = extract_keywords(m.what, "", (), _LIMITS.max_memory_keywords)
    paths = [word for word in code_names(m.what) if "/" in word or "." in word]
    return Item(
        name, concept_id(name), "memory", m.when, "", 0, m.trust, title, text,
        _file_features(paths, ()), _word_features(keywords, title, text), (), keywords,
        hash=content_id(m.what), terms=_best_places(find_terms(m.what, Place.TEXT)),
    )  # fmt: skip


def _exchange_terms(exchange: Exchange, subjects: Iterable[str]) -> tuple[Term, ...]:
    """The terms of an exchange: of its title, texts, commits and changed files."""
    x = exchange
    found = list(find_terms(x.title, Place.TITLE))
    # The summary is taken from the reply, which the details quote.
    for text in _SECTION.split(x.details) if x.details else (x.summary,):
        if not text.startswith(_MACHINE_SECTIONS):
            place = Place.REQUEST if text.startswith(_REQUEST_LABEL) else Place.TEXT
            found += find_terms(_SECTION_LABEL.sub("", text), place)
    for subject in subjects:
        found += commit_terms(subject)
    for path in x.files_modified[: _LIMITS.max_files]:
        file = normalise_path(path)
        if file_weight(file) >= 1:
            found += file_term(file_topic(file))
        if file_weight(file) >= 1 or is_index(file):
            found += file_term(_folder_name(file), Place.FOLDER)
    return _best_places(found)


def _folder_name(file: str) -> str:
    """The name of the folder of a file; "" for one that tools hide their files in."""
    name = file.rpartition("/")[0].rpartition("/")[2]
    return "" if name.startswith(".") else name


def _best_places(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Each spelling of a term once, with the place that says most, but apart what was asked, told
    and marked."""
    best: dict[tuple[Key, str, bool, bool], Term] = {}
    for term in terms:
        key = (term.key, term.spelling, term.place in ASKED, term.place is Place.MARKED)
        known = best.get(key)
        if known is None or (term.place, term.is_shown) > (known.place, known.is_shown):
            best[key] = term
    return tuple(best.values())


def _file_features(changed: Iterable[str], read: Iterable[str]) -> dict[str, float]:
    """Files ("f"), their topics ("r") and their folders ("d"), with weights."""
    found: dict[str, float] = {}
    for paths, base in ((changed, _WEIGHTS.changed_file), (read, _WEIGHTS.read_file)):
        for path in list(paths)[: _LIMITS.max_files]:
            file = normalise_path(path)
            weight = base * file_weight(file)
            _keep_highest(found, f"f {file}", weight)
            topic = file_topic(file)
            if topic and weight >= base:
                _keep_highest(found, f"r {topic.lower()}", weight * _WEIGHTS.file_topic)
            folder = file.rpartition("/")[0]
            if folder and weight >= base:
                _keep_highest(found, f"d {folder}", weight * _WEIGHTS.folder)
    return found


def _word_features(keywords: Sequence[str], title: str, text: str) -> dict[str, float]:
    """Stems of keywords and of the title, and names of code ("n"), with weights."""
    found: dict[str, float] = {}
    for keyword in keywords:
        for one in _stems(keyword):
            _keep_highest(found, one, _WEIGHTS.keyword * _process_factor(one))
    for name in code_names(text, _LIMITS.max_names):
        if not name.islower() or "_" in name:
            _keep_highest(found, f"n {name.lower()}", _WEIGHTS.code_name)
    for one in _stems(title):
        _keep_highest(found, one, _WEIGHTS.title_word * _process_factor(one))
    return found


def _stems(text: str) -> list[str]:
    """The stems of the content words of a text; of `parentBackground` also those of its parts."""
    text = _ADDRESS.sub(" ", text)
    all_words = words(
        " ".join(
            (text, *(" ".join(split_identifier(w)) for w in text.split() if _is_camel_case(w)))
        )
    )
    content = [
        w
        for w in dict.fromkeys(all_words)
        if len(w) > 2 and w not in STOPWORDS and w not in COMMON_WORK_WORDS and not w.isdigit()
    ]
    return [stem(word) for word in content]


def _is_camel_case(word: str) -> bool:
    return any(a.islower() and b.isupper() for a, b in pairwise(word))


def _process_factor(stem: str) -> float:
    return _WEIGHTS.process_word if is_process_stem(stem) else 1.0


def _keep_highest(found: dict[str, float], feature: str, weight: float) -> None:
    found[feature] = max(weight, found.get(feature, 0.0))


class RarityScale(NamedTuple):
    """The scale of rarity, in powers of two of the share of items that have a feature."""

    highest: float = 5.0  # features rarer than that all weigh the same
    lowest: float = 0.05  # a feature that every item has weighs next to nothing
    # Factor of a feature that a single item has. It cannot join that item to another, but it makes
    # the shared features a smaller part of the item.
    unshared_factor: float = 0.5
    # Added to the number of items, so that in a small bank a feature is not taken for common after
    # a few occurrences.
    smoothing: int = 8


_SCALE = RarityScale()


class Features(NamedTuple):
    """The features of an item with their weights in this bank."""

    files: Mapping[str, float]
    words: Mapping[str, float]


class FeatureWeights:
    """The weights of the features of some items."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._frequency: Counter[str] = Counter()
        self._total = 0
        self._rarity: dict[str, float] = {}
        for item in items:
            self._frequency.update(item.files.keys())
            self._frequency.update(item.words.keys())
            self._total += 1

    def frequency(self, feature: str) -> int:
        """The number of items that have a feature."""
        return self._frequency[feature]

    def rarity(self, feature: str) -> float:
        """The rarity of a feature, from `lowest` to `highest`, in halves."""
        known = self._rarity.get(feature)
        if known is None:
            known = self._rarity[feature] = rarity_of(self._frequency[feature], self._total)
        return known

    def weigh(self, item: Item) -> Features:
        """The features of an item with their weights in this bank."""
        return Features(self._weighed(item.files), self._weighed(item.words))

    def _weighed(self, features: Mapping[str, float]) -> dict[str, float]:
        return {
            feature: weight
            * self.rarity(feature)
            * (_SCALE.unshared_factor if self._frequency[feature] < 2 else 1)
            for feature, weight in features.items()
        }


def rarity_of(frequency: int, total: int) -> float:
    """The rarity of what `frequency` of `total` items have, on a scale in halves."""
    raw = math.log2((_coarse(total) + _SCALE.smoothing) / (_coarse(frequency) + 1))
    return min(_SCALE.highest, max(_SCALE.lowest, round(raw * 2) / 2))


def _coarse(number: int) -> float:
    """The number rounded to a quarter power of two."""
    return number if number < 4 else 2 ** (round(math.log2(number) * 4) / 4)
