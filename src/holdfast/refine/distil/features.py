"""Describes a statement in numbers, for the selector: who said it and where, its form and words,
and how much of it the rest of the session is about.

The order of the numbers is part of the trained weights: whoever changes it trains the selector
again (tools/train_selector.py).
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice, pairwise
from typing import NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

from holdfast.language import STOPWORDS, stem, words
from holdfast.refine.distil.statements import (
    Statement,
    find_rules,
    find_statements,
    split_blocks,
)
from holdfast.refine.distil.utterances import Place, Utterance
from holdfast.regex import regex

Numbers = npt.NDArray[np.float32]

# Into so many buckets the words of a statement are hashed.
BUCKETS = 1 << 14


class Candidate(NamedTuple):
    """A statement that may be worth remembering, and the number of its utterance."""

    utterance: int
    statement: Statement


class Cue:
    """Words and phrases of which a sentence may have one. Most sentences have none of the `hints`,
    one of which is in every phrase, so that no pattern is searched for."""

    def __init__(self, words: str, hints: Sequence[str] = (), phrases: str = "") -> None:
        self.words = frozenset(words.split())
        self.hints = hints
        self.phrases = regex(phrases)

    def is_in(self, low: str, words: frozenset[str]) -> bool:
        """Whether a sentence, in lower case and as its words, has one."""
        if not self.words.isdisjoint(words):
            return True
        return any(hint in low for hint in self.hints) and self.phrases.search(low) is not None


CUES = (
    Cue(
        "because reason",
        ("root cause", "caused by", "turn", "due to", "issue", "problem", "bug", "culprit"),
        r"\b(?:root cause|caused by|turns? out|due to|"
        r"the (?:issue|problem|bug|culprit) (?:is|was))\b",
    ),
    Cue("fix fixed fixes resolved solved corrected"),
    Cue(
        "always never must should ensure only prefer instead",
        ("do not", "don", "make sure", "from now on"),
        r"\b(?:do not|don.t|make sure|from now on)\b",
    ),
    Cue(
        "decision agreed chose keep option approach",
        ("decid", "go with", "let", "we", "rather than", "instead of"),
        r"\b(?:decid\w*|go with|let.s|we(?:.ll| will)|rather than|instead of)\b",
    ),
    Cue(
        "added implemented created updated removed replaced renamed merged pushed committed opened "
        "completed now"
    ),
    Cue(
        "todo remaining left later still pending future",
        ("follow", "next step", "not yet", "out of scope"),
        r"\b(?:follow.?up|next step|not yet|out of scope)\b",
    ),
    Cue(
        "next",
        ("ll", "i will", "let", "m going", "now i", "i need to", "going to"),
        r"\b(?:i.ll|i will|let me|i.m going|now i|i need to|let.s|going to)\b",
    ),
    Cue("i you my your me"),
    Cue("test tests pass passes passed passing fail fails failed failing green ci build"),
    Cue(
        "is are was were use uses has have return returns require requires support supports work "
        "works means live lives run runs need needs"
    ),
    Cue("not no without cannot", ("n't",), r"n't\b"),
)
_CAUSE, _RULE, _DONE, _FUTURE = 0, 2, 4, 6
_LEADS = tuple(
    regex(pattern, re.IGNORECASE)
    for pattern in (
        r"summary|result|what (?:was|i)|change|done|fix|implement",
        r"cause|problem|issue|bug|why|finding",
        r"next|remain|todo|follow|later|open|future",
        r"decision|approach|design|rule|constraint|require",
    )
)
_CODE = regex(r"`[^`]+`|\b\w+[._/]\w+|\b[a-z]+[A-Z]\w+|--\w+")
# More names of code than this tell nothing more.
_MOST_CODE = 3
_TOKEN = regex(r"[a-z][a-z']+|[!?:→✅`]|\d+", re.IGNORECASE)
_WHOLE_WORD = regex(r"\w+")
_stem = lru_cache(maxsize=50_000)(stem)
# Statements overlap, and several modules ask for the words of each: a session has a few hundred
# sentences, and a message is read with each statement beside it. Longer texts are pasted.
_KEPT_TEXTS = 4096
_MAX_KEPT_CHARACTERS = 4_000


def find_candidates(utterances: Sequence[Utterance]) -> list[Candidate]:
    """The statements of all utterances, in order; of people's, also each list of rules."""
    return [
        Candidate(number, statement)
        for number, utterance in enumerate(utterances)
        for statement in (
            *find_statements(utterance.text),
            *(find_rules(utterance.text) if utterance.is_person else ()),
        )
    ]


class _Sentence(NamedTuple):
    """What is read of a sentence, which is part of up to four statements: its words without stop
    words, its tokens and their buckets, those of its pairs, which cues it has, and whether there is
    a digit in it."""

    words: frozenset[str]
    tokens: Sequence[str]
    buckets: Sequence[int]
    pairs: Sequence[int]
    cues: tuple[bool, ...]
    has_digit: bool


@lru_cache(_KEPT_TEXTS)
def _read_sentence(text: str) -> _Sentence:
    low = text.lower()
    tokens: list[str] = _TOKEN.findall(low)
    whole = frozenset(_WHOLE_WORD.findall(low))
    return _Sentence(
        content_words(text),
        tokens,
        [_bucket(token) for token in tokens],
        [_bucket(f"{one} {other}") for one, other in pairwise(tokens)],
        tuple(cue.is_in(low, whole) for cue in CUES),
        any(map(str.isdigit, text)),
    )


def _bucket(token: str) -> int:
    return crc32(token.encode()) % BUCKETS


def sentences_of(
    utterances: Sequence[Utterance], candidates: Sequence[Candidate]
) -> list[Sequence[str]]:
    """The sentences of each candidate; a list of rules counts as one. No word, cue or token reaches
    over the end of a sentence, so a statement has those of its sentences."""
    of_messages: dict[int, list[str]] = {}
    found: list[Sequence[str]] = []
    for number, statement in candidates:
        if number not in of_messages:
            split = split_blocks(utterances[number].text)
            of_messages[number] = [sentence for _, parts in split for sentence in parts]
        start = statement.position
        own = of_messages[number][start : start + statement.length]
        found.append(own if " ".join(own) == statement.text else (statement.text,))
    return found


def describe(
    utterances: Sequence[Utterance],
    candidates: Sequence[Candidate],
    sentences: Sequence[Sequence[str]] = (),
) -> Numbers:
    """One row of numbers for each candidate. `sentences`: those of each, where they are known."""
    sentences = sentences or sentences_of(utterances, candidates)
    read = [list(map(_read_sentence, own)) for own in sentences]
    session = _SessionWords(utterances, candidates, read)
    last = max((n for n, u in enumerate(utterances) if not u.is_person), default=-1)
    rows = [
        (*_form(utterances, candidate, own, last), *session.describe(number))
        for number, (candidate, own) in enumerate(zip(candidates, read, strict=True))
    ]
    return np.array(rows, np.float32).reshape(len(candidates), -1)


def _form(
    utterances: Sequence[Utterance], candidate: Candidate, read: Sequence[_Sentence], last: int
) -> tuple[float, ...]:
    """Who said it, where, and in what form."""
    number, s = candidate
    u = utterances[number]
    length, count = len(s.text.split()), len(utterances)
    share = number / max(1, count - 1)
    is_closing = u.place is Place.CLOSING
    cues = [any(has) for has in zip(*(r.cues for r in read), strict=True)]
    message = math.log1p(len(u.text))
    code = sum(1 for _ in islice(_CODE.finditer(s.text), _MOST_CODE))
    return (
        u.is_person, is_closing, number == last, share, share > 0.9, number == 0,
        math.log1p(count), s.position / (s.total - 1) if s.total > 1 else 0, s.position == 0,
        s.position >= s.total - s.length, math.log1p(s.total), s.is_item, s.is_whole,
        s.length > 1, math.log1p(length), length < 6, length > 35, "?" in s.text[-3:],
        s.text.endswith(":"), code, "**" in s.text, any(r.has_digit for r in read),
        bool(s.lead), message, u.place is Place.PLAN, u.place in (Place.ANSWER, Place.REFUSAL),
        u.place is Place.REPORT, u.place is Place.COMMIT, u.place is Place.NOTE,
        u.place in (Place.SUMMARY, Place.FIX), u.place in (Place.TASK, Place.CORRECTION),
        *_describe_lead(s.lead), *cues, u.is_person and cues[_RULE],
        not u.is_person and cues[_FUTURE], is_closing and cues[_DONE],
        is_closing and cues[_CAUSE], u.is_person * message, u.is_person and s.is_item,
    )  # fmt: skip


@lru_cache(_KEPT_TEXTS)
def _describe_lead(text: str) -> tuple[bool, ...]:
    return tuple(lead.search(text) is not None for lead in _LEADS)


def content_words(text: str) -> frozenset[str]:
    """The stems of a text, without stop words."""
    return _kept_words(text) if len(text) <= _MAX_KEPT_CHARACTERS else _find_words(text)


def _find_words(text: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in words(text) if word not in STOPWORDS)


_kept_words = lru_cache(_KEPT_TEXTS)(_find_words)


class _SessionWords:
    """In how many messages of a session each word occurs."""

    def __init__(
        self,
        utterances: Sequence[Utterance],
        candidates: Sequence[Candidate],
        read: Sequence[Sequence[_Sentence]],
    ) -> None:
        """`read`: the sentences of each candidate."""
        self._said_in = [utterances[candidate.utterance] for candidate in candidates]
        self._words = [
            own[0].words if len(own) == 1 else frozenset[str]().union(*(r.words for r in own))
            for own in read
        ]
        by_message: dict[int, set[str]] = defaultdict(set)
        for candidate, own in zip(candidates, self._words, strict=True):
            by_message[candidate.utterance] |= own
        in_messages = Counter(w for own in by_message.values() for w in own)
        in_closings = Counter(
            word
            for number, own in by_message.items()
            if utterances[number].place is Place.CLOSING
            for word in own
        )
        request = by_message.get(min(by_message, default=0), set())
        by_people = {
            word
            for number, own in by_message.items()
            if utterances[number].is_person
            for word in own
        }
        count = max(1, len(by_message))
        # The numbers of each word; those of a statement are the means.
        self._numbers = {
            word: (
                math.log(n),
                n >= 2,
                n / count,
                word in request,
                word in by_people,
                math.log1p(in_closings[word]),
                math.log1p(max(0, in_closings[word] - 1)),
                n >= 0.3 * count,
                n == 1,
            )
            for word, n in in_messages.items()
        }

    def describe(self, number: int) -> tuple[float, ...]:
        """How much of a candidate the rest of the session is about."""
        own = self._words[number]
        if not own:
            return (0.0,) * 9
        size = len(own)
        (often, again, share, asked, by_people, closings, other_closings, in_many, once) = (
            sum(values) / size
            for values in zip(*[self._numbers[word] for word in own], strict=True)
        )
        utterance = self._said_in[number]
        return (
            often,
            again,
            share,
            asked,
            -0.1 if utterance.is_person else by_people,
            other_closings if utterance.place is Place.CLOSING else closings,
            math.log1p(size),
            in_many,
            once,
        )


def hashed_words(
    statement: Statement, is_person: bool, sentences: Sequence[str] = ()
) -> dict[int, float]:
    """The words and pairs of words of a statement as buckets with weights, of length one.
    `sentences`: those that the statement is made of, which are then read once for all."""
    texts = [*(sentences or (statement.text,))]
    if statement.lead:
        texts.append(f"lead {statement.lead}")
    last = "<person>" if is_person else "<agent>"
    buckets, pairs = [_bucket(last)], list[int]()
    for read in map(_read_sentence, texts):
        if read.tokens:
            pairs.append(_bucket(f"{last} {read.tokens[0]}"))
            pairs += read.pairs
            buckets += read.buckets
            last = read.tokens[-1]
    counts = Counter(buckets)
    counts.update(pairs)
    size = math.sqrt(sum([n * n for n in counts.values()]))
    return {bucket: n / size for bucket, n in counts.items()}
