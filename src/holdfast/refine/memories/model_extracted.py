"""What a model extracted of an exchange, in place of what rules retain of it.

An answer rests in `summary` under the hash of the turns it was made of, as all that was paid for
does: once the turns read otherwise, it is not found any more, and the rules' memories stand.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from holdfast.capture.redact import Redactor
from holdfast.language import cut
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Network
from holdfast.model.opinions import Sighting
from holdfast.model.records import Exchange, Turn
from holdfast.refine.memories.retention_rules import MOST, WHAT_LIMIT, WHY_LIMIT, sighting
from holdfast.refine.model_output.evidence import FACT_SHARE, TOLD_SHARE, Evidence, clean
from holdfast.refine.sessions.summaries import exchange_hash
from holdfast.store.protocol.model_calls import ModelSummaries

_SHORT = 120


class MemoryDraft(NamedTuple):
    """A memory as a model sees it; nothing in it is believed yet."""

    network: str
    what: str
    where: str
    who: str
    why: str
    confidence: float | None


def extraction_hash(turns: Sequence[Turn]) -> str:
    """What memories of an exchange are extracted from."""
    return content_id("memories", exchange_hash(turns))


def checked_memories(drafts: Sequence[MemoryDraft], evidence: Evidence, redactor: Redactor) -> str:
    """What of the drafts is borne out, as JSON; "" if nothing is."""
    kept: list[dict[str, Any]] = []
    for draft in drafts:
        what = cut(clean(draft.what), WHAT_LIMIT)
        sure = draft.confidence is not None and 0 <= draft.confidence <= 1
        named = draft.network in set(Network) and (draft.network != Network.OPINION or sure)
        if not named or not evidence.bears_out(what, FACT_SHARE):
            continue
        why = clean(draft.why)
        kept.append(
            {
                "network": draft.network,
                "what": redactor.redact(what).text,
                "where": _known(draft.where, evidence),
                "who": _known(draft.who, evidence),
                "why": redactor.redact(cut(evidence.kept(why, TOLD_SHARE), WHY_LIMIT)).text,
                "confidence": draft.confidence if draft.network == Network.OPINION else None,
            }
        )
    return json.dumps(kept[:MOST], ensure_ascii=False) if kept else ""


def _known(listed: str, evidence: Evidence) -> str:
    """The names of a list that stand in the turns."""
    named = [clean(part) for part in listed.split(",")]
    return cut(", ".join(name for name in named if name and evidence.knows(name)), _SHORT)


class Extracted:
    """Finds what was extracted in a bank."""

    def __init__(self, store: ModelSummaries, bank: str) -> None:
        self._store = store
        self._bank = bank
        self._any = store.has_summaries(bank)

    def of(self, exchange: Exchange, turns: Sequence[Turn]) -> list[Sighting] | None:
        """The memories that a model extracted of an exchange; None if none did."""
        known = self._store.summary(self._bank, extraction_hash(turns)) if self._any else None
        if known is None or not known.content:
            return None
        return [
            sighting(
                exchange,
                Network(item["network"]),
                item["what"],
                why=item["why"],
                where=item["where"],
                who=item["who"],
            )._replace(confidence=item["confidence"])
            for item in json.loads(known.content)
        ]
