"""First prompts: whether one states a goal, and how similar a text is to it.

Small talk, commands, machine text and very short prompts state none: there is nothing to search
for, and a brief would be noise. Similarity is measured by the words that a text shares: rare ones
weigh more, synonyms count in part. A prompt is not a query: most of its words describe the symptom,
and the decision that explains it need not contain them. So words that the memory does not know
count half, and words of every prompt a quarter. Many unknown words say that the matter is new.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from holdfast.language import STOPWORDS, code_names, stem, words
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.recall.query.expansion import Expansion, expand
from holdfast.recall.query.terms import Terms
from holdfast.regex import regex
from holdfast.sources.claude_code.prompts import read_prompt
from holdfast.store.protocol import Reader

_COMMAND = regex(r"^[/!#]\s?[A-Za-z][\w:.-]*(?=\s|$)")
# A goal has at least this many different words, so many of them rare or one name of code.
_MIN_WORDS = 3
_MIN_RARE_WORDS = 2
_MAX_PROMPT = 20_000
# What is read of a long prompt: most of a plan or a log matches everything by chance.
_HEAD_CHARACTERS = 500
_TAIL_CHARACTERS = 200
_CODE_BLOCK = regex(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
# The stems of words of many prompts: they name no subject, so sharing one means next to nothing.
# Written as `stem` gives them, because a hook would wait 2 ms for it.
_COMMON_STEMS = frozenset(
    (
        "abl actual add again ahead alreadi also alwai anoth answ anyth app applic around ask "
        "back bad best bet big bit bug build cas chang check clean cod com commit complet correct "
        "creat current dai different do doe easi edit end error everyth exist expect explain fail "
        "featur fil fin find first fix follow full funct giv good got great guid handl happen "
        "help idea impl implement improv includ instead issu keep know last lat leav lin list "
        "littl long look lot main mak mani mayb mean minut miss mov much nam need nev new next "
        "nic noth numb old open part peopl perhap plac plan point possibl problem project proper "
        "provid put quest read readi real reason refactor remov result return review right run "
        "sai second see seem set show sid simpl sinc singl small someth soon start step stop task "
        "tell test text thing think tim todai tomorrow tri two typ understand updat user wai wait "
        "week wheth whol without word work writ wrong year"
    ).split()
)


def goal_of(prompt: str) -> str:
    """The text of a prompt that states a goal, shortened if it is long; else ""."""
    read = read_prompt(prompt[:_MAX_PROMPT])
    text = read.text.strip()
    if read.skip is not None or not text or text.startswith("<"):
        return ""
    if _COMMAND.match(text):
        return ""
    distinct = {stem(word) for word in words(text) if word not in STOPWORDS}
    rare = {word for word in distinct if not is_common(word)}
    states_goal = len(distinct) >= _MIN_WORDS and (
        len(rare) >= _MIN_RARE_WORDS or code_names(text, 1)
    )
    return _head_and_tail(text) if states_goal else ""


def _head_and_tail(text: str) -> str:
    """The start and the end of a long prompt, where the goal is stated, without code blocks."""
    longest = _HEAD_CHARACTERS + _TAIL_CHARACTERS
    if len(text) <= longest:
        return text
    text = _CODE_BLOCK.sub("\n", text)
    head = text[:_HEAD_CHARACTERS].rpartition(" ")[0]
    tail = text[-_TAIL_CHARACTERS:].partition(" ")[2]
    return f"{head}\n{tail}" if len(text) > longest else text


# So many requests of so many content words that are the same were made by a saved command.
_TIMES_OF_COMMAND = 3
_WORDS_OF_COMMAND = 5
_REQUEST_CHARACTERS = 140


def request_names(title: str, details: str) -> tuple[str, ...]:
    """The title of an exchange, and how its request begins: of the same request an agent may say
    back something else each time, which is the title then."""
    label, _, request = details.partition("\n")[0].partition(": ")
    return (title, request[:_REQUEST_CHARACTERS]) if label == "Asked" else (title,)


def saved_commands(titles: Iterable[str]) -> frozenset[str]:
    """The titles among those of some requests that were asked for again and again, word for word: a
    saved command, which is about no subject. Short ones ("Continue") may go on with any."""
    times: dict[str, int] = {}
    for title in titles:
        times[title] = times.get(title, 0) + 1
    often = (title for title, count in times.items() if count >= _TIMES_OF_COMMAND)
    return frozenset(
        title
        for title in often
        if len({word for word in words(title) if word not in STOPWORDS}) >= _WORDS_OF_COMMAND
    )


def is_common(root: str) -> bool:
    """Whether a stem says nothing about a subject."""
    return len(root) < 3 or root in _COMMON_STEMS


# Counting stops here: a word in more passages is common, however many there are.
_MAX_COUNTED = 2000
_MAX_TEXT = 8000
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
# A memory of so many passages has most words of a prompt about a matter that it knows: of 40 such
# prompts to memories of 1,000 and 3,200, in nine of ten at most a third of the rare words is new.
_PASSAGES_WITH_WORDS = 800


class Overlap(NamedTuple):
    """What a text shares with a prompt: the share of the prompt's weight, and the number of words
    that are not common."""

    share: float
    rare_words: int


class PromptSimilarity:
    """Measures texts against one prompt."""

    def __init__(
        self, reader: Reader, bank: str, terms: Terms, has_most_words: int = _PASSAGES_WITH_WORDS
    ) -> None:
        """A memory of `has_most_words` passages has most words of a prompt that it can help."""
        size = max(2, reader.passages.count(bank, _MAX_COUNTED))
        counts = reader.passages.term_frequencies(bank, terms.words, _MAX_COUNTED)
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
        counted = zip(terms.words, counts, strict=True)
        unknown = {stem(word) for word, count in counted if not count} & self._rare
        # The share of the prompt's rare words that the memory has never seen: the more of them, the
        # newer the matter. A small memory has seen few words of any prompt.
        seen_much = min(1.0, size / has_most_words)
        self.unknown_share = seen_much * len(unknown) / max(1, len(self._rare))

    def stems(self, text: str) -> frozenset[str]:
        """The stems of a text, to be measured alone or with those of others."""
        if text not in self._stems:
            self._stems[text] = frozenset(map(stem, set(words(text[:_MAX_TEXT]))))
        return self._stems[text]

    def shared_with(self, text: str) -> Overlap:
        """What a text shares with the prompt."""
        return self.overlap(self.stems(text))

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
