"""Joins the statements of a session that say the same: a finding, its summary at the end and the
message of the commit are one matter.

One of them is kept, and the messages of the others become its further sources. It has many of the
words of each that it stands for and all of its numbers, or is the report that a plan was done.
Words that much of the session uses count little. Items of one message are not joined, because their
writer told them apart, nor is what people say.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from holdfast.model.knowledge import Kind
from holdfast.refine.core.statement_similarity import has_amending_phrase
from holdfast.refine.distil.features import Numbers, content_words
from holdfast.refine.distil.kinds import is_order
from holdfast.refine.distil.matters import NEGATION, values_of
from holdfast.refine.distil.selector import Scored, Span, span_of
from holdfast.refine.distil.utterances import Place, Utterance
from holdfast.regex import regex


class JoinLimits(NamedTuple):
    """When two statements say the same. Chosen on 142 pairs of graded sessions that were judged by
    reading: vectors alone do not tell what is said of a matter from what else is said of it."""

    # Words that both have, at least.
    shared_words: int = 5
    # The share of the weight of one's words that the other has.
    covered: float = 0.4
    # How much more of the later one the earlier must have to stand for it.
    more: float = 0.1
    # The cosine of both, where there are vectors.
    near: float = 0.5


LIMITS = JoinLimits()

# The target of a link, and a path or an address, of which only the last part tells something.
_TARGET = regex(r"\]\([^)\s]*\)")
_PATH = regex(r"(?:\w+://)?[\w.@~+%-]*(?:[/\\]+[\w.@~+%#=?&:-]+)+[/\\]?")
_SEPARATOR = regex(r"[/\\]+")
_NO_LETTER = regex(r"\W")
# Parts of a name are no words of their own.
_IN_NAME = regex(r"(?<=\w)_(?=\w)")


class _Matter(NamedTuple):
    """A statement with what is compared of it, and the `others` that it stands for."""

    scored: Scored
    words: frozenset[str]
    values: frozenset[str]
    number: int
    is_planned: bool
    others: tuple[_Matter, ...] = ()


def join(
    scored: Sequence[Scored],
    utterances: Sequence[Utterance],
    threshold: float,
    vectors: Numbers | None = None,
) -> list[Scored]:
    """The statements without those that another one stands for, which has their messages as further
    sources. Those below the threshold stay as they are. `vectors`: one of each statement."""
    texts = [with_names_as_words(one.candidate.statement.text) for one in scored]
    words = [content_words(text) for text in texts]
    weights = word_weights(words)
    kept: list[_Matter] = []
    # Sentences of those that are kept, in their places.
    spans: list[Span] = []
    apart: list[Scored] = []
    joined: set[tuple[int, int]] = set()
    for n in sorted(range(len(scored)), key=lambda n: (-scored[n].score, scored[n].candidate[0])):
        one = scored[n]
        span = span_of(one.candidate)
        if span & joined:
            continue
        is_own = not all(map(span.isdisjoint, spans))
        is_person = utterances[one.candidate.utterance].is_person
        if is_own or is_person or one.score < threshold:
            apart.append(one)
            continue
        matter = _Matter(one, words[n], values_of(texts[n]), n, _is_planned(one, utterances))
        for place, other in enumerate(kept):
            is_near = vectors is None or float(vectors[n] @ vectors[other.number]) >= LIMITS.near
            if is_near and (whole := _joined(other, matter, weights)):
                kept[place] = whole
                spans[place] = span_of(whole.scored.candidate)
                joined |= span_of(whole.others[-1].scored.candidate)
                break
        else:
            kept.append(matter)
            spans.append(span)
    return [*(one.scored for one in kept), *apart]


def _is_planned(one: Scored, utterances: Sequence[Utterance]) -> bool:
    """Whether a statement says what is to be done: the report that it was done says it better. The
    message of a commit is such a report."""
    number, statement = one.candidate
    place = utterances[number].place
    return place is Place.PLAN or (place is not Place.COMMIT and is_order(statement))


def _joined(one: _Matter, other: _Matter, weights: Mapping[str, float]) -> _Matter | None:
    """The one of two statements that stands for both; None if they do not say the same. The later
    one tells how matters stand, unless the earlier says more and is no plan of what was done, and
    the later takes nothing of it back."""
    if not _are_alike(one, other, weights):
        return None
    earlier, later = sorted((one, other), key=lambda matter: matter.scored.candidate.utterance)
    told, tells = _share(earlier, later, weights), _share(later, earlier, weights)
    is_over = (earlier.is_planned and not later.is_planned) or _takes_back(later, earlier)
    has_more = tells - told >= LIMITS.more
    if is_over or (told >= LIMITS.covered and not has_more and earlier.values <= later.values):
        stands, joined = later, earlier
    elif tells >= LIMITS.covered and later.values <= earlier.values:
        stands, joined = earlier, later
    else:
        return None
    if stands is other and not all(_are_alike(other, old, weights) for old in one.others):
        return None
    return _standing(stands, joined, one)


def _takes_back(later: _Matter, earlier: _Matter) -> bool:
    """Whether a later report says that something is no longer so."""
    texts = [matter.scored.candidate.statement.text for matter in (later, earlier)]
    is_report = later.scored.kind is earlier.scored.kind is Kind.OUTCOME
    return is_report and has_amending_phrase(texts[0]) and not has_amending_phrase(texts[1])


def _are_alike(one: _Matter, other: _Matter, weights: Mapping[str, float]) -> bool:
    """Whether statements of two messages have words enough in common, and both negate or none."""
    if one.scored.candidate.utterance == other.scored.candidate.utterance:
        return False
    if len(one.words & other.words) < LIMITS.shared_words:
        return False
    if (NEGATION in one.values) is not (NEGATION in other.values):
        return False
    return max(_share(one, other, weights), _share(other, one, weights)) >= LIMITS.covered


def _standing(stands: _Matter, joined: _Matter, best: _Matter) -> _Matter:
    """A statement with the place of the best of both, and all that this stood for."""
    others = (*best.others, joined._replace(others=()))
    own = stands.scored.candidate.utterance
    further = dict.fromkeys(matter.scored.candidate.utterance for matter in others)
    scored = stands.scored._replace(
        score=best.scored.score, further=tuple(n for n in further if n != own)
    )
    return stands._replace(scored=scored, others=others)


def _share(one: _Matter, other: _Matter, weights: Mapping[str, float]) -> float:
    """How much of the words of one statement another one has, by their weights."""
    shared = sum(weights[word] for word in one.words & other.words)
    return shared / sum(weights[word] for word in one.words)


def word_weights(statements: Sequence[frozenset[str]]) -> dict[str, float]:
    """How much each word tells: the less, the more statements have it."""
    counts = Counter(word for words in statements for word in words)
    return {word: math.log1p(len(statements) / count) for word, count in counts.items()}


def with_names_as_words(text: str) -> str:
    """A text in which a path, an address or a name of code is one word."""
    text = _TARGET.sub("]", text) if "](" in text else text
    text = _IN_NAME.sub("", text) if "_" in text else text
    if "/" not in text and "\\" not in text:
        return text
    return _PATH.sub(lambda found: f" {_last_part(found[0])} ", text)


def _last_part(path: str) -> str:
    parts = [part for part in _SEPARATOR.split(path) if part]
    return _NO_LETTER.sub("", parts[-1]) if parts else ""
