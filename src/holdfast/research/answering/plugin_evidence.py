"""What plugins said, added to an answer: quoted, attributed, numbered on, and never believed.

It stands below what is remembered and does not raise the confidence in it; where nothing is
remembered, it alone makes for a low one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from holdfast.language import cut, sentences, squeeze, stem
from holdfast.model.query import Answer, Citation, Confidence, Hit, Layer, Recalled, Strategy
from holdfast.model.trust import Trust
from holdfast.recall.core.relevance import coverage
from holdfast.recall.query.terms import read_terms
from holdfast.regex import regex

MOST = 3
SENTENCE_LIMIT = 340
EXCERPT_LIMIT = 240
PROVIDER_PREFIX = "provider"
# What looks like one of our citations is not.
_NUMBER = regex(r"\[(\d+)\]")
_ALONE = (
    "Nothing in memory speaks of this: plugins said all of it just now, and nobody here has "
    "checked it."
)
_BESIDE = "What is from outside was said by plugins just now, and nobody here has checked it."


def without_plugin_hits(found: Recalled) -> Recalled:
    """What was found without what plugins said."""
    ours = tuple(hit for hit in found.hits if hit.layer is not Layer.PROVIDERS)
    return replace(found, hits=ours, abstained=not ours)


def add_plugin_hits(answer: Answer, found: Recalled) -> Answer:
    """Add to an answer what plugins said to its question, and which of them said nothing."""
    told = [hit for hit in found.hits if hit.layer is Layer.PROVIDERS][:MOST]
    searched = dict.fromkeys((*answer.layers_searched, Layer.PROVIDERS))
    answer = replace(
        answer,
        layers_searched=tuple(searched),
        caveats=(*answer.caveats, *missing_replies(found.strategies)),
    )
    if not told:
        return answer
    first = len(answer.citations) + 1
    quoted = [_best(hit.text, answer.question) for hit in told]
    lines = [
        f"From outside ({hit.provider}): “{said}” [{number}]"
        for number, (hit, said) in enumerate(zip(told, quoted, strict=True), start=first)
    ]
    return replace(
        answer,
        answer="\n".join(lines if answer.abstained else [answer.answer, *lines]),
        confidence=Confidence.LOW if answer.abstained else answer.confidence,
        abstained=False,
        source=Layer.PROVIDERS.value if answer.abstained else "combined",
        citations=(*answer.citations, *_citations(told, first)),
        caveats=(*answer.caveats, _ALONE if answer.abstained else _BESIDE),
    )


def missing_replies(strategies: Iterable[Strategy], kind: str = PROVIDER_PREFIX) -> list[str]:
    """What became of plugins, or of servers, that brought nothing for a reason."""
    notes: list[str] = []
    for arm in strategies:
        if arm.name.startswith(kind) and (arm.timed_out or arm.problem):
            why = "it was too slow" if arm.timed_out else arm.problem
            who = arm.name.removeprefix(kind).removeprefix("s" if kind == PROVIDER_PREFIX else "").strip()
            notes.append(f"Not heard: {who}: {why}." if who else f"Not heard: {why}.")
    return notes


def _best(text: str, question: str) -> str:
    """The sentence of a text that covers most of the question, on one line."""
    weight = {stem(word): 1.0 for word in read_terms(question).words}
    said = [squeeze(sentence) for sentence in sentences(text)] or [squeeze(text)]
    best = max(range(len(said)), key=lambda n: (coverage(weight, said[n]), -n))
    return cut(_NUMBER.sub(r"(\1)", said[best]).replace("”", "'").replace("“", "'"), SENTENCE_LIMIT)


def _citations(told: Sequence[Hit], first: int) -> list[Citation]:
    return [
        Citation(
            number=number,
            uri=hit.uri,
            layer=Layer.PROVIDERS,
            excerpt=f"{hit.provider}: {cut(squeeze(hit.text), EXCERPT_LIMIT)}",
            browse_url="",
            trust=Trust.EXTERNAL,
        )
        for number, hit in enumerate(told, start=first)
    ]
