"""Reranking: a closer look at the best candidates, for which the retrievers have no time.

A `Reranker` scores candidates; it neither finds nor removes any. There are two: `SoftMatcher`,
which always runs where a model is loaded, and `CrossEncoder`, where the settings name one. Their
scores take effect either as one more kind of evidence, or blended into the order so far.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from time import monotonic
from typing import Protocol

from holdfast.errors import HoldfastError
from holdfast.model.query import RetrieverReport
from holdfast.recall.core.candidates import Candidate, Pool
from holdfast.recall.core.relevance import READ, proximity, stems_in, weight_share
from holdfast.recall.core.semantic_port import SemanticSearch
from holdfast.recall.core.tuning import DEFAULT_RERANK, RerankLimits
from holdfast.recall.query.query import Query

# A text in one stretch or several.
_Text = tuple[str, ...]
Effect = Callable[[Sequence[Candidate], Sequence[float], RerankLimits], None]


class Reranker(Protocol):
    """Scores the best candidates one by one."""

    @property
    def name(self) -> str:
        """Its name among the reports of a search."""
        ...

    def judge(
        self, query: Query, best: Sequence[Candidate], deadline: float
    ) -> Sequence[float] | None:
        """One score per candidate, higher is better, comparable within this call only. Fewer than
        there are candidates if the last were not looked at; None if `deadline`, a value of
        `time.monotonic()`, passed first."""
        ...


class SoftMatcher:
    """Matches every word of the query with the most similar word of the text, rare words heavier,
    in the text alone and with its context. Long texts are discounted, because they match much by
    chance. Query words that stand together in the text count again."""

    name = "close_look"

    def __init__(self, semantic: SemanticSearch, limits: RerankLimits = DEFAULT_RERANK) -> None:
        self._semantic = semantic
        self._limits = limits

    def judge(
        self, query: Query, best: Sequence[Candidate], deadline: float
    ) -> Sequence[float] | None:
        """Takes some milliseconds and ignores the deadline."""
        alone = [_parts(candidate, self._limits) for candidate in best]
        in_context = [_parts_in_context(candidate, self._limits) for candidate in best]
        score = self._scores(query, alone + in_context)
        matched = [
            max(map(score, one)) + max(map(score, other))
            for one, other in zip(alone, in_context, strict=True)
        ]
        highest = max(matched, default=0.0) or 1.0
        close = [proximity(query.stem_weights, candidate.passage.body) for candidate in best]
        both = zip(matched, close, strict=True)
        return [value / highest + self._limits.proximity * near for value, near in both]

    def _scores(self, query: Query, texts: list[list[_Text]]) -> Callable[[_Text], float]:
        """A lookup from each text to its score; each text is read once."""
        flat = list(dict.fromkeys(text for parts in texts for text in parts))
        soft = self._semantic.soft_coverage(query.word_weights, flat)
        short = self._limits.short_text
        values = {
            text: value * min(1.0, (short / max(len(" ".join(text)), 1)) ** 0.5)
            for text, value in zip(flat, soft, strict=True)
        }
        return values.__getitem__


class CrossEncoder:
    """A model that reads query and text together."""

    name = "rerank"

    def __init__(self, semantic: SemanticSearch, limits: RerankLimits = DEFAULT_RERANK) -> None:
        self._semantic = semantic
        self._limits = limits

    def judge(
        self, query: Query, best: Sequence[Candidate], deadline: float
    ) -> Sequence[float] | None:
        """Reads one stretch of each candidate: a short text after its context, a long one only
        after its date."""
        limits = self._limits
        texts = (_stretch_to_read(candidate, query.stem_weights, limits) for candidate in best)
        long = sum(len(candidate.passage.body) > limits.short_text for candidate in best)
        short = max(len(best), limits.fewest) - long
        tokens = limits.tokens_per_candidate * short + limits.tokens_per_long_text * long
        values = self._semantic.rerank(query.text, texts, deadline, tokens)
        if values is not None and self._semantic.reranker_ships:
            # Its scale is known, so the scores also help to decide whether anything answers.
            for candidate, value in zip(best, values, strict=False):
                candidate.notes[READ] = round(value, 4)
        return values


def rerank(
    reranker: Reranker,
    query: Query,
    pool: Pool,
    depth: int,
    seconds: float,
    effect: Effect,
    limits: RerankLimits = DEFAULT_RERANK,
) -> RetrieverReport:
    """Score the best candidates and apply the effect. Past the deadline, or on an error, the order
    stays as it is."""
    started = monotonic()
    best = pool.ranked()[:depth]
    try:
        values = reranker.judge(query, best, started + seconds)
    except HoldfastError as error:
        return RetrieverReport(reranker.name, 0, 0, problem=error.message)
    ms = round((monotonic() - started) * 1000, 2)
    if values is None:
        return RetrieverReport(reranker.name, ms, 0, timed_out=True)
    effect(best[: len(values)], values, limits)
    return RetrieverReport(reranker.name, ms, len(values))


def add_as_evidence(
    best: Sequence[Candidate], values: Sequence[float], limits: RerankLimits = DEFAULT_RERANK
) -> None:
    """Store the values as the scores of one more retriever, for the fusion to weigh."""
    for candidate, value in zip(best, values, strict=True):
        candidate.scores["soft"] = value


def blend_into_scores(
    best: Sequence[Candidate], values: Sequence[float], limits: RerankLimits = DEFAULT_RERANK
) -> None:
    """Mix the values with the order so far, within the range of its scores."""
    if len(best) < 2:
        return
    judgements = _scaled(_with_neighbours(best, _scaled(values), limits))
    # Factors (who said it, when) are taken out first and applied again: no reranker knows them.
    bare = [candidate.score / candidate.factor for candidate in best]
    least, most = min(bare), max(bare)
    share = limits.cross_encoder_share
    for candidate, judged, before in zip(best, judgements, _scaled(bare), strict=True):
        candidate.notes["rerank"] = round(judged, 4)
        mixed = (1 - share) * before + share * judged
        candidate.score = (least + mixed * (most - least)) * candidate.factor


def _scaled(values: Sequence[float]) -> list[float]:
    """The values on a scale from 0 to 1."""
    lowest, highest = min(values), max(values)
    return [(value - lowest) / ((highest - lowest) or 1.0) for value in values]


def _with_neighbours(
    best: Sequence[Candidate], judged: Sequence[float], limits: RerankLimits
) -> list[float]:
    """Each judgement with a share of those of the short turns beside it and of the best of its
    session: several short turns make one answer, and a match is more likely right in a session
    about the subject."""
    short_turns: dict[tuple[str, str, int], float] = {}
    sessions: dict[tuple[str, str], list[float]] = {}
    for candidate, value in zip(best, judged, strict=True):
        p = candidate.passage
        sessions.setdefault((p.bank, p.session), []).append(value)
        if _is_short_turn(candidate, limits):
            short_turns[p.bank, p.session, p.seq] = value
    values: list[float] = []
    for candidate, value in zip(best, judged, strict=True):
        p = candidate.passage
        if _is_short_turn(candidate, limits):
            beside = [short_turns.get((p.bank, p.session, p.seq + step), 0.0) for step in (-1, 1)]
            value += limits.neighbour * sum(beside)
        if p.session:
            top = sorted(sessions[p.bank, p.session], reverse=True)[: limits.best_of_session]
            value += limits.session * sum(top) / limits.best_of_session
        values.append(value)
    return values


def _is_short_turn(candidate: Candidate, limits: RerankLimits) -> bool:
    return candidate.passage.kind == "turn" and len(candidate.passage.body) <= limits.short_text


def _stretch_to_read(
    candidate: Candidate, weights: Mapping[str, float], limits: RerankLimits
) -> str:
    """The text that the cross-encoder is given for a candidate."""
    body, time = candidate.passage.body, candidate.passage.time
    if len(body) <= limits.short_text:
        return " ".join(_parts_in_context(candidate, limits)[0])[: limits.read_length]
    stretch = body[_best_start(body, weights, limits) :]
    if time:
        day = datetime.fromisoformat(time)
        stretch = f"[{day.day} {day:%B %Y}] {stretch}"
    return stretch[: limits.read_length_of_long]


def _best_start(body: str, weights: Mapping[str, float], limits: RerankLimits) -> int:
    """Where the stretch of a text begins that covers most of a query; always at a word."""
    if len(body) <= limits.read_length_of_long:
        return 0
    step = limits.read_step
    starts = range(0, min(len(body), limits.searched_length), step)
    stems = [stems_in(weights, body[n : n + step]) for n in starts]
    start, most = 0, 0.0
    for first, n in enumerate(starts):
        inside = frozenset[str]().union(*stems[first : first + limits.read_length_of_long // step])
        covered = weight_share(weights, inside)
        if covered > most + (limits.worth_moving if n else 0.0):
            start, most = n, covered
    return body.find(" ", start) + 1 if start else 0


def _parts(candidate: Candidate, limits: RerankLimits) -> list[_Text]:
    """A passage cut into parts of equal length."""
    body, length = candidate.passage.body, limits.part_length
    starts = range(0, min(len(body), length * limits.parts), length)
    return [(body[n : n + length],) for n in starts] or [("",)]


def _parts_in_context(candidate: Candidate, limits: RerankLimits) -> list[_Text]:
    """The same, the first part after the passage's context."""
    first, *rest = _parts(candidate, limits)
    return [(candidate.passage.context[: limits.context_length], *first), *rest]
