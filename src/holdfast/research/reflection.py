"""Reflection without a model: the records found for a question, by layer, and the opinions held on
it. Nothing is inferred from them, and the answer says so. `model_reflection` weighs them, if the
settings name a model.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.language import cut
from holdfast.model.bank import Bank
from holdfast.model.opinions import Opinion, Reflection, ReflectionCitation
from holdfast.model.query import Hit, Layer, RecallResult
from holdfast.model.trust import ENDED_STATUSES, Status
from holdfast.model.uris import uri

NOTHING_INFERRED = (
    "This is what the records say. Without a model nothing is inferred from it: no claim is "
    "weighed, and no opinion is formed."
)
# How much of the evidence is shown.
_MAX_RECORDS, _EXCERPT_CHARS, _MAX_OPINIONS = 14, 200, 5
_HEADINGS = {
    Layer.RULES: "Rules",
    Layer.SUMMARIES: "Summaries",
    Layer.OBSERVATIONS: "What was done and noted",
    Layer.TRANSCRIPTS: "What was said",
    Layer.TEAM: "Commits and issues",
    Layer.PROVIDERS: "Other sources",
}


def gather_evidence(bank: Bank, found: RecallResult, opinions: Sequence[Opinion]) -> Reflection:
    """The evidence on a question. `opinions` are all that the bank holds; those that were found, or
    whose evidence was, are listed as such."""
    # What is only loosely related is no evidence.
    sure = () if found.abstained else tuple(hit for hit in found.hits if not hit.weak)
    names = {hit.uri for hit in sure}
    held = [
        o
        for o in opinions
        if o.status is not Status.RETRACTED
        and not names.isdisjoint((uri("memory", o.id), *o.evidence_for))
    ][:_MAX_OPINIONS]
    listed = {name for o in held for name in (uri("memory", o.id), *o.evidence_for)}
    hits = [hit for hit in sure if hit.status not in ENDED_STATUSES and hit.uri not in listed]
    if not hits and not held:
        return Reflection(
            found.query, bank.name, "Not known: no record clearly answers this.", 0.0, True
        )
    cited = cite(hits[:_MAX_RECORDS])
    parts = [NOTHING_INFERRED]
    for layer, heading in _HEADINGS.items():
        of_layer = [
            f"- {one.excerpt} [{one.number}]"
            for one, hit in zip(cited, hits, strict=False)
            if hit.layer is layer
        ]
        parts += [f"{heading}:\n" + "\n".join(of_layer)] if of_layer else []
    parts += opinion_part(held)
    late = [one for one in found.strategies if one.timed_out or one.problem]
    return Reflection(
        found.query,
        bank.name,
        "\n\n".join(parts),
        0.0,
        abstained=False,
        opinions=tuple(held),
        citations=cited,
        caveats=("Not every way of searching answered.",) if late else (),
    )


def cite(hits: Sequence[Hit]) -> tuple[ReflectionCitation, ...]:
    """The citations of records, numbered from one."""
    return tuple(
        ReflectionCitation(
            number,
            hit.uri,
            cut(" ".join(hit.text.split()), _EXCERPT_CHARS),
            hit.time,
            hit.session,
            hit.trust,
            hit.how_it_ended,
        )
        for number, hit in enumerate(hits, 1)
    )


def opinion_part(opinions: Sequence[Opinion]) -> list[str]:
    """The part of an answer that lists opinions; none if there are none."""
    lines = [
        f"- {o.what} ({o.confidence:.2f}, {o.trend.value}; {len(o.evidence_for)} for, "
        f"{len(o.evidence_against)} against; holdfast://memory/{o.id})"
        for o in opinions
    ]
    return ["Opinions:\n" + "\n".join(lines)] if lines else []
