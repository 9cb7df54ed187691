"""A closer look at the best candidates, which the arms have no time for.

A `Reranker` says of each how well it answers; it neither finds nor removes anything. There are
two: `CloseLook`, which needs no model trained for it and always looks, and `CrossReading`, where
the settings name a cross-encoder. What they say takes effect in two ways: as one more kind of
evidence, or blended with the order so far.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from time import monotonic
from typing import Protocol

from holdfast.errors import HoldfastError
from holdfast.model.query import Strategy
from holdfast.recall.core.candidates import Candidate, Pool
from holdfast.recall.core.relevance import proximity, stems_in, weight_share
from holdfast.recall.core.semantic_port import SemanticSearch
from holdfast.recall.query.question import Query

# What the cross-encoder says against what all else says.
SHARE = 0.7
_PART = 1200
_PARTS = 4
_CONTEXT = 300
_SHORT = 400
# What words that stand together count beside words matched one by one, which count 1.
_TOGETHER = 2 / 3
# The cross-encoder takes as long as its texts are long. Of a long one it is given a stretch, the
# start unless another holds more of the question; and of many long ones it reads fewer, the best.
_READ = 800
_TOKENS_EACH = 100
_FEW = 20
_STEP = 200
_SEARCHED = 4800
_WORTH_MOVING = 0.02
# What it says of a short turn's neighbours, and of the best of a session, counts for the turn.
_BESIDE = 0.1
_AROUND = 0.1
_BEST_OF_SESSION = 3

# In one stretch or several.
_Text = tuple[str, ...]
Effect = Callable[[Sequence[Candidate], Sequence[float]], None]


class Reranker(Protocol):
    """Judges the best candidates one by one."""

    @property
    def name(self) -> str:
        """What it is called among the strategies of a recall."""
        ...

    def judge(
        self, query: Query, best: Sequence[Candidate], deadline: float
    ) -> Sequence[float] | None:
        """One number a candidate, higher is better, comparable within this call only; fewer than
        there are candidates if the last were not looked at; None when `deadline`, a value of
        `time.monotonic()`, passed too soon."""
        ...


class SoftMatcher:
    """Without a trained reranker: every word of the question is matched with the nearest of the
    text, rare words heavier, by itself and with what stood before it. What is long matches much
    by chance, so length is discounted. And words that stand together in the text count again."""

    name = "close_look"

    def __init__(self, meaning: SemanticSearch) -> None:
        self._meaning = meaning

    def judge(
        self, query: Query, best: Sequence[Candidate], deadline: float
    ) -> Sequence[float] | None:
        """It takes some milliseconds and knows no deadline."""
        alone = [_parts(candidate) for candidate in best]
        placed = [_in_context(candidate) for candidate in best]
        value = self._values(query, alone + placed)
        matched = [
            max(map(value, one)) + max(map(value, other))
            for one, other in zip(alone, placed, strict=True)
        ]
        highest = max(matched, default=0.0) or 1.0
        close = [proximity(query.stem_weights, candidate.passage.body) for candidate in best]
        both = zip(matched, close, strict=True)
        return [value / highest + _TOGETHER * near for value, near in both]

    def _values(self, query: Query, texts: list[list[_Text]]) -> Callable[[_Text], float]:
        """What each text is worth; each is read once, however often it stands there."""
        flat = list(dict.fromkeys(text for parts in texts for text in parts))
        soft = self._meaning.soft_coverage(query.word_weights, flat)
        values = {
            text: value * min(1.0, (_SHORT / max(len(" ".join(text)), 1)) ** 0.5)
            for text, value in zip(flat, soft, strict=True)
        }
        return values.__getitem__


class CrossEncoder:
    """With a cross-encoder, which reads question and text together."""

    name = "rerank"

    def __init__(self, meaning: SemanticSearch) -> None:
        self._meaning = meaning

    def judge(
        self, query: Query, best: Sequence[Candidate], deadline: float
    ) -> Sequence[float] | None:
        """By a stretch of each; what is short after what stood before it, what is long only after
        its day, since its own words say what it is about."""
        texts = (_read_by(candidate, query.stem_weights)[:_READ] for candidate in best)
        tokens = _TOKENS_EACH * max(len(best), _FEW)
        return self._meaning.rerank(query.text, texts, deadline, tokens)


def rerank(
    reranker: Reranker, query: Query, pool: Pool, depth: int, seconds: float, effect: Effect
) -> Strategy:
    """Let the best be judged; past the deadline, or if it fails, the order stands as it is."""
    started = monotonic()
    best = pool.ranked()[:depth]
    try:
        values = reranker.judge(query, best, started + seconds)
    except HoldfastError as error:
        return Strategy(reranker.name, 0, 0, problem=error.message)
    ms = round((monotonic() - started) * 1000, 2)
    if values is None:
        return Strategy(reranker.name, ms, 0, timed_out=True)
    effect(best[: len(values)], values)
    return Strategy(reranker.name, ms, len(values))


def add_as_evidence(best: Sequence[Candidate], values: Sequence[float]) -> None:
    """Note the values as one more arm's scores, for the fusion to weigh."""
    for candidate, value in zip(best, values, strict=True):
        candidate.scores["soft"] = value


def blend_into_scores(best: Sequence[Candidate], values: Sequence[float]) -> None:
    """Mix the values with the order so far, within the span of its scores."""
    if len(best) < 2:
        return
    judgements = _from_0_to_1(_in_company(best, _from_0_to_1(values)))
    bare = [candidate.score / candidate.factor for candidate in best]
    least, most = min(bare), max(bare)
    for candidate, judged, before in zip(best, judgements, _from_0_to_1(bare), strict=True):
        candidate.notes["rerank"] = round(judged, 4)
        mixed = (1 - SHARE) * before + SHARE * judged
        # Whose words they are and when they were said, no reranker can know.
        candidate.score = (least + mixed * (most - least)) * candidate.factor


def _from_0_to_1(values: Sequence[float]) -> list[float]:
    lowest, highest = min(values), max(values)
    return [(value - lowest) / ((highest - lowest) or 1.0) for value in values]


def _in_company(best: Sequence[Candidate], judged: Sequence[float]) -> list[float]:
    """What is judged alone, with a little of what is said of the short turns beside it, and of the
    best of its session: several short turns make one answer, and one that is right by itself is
    more likely so in a session that speaks of the matter."""
    beside: dict[tuple[str, str, int], float] = {}
    around: dict[tuple[str, str], list[float]] = {}
    for candidate, value in zip(best, judged, strict=True):
        p = candidate.passage
        around.setdefault((p.bank, p.session), []).append(value)
        if _is_short_turn(candidate):
            beside[p.bank, p.session, p.seq] = value
    told: list[float] = []
    for candidate, value in zip(best, judged, strict=True):
        p = candidate.passage
        if _is_short_turn(candidate):
            near = [beside.get((p.bank, p.session, p.seq + step), 0.0) for step in (-1, 1)]
            value += _BESIDE * sum(near)
        if p.session:
            top = sorted(around[p.bank, p.session], reverse=True)[:_BEST_OF_SESSION]
            value += _AROUND * sum(top) / _BEST_OF_SESSION
        told.append(value)
    return told


def _is_short_turn(candidate: Candidate) -> bool:
    return candidate.passage.kind == "turn" and len(candidate.passage.body) <= _SHORT


def _read_by(candidate: Candidate, weight: Mapping[str, float]) -> str:
    body, time = candidate.passage.body, candidate.passage.time
    if len(body) <= _SHORT:
        return " ".join(_in_context(candidate)[0])
    stretch = body[_telling_start(body, weight) :]
    if not time:
        return stretch
    day = datetime.fromisoformat(time)
    return f"[{day.day} {day:%B %Y}] {stretch}"


def _telling_start(body: str, weight: Mapping[str, float]) -> int:
    """Where the stretch of a text begins that holds most of a question, at a word."""
    if len(body) <= _READ:
        return 0
    steps = range(0, min(len(body), _SEARCHED), _STEP)
    held = [stems_in(weight, body[n : n + _STEP]) for n in steps]
    start, most = 0, 0.0
    for first, n in enumerate(steps):
        within = weight_share(weight, frozenset[str]().union(*held[first : first + _READ // _STEP]))
        if within > most + (_WORTH_MOVING if n else 0.0):
            start, most = n, within
    return body.find(" ", start) + 1 if start else 0


def _parts(candidate: Candidate) -> list[_Text]:
    """A passage in pieces of a size."""
    body = candidate.passage.body
    steps = range(0, min(len(body), _PART * _PARTS), _PART)
    return [(body[n : n + _PART],) for n in steps] or [("",)]


def _in_context(candidate: Candidate) -> list[_Text]:
    """The same, the first piece with what stood before it."""
    first, *rest = _parts(candidate)
    return [(candidate.passage.context[:_CONTEXT], *first), *rest]
