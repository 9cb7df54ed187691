"""Memories that a model extracted from an exchange; they replace what the rules and the selector
would retain of it.

An answer of the model is stored in `summary` under the hash of the turns it was made from. If the
turns change, the answer is no longer found, and rules and selector are used again. Answers to older
prompts name a network in place of a kind.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from holdfast.capture.redact import Redactor
from holdfast.language import truncate
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Kind, Network
from holdfast.model.opinions import MemoryOccurrence
from holdfast.model.records import Exchange, Role, Turn
from holdfast.model.trust import Trust
from holdfast.refine.distil.utterances import find_utterances
from holdfast.refine.memories.retention_rules import MAX_WHAT_CHARS, MAX_WHY_CHARS, make_occurrence
from holdfast.refine.memories.statement_networks import statement_network
from holdfast.refine.model_output.evidence import FACT_SHARE, SUMMARY_SHARE, Evidence, clean_text
from holdfast.refine.sessions.model_summaries import exchange_hash
from holdfast.store.ledgers.model_calls import ModelSummaries

# Length of the lists of places and names in one memory.
_MAX_LIST_CHARS = 120
# Memories of one exchange; a session that is one long exchange holds up to ten that are worth it.
_MAX_PER_EXCHANGE = 12


class MemoryDraft(NamedTuple):
    """A memory as a model wrote it, not yet checked against the turns. `turn` is the place in the
    session of the turn that states it, None if the model named none."""

    turn: int | None
    kind: str
    what: str
    where: str
    who: str
    why: str


def extraction_hash(turns: Sequence[Turn]) -> str:
    """The key under which the extracted memories of these turns are stored."""
    return content_id("memories", exchange_hash(turns))


def checked_memories(
    drafts: Sequence[MemoryDraft], turns: Sequence[Turn], evidence: Evidence, redactor: Redactor
) -> str:
    """The drafts that the evidence supports, redacted, as JSON; "" if there are some and none is
    supported. `turns` are those of their exchange."""
    by_place = {turn.seq: turn for turn in turns}
    kept: list[dict[str, Any]] = []
    for draft in drafts:
        what = truncate(clean_text(draft.what), MAX_WHAT_CHARS)
        if draft.kind not in set(Kind) or not evidence.supports(what, FACT_SHARE):
            continue
        stated = by_place.get(draft.turn) if draft.turn is not None else None
        why = clean_text(draft.why)
        kept.append(
            {
                "kind": draft.kind,
                "what": redactor.redact(what).text,
                "where": _known_names(draft.where, evidence),
                "who": _known_names(draft.who, evidence),
                "why": redactor.redact(
                    truncate(evidence.supported_sentences(why, SUMMARY_SHARE), MAX_WHY_CHARS)
                ).text,
                "turn": stated.id if stated else "",
                "in_its_words": bool(
                    stated and Evidence.from_turns([stated]).supports(what, FACT_SHARE)
                ),
            }
        )
    if drafts and not kept:
        return ""
    return json.dumps(kept[:_MAX_PER_EXCHANGE], ensure_ascii=False)


def _known_names(listed: str, evidence: Evidence) -> str:
    names = [clean_text(part) for part in listed.split(",")]
    return truncate(
        ", ".join(name for name in names if name and evidence.contains_name(name)), _MAX_LIST_CHARS
    )


class ExtractedMemories:
    """Finds the memories that a model extracted in a bank."""

    def __init__(self, summaries: ModelSummaries, bank: str) -> None:
        self._summaries = summaries
        self._bank = bank
        self._has_any = summaries.has_any(bank)

    def find(self, exchange: Exchange, turns: Sequence[Turn]) -> list[MemoryOccurrence] | None:
        """The memories that a model extracted from an exchange, which may be none; None if no model
        gave a usable answer."""
        known = self._summaries.get(self._bank, extraction_hash(turns)) if self._has_any else None
        if known is None:
            return None
        by_id = {turn.id: turn for turn in turns}
        return [
            _occurrence(exchange, item, by_id.get(item.get("turn", "")))
            for item in json.loads(known.content)
        ]


def _occurrence(exchange: Exchange, item: dict[str, Any], stated: Turn | None) -> MemoryOccurrence:
    """The memory of one item of a checked answer; `stated` is the turn that states it."""
    what, kind, who, trust = item["what"], None, item["who"], None
    if "kind" in item:
        kind = Kind(item["kind"])
        is_person = False
        if stated is not None and item["in_its_words"]:
            is_person = any(one.is_person for one in find_utterances([stated]))
            trust = _trust(exchange, stated)
        network = statement_network(kind, what, is_person)
        who = who or ("user" if is_person else "")
    else:
        network = Network(item["network"])
    return make_occurrence(
        exchange,
        network,
        what,
        why=item["why"],
        where=item["where"],
        who=who,
        trust=trust,
        evidence=[stated] if stated is not None else [],
        kind=kind,
    )._replace(confidence=item.get("confidence"))


def _trust(exchange: Exchange, stated: Turn) -> Trust:
    """The trust in what a turn states. What an agent says after it has read text from outside the
    project may be that text."""
    is_tainted = exchange.trust is Trust.EXTERNAL and stated.role is not Role.USER
    return exchange.trust if is_tainted else stated.trust
