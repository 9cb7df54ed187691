"""Describes a statement in numbers, for the selector: who said it and where, its form and words,
and how much of it the rest of the session is about.

The order of the numbers is part of the trained weights: whoever changes it trains the selector
again (tools/train_selector.py).
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

from holdfast.language import STOPWORDS, stem, words
from holdfast.refine.distil.statements import Statement, find_rules, find_statements
from holdfast.refine.distil.utterances import Place, Utterance
from holdfast.regex import regex

Numbers = npt.NDArray[np.float32]

# Into so many buckets the words of a statement are hashed.
BUCKETS = 1 << 14


class Candidate(NamedTuple):
    """A statement that may be worth remembering, and the number of its utterance."""

    utterance: int
    statement: Statement


_CUES = tuple(
    regex(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:root cause|because|caused by|turns? out|due to|reason|"
        r"the (?:issue|problem|bug|culprit) (?:is|was))\b",
        r"\b(?:fix(?:ed|es)?|resolved|solved|corrected)\b",
        r"\b(?:always|never|must|should|do not|don.t|make sure|ensure|only|from now on|prefer|"
        r"instead)\b",
        r"\b(?:decid\w*|decision|agreed|chose|go with|let.s|we(?:.ll| will)|keep|option|approach|"
        r"rather than|instead of)\b",
        r"\b(?:added|implemented|created|updated|removed|replaced|renamed|merged|pushed|committed|"
        r"opened|completed|now)\b",
        r"\b(?:todo|remaining|left|later|follow.?up|next step|not yet|still|pending|future|"
        r"out of scope)\b",
        r"\b(?:i.ll|i will|let me|i.m going|now i|i need to|let.s|going to|next)\b",
        r"\b(?:i|you|my|your|me)\b",
        r"\b(?:tests?|pass(?:es|ed|ing)?|fail(?:s|ed|ing)?|green|ci|build)\b",
        r"\b(?:is|are|was|were|uses?|has|have|returns?|requires?|supports?|works?|means|lives?|"
        r"runs?|needs?)\b",
        r"\b(?:not|no|without|cannot)\b|n't\b",
    )
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
_TOKEN = regex(r"[a-z][a-z']+|[!?:→✅`]|\d+", re.IGNORECASE)
_stem = lru_cache(maxsize=50_000)(stem)


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


def describe(utterances: Sequence[Utterance], candidates: Sequence[Candidate]) -> Numbers:
    """One row of numbers for each candidate."""
    session = _SessionWords(utterances, candidates)
    last = max((n for n, u in enumerate(utterances) if not u.is_person), default=-1)
    rows = [
        (*_form(utterances, candidate, last), *session.describe(number))
        for number, candidate in enumerate(candidates)
    ]
    return np.array(rows, np.float32).reshape(len(candidates), -1)


def _form(utterances: Sequence[Utterance], candidate: Candidate, last: int) -> tuple[float, ...]:
    """Who said it, where, and in what form."""
    number, s = candidate
    u = utterances[number]
    length, count = len(s.text.split()), len(utterances)
    share = number / max(1, count - 1)
    is_closing = u.place is Place.CLOSING
    cues = [cue.search(s.text) is not None for cue in _CUES]
    message = math.log1p(len(u.text))
    return tuple(
        float(value)
        for value in (
            u.is_person, is_closing, number == last, share, share > 0.9, number == 0,
            math.log1p(count), s.position / (s.total - 1) if s.total > 1 else 0, s.position == 0,
            s.position >= s.total - s.length, math.log1p(s.total), s.is_item, s.is_whole,
            s.length > 1, math.log1p(length), length < 6, length > 35, "?" in s.text[-3:],
            s.text.endswith(":"), min(3, len(_CODE.findall(s.text))), "**" in s.text,
            any(c.isdigit() for c in s.text), bool(s.lead), message, u.place is Place.PLAN,
            u.place in (Place.ANSWER, Place.REFUSAL), u.place is Place.REPORT,
            u.place is Place.COMMIT, u.place is Place.NOTE, u.place in (Place.SUMMARY, Place.FIX),
            u.place in (Place.TASK, Place.CORRECTION),
            *(lead.search(s.lead) is not None for lead in _LEADS), *cues,
            u.is_person and cues[_RULE], not u.is_person and cues[_FUTURE],
            is_closing and cues[_DONE], is_closing and cues[_CAUSE], u.is_person * message,
            u.is_person and s.is_item,
        )
    )  # fmt: skip


def content_words(text: str) -> frozenset[str]:
    """The stems of a text, without stop words."""
    return frozenset(_stem(word) for word in words(text) if word not in STOPWORDS)


class _SessionWords:
    """In how many messages of a session each word occurs."""

    def __init__(self, utterances: Sequence[Utterance], candidates: Sequence[Candidate]) -> None:
        self._utterances = utterances
        self._candidates = candidates
        self._words = [content_words(c.statement.text) for c in candidates]
        by_message: dict[int, set[str]] = defaultdict(set)
        for candidate, own in zip(candidates, self._words, strict=True):
            by_message[candidate.utterance] |= own
        self._messages = max(1, len(by_message))
        self._in_messages = Counter(w for own in by_message.values() for w in own)
        self._in_closings = Counter(
            word
            for number, own in by_message.items()
            if utterances[number].place is Place.CLOSING
            for word in own
        )
        first = min(by_message, default=0)
        self._request = by_message.get(first, set())
        self._by_people = {
            word
            for number, own in by_message.items()
            if utterances[number].is_person
            for word in own
        }

    def describe(self, number: int) -> tuple[float, ...]:
        """How much of a candidate the rest of the session is about."""
        own = self._words[number]
        if not own:
            return (0.0,) * 9
        utterance = self._utterances[self._candidates[number].utterance]
        counts = [self._in_messages[word] for word in own]
        itself = utterance.place is Place.CLOSING
        closings = [math.log1p(self._in_closings[word] - itself) for word in own]
        said = len(own & self._by_people) / len(own) if not utterance.is_person else -0.1
        return (
            _mean(math.log(n) for n in counts),
            _mean(n >= 2 for n in counts),
            _mean(n / self._messages for n in counts),
            len(own & self._request) / len(own),
            said,
            _mean(closings),
            math.log1p(len(own)),
            _mean(n >= 0.3 * self._messages for n in counts),
            _mean(n == 1 for n in counts),
        )


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)


def hashed_words(statement: Statement, is_person: bool) -> dict[int, float]:
    """The words and pairs of words of a statement as buckets with weights, of length one."""
    text = f"{statement.text} lead {statement.lead}" if statement.lead else statement.text
    tokens = ["<person>" if is_person else "<agent>", *_TOKEN.findall(text.lower())]
    pairs = [f"{one} {other}" for one, other in pairwise(tokens)]
    counts = Counter(crc32(token.encode()) % BUCKETS for token in (*tokens, *pairs))
    size = math.sqrt(sum(n * n for n in counts.values()))
    return {bucket: n / size for bucket, n in counts.items()}
