"""Memories that a model extracted from an exchange; they replace what the rules would retain.

An answer of the model is stored in `summary` under the hash of the turns it was made from. If the
turns change, the answer is no longer found, and the memories of the rules are used again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from holdfast.capture.redact import Redactor
from holdfast.language import truncate
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Network
from holdfast.model.opinions import MemoryOccurrence
from holdfast.model.records import Exchange, Turn
from holdfast.refine.memories.retention_rules import (
    MAX_PER_EXCHANGE,
    MAX_WHAT_CHARS,
    MAX_WHY_CHARS,
    make_occurrence,
)
from holdfast.refine.model_output.evidence import FACT_SHARE, SUMMARY_SHARE, Evidence, clean_text
from holdfast.refine.sessions.model_summaries import exchange_hash
from holdfast.store.ledgers.model_calls import ModelSummaries

# Length of the lists of places and names in one memory.
_MAX_LIST_CHARS = 120


class MemoryDraft(NamedTuple):
    """A memory as a model wrote it, not yet checked against the turns."""

    network: str
    what: str
    where: str
    who: str
    why: str
    confidence: float | None


def extraction_hash(turns: Sequence[Turn]) -> str:
    """The key under which the extracted memories of these turns are stored."""
    return content_id("memories", exchange_hash(turns))


def checked_memories(drafts: Sequence[MemoryDraft], evidence: Evidence, redactor: Redactor) -> str:
    """The drafts that the turns support, redacted, as JSON; "" if none are."""
    kept: list[dict[str, Any]] = []
    for draft in drafts:
        what = truncate(clean_text(draft.what), MAX_WHAT_CHARS)
        has_confidence = draft.confidence is not None and 0 <= draft.confidence <= 1
        is_valid = draft.network in set(Network) and (
            draft.network != Network.OPINION or has_confidence
        )
        if not is_valid or not evidence.supports(what, FACT_SHARE):
            continue
        why = clean_text(draft.why)
        kept.append(
            {
                "network": draft.network,
                "what": redactor.redact(what).text,
                "where": _known_names(draft.where, evidence),
                "who": _known_names(draft.who, evidence),
                "why": redactor.redact(
                    truncate(evidence.supported_sentences(why, SUMMARY_SHARE), MAX_WHY_CHARS)
                ).text,
                "confidence": draft.confidence if draft.network == Network.OPINION else None,
            }
        )
    return json.dumps(kept[:MAX_PER_EXCHANGE], ensure_ascii=False) if kept else ""


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
        """The memories that a model extracted from an exchange; None if no model was asked."""
        known = self._summaries.get(self._bank, extraction_hash(turns)) if self._has_any else None
        if known is None or not known.content:
            return None
        return [
            make_occurrence(
                exchange,
                Network(item["network"]),
                item["what"],
                why=item["why"],
                where=item["where"],
                who=item["who"],
            )._replace(confidence=item["confidence"])
            for item in json.loads(known.content)
        ]
