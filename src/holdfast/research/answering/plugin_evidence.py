"""Add what plugins replied to an answer: quoted, attributed, numbered on, and never believed.

It comes below what memory says and does not raise the confidence in that. Where memory says
nothing, it makes an answer of low confidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.framed_text import one_line, quote
from holdfast.language import collapse_spaces, cut, sentences, stem, truncate
from holdfast.lazy_dataclass import replace
from holdfast.model.query import (
    Answer,
    Citation,
    Confidence,
    Hit,
    Layer,
    RecallResult,
    RetrieverReport,
)
from holdfast.model.trust import Trust
from holdfast.recall.core.relevance import coverage
from holdfast.recall.query.terms import read_terms
from holdfast.research.answering.quoting import (
    MAX_EXCERPT_CHARS,
    MAX_SENTENCE_CHARS,
    without_citation_marks,
)

# Plugins must not crowd out memory, which an answer quotes up to four times.
MAX_QUOTES = 3
# Names of the retrievers that ask plugins begin so.
PROVIDER_PREFIX = "provider"
_PLUGINS_ONLY = (
    "No record of memory clearly answers this: the answer comes from plugins only, and nobody here "
    "has checked it."
)
_PLUGINS_TOO = "Text from outside comes from plugins, and nobody here has checked it."


def without_plugin_hits(found: RecallResult) -> RecallResult:
    """The hits from memory alone."""
    ours = tuple(hit for hit in found.hits if hit.layer is not Layer.PROVIDERS)
    return replace(found, hits=ours, abstained=all(hit.weak for hit in ours))


def add_plugin_hits(answer: Answer, found: RecallResult) -> Answer:
    """The answer with quotes from plugins, and a caveat for each plugin that did not reply."""
    hits = [hit for hit in found.hits if hit.layer is Layer.PROVIDERS][:MAX_QUOTES]
    searched = dict.fromkeys((*answer.layers_searched, Layer.PROVIDERS))
    answer = replace(
        answer,
        layers_searched=tuple(searched),
        caveats=(*answer.caveats, *missing_replies(found.strategies)),
    )
    if not hits:
        return answer
    if answer.weak:
        answer = replace(answer, abstained=True, weak=False, citations=())
    first = len(answer.citations) + 1
    lines = [
        f"From outside ({one_line(hit.provider)}): "
        f"{quote(_best_sentence(hit.text, answer.question))} [{number}]"
        for number, hit in enumerate(hits, start=first)
    ]
    return replace(
        answer,
        answer="\n".join(lines if answer.abstained else [answer.answer, *lines]),
        confidence=Confidence.LOW if answer.abstained else answer.confidence,
        abstained=False,
        source=Layer.PROVIDERS.value if answer.abstained else "combined",
        citations=(*answer.citations, *_citations(hits, first)),
        caveats=(*answer.caveats, _PLUGINS_ONLY if answer.abstained else _PLUGINS_TOO),
    )


def missing_replies(
    strategies: Iterable[RetrieverReport], prefix: str = PROVIDER_PREFIX
) -> list[str]:
    """A sentence for each plugin, or server, that timed out or failed. `prefix` is what the names
    of their retrievers begin with."""
    notes: list[str] = []
    for strategy in strategies:
        if strategy.name.startswith(prefix) and (strategy.timed_out or strategy.problem):
            why = "it was too slow" if strategy.timed_out else strategy.problem
            plural = "s" if prefix == PROVIDER_PREFIX else ""
            who = strategy.name.removeprefix(prefix).removeprefix(plural).strip()
            notes.append(f"No answer from: {who}: {why}." if who else f"No answer from: {why}.")
    return notes


def _best_sentence(text: str, question: str) -> str:
    """The sentence of a text that covers most of the question, on one line."""
    weights = {stem(word): 1.0 for word in read_terms(question).words}
    texts = sentences(text) or [collapse_spaces(text)]
    best = max(texts, key=lambda text: coverage(weights, text))
    return truncate(without_citation_marks(best), MAX_SENTENCE_CHARS)


def _citations(hits: Sequence[Hit], first: int) -> list[Citation]:
    return [
        Citation(
            number=number,
            uri=hit.uri,
            layer=Layer.PROVIDERS,
            excerpt=f"{hit.provider}: {cut(hit.text, MAX_EXCERPT_CHARS)}",
            browse_url="",
            trust=Trust.EXTERNAL,
        )
        for number, hit in enumerate(hits, start=first)
    ]
