"""Checks a model's summaries against the turns, and puts them over the records built by rules.

Files, outcome and commits always come from the rules, and their version of the text can be rebuilt
from the turns (`derive.rebuild_by_rules`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from holdfast.capture.redact import Redactor
from holdfast.language import truncate
from holdfast.model.ids import content_id
from holdfast.model.ledgers.model_calls import ModelSummary
from holdfast.model.records import Digest, Exchange, ExchangeType, Turn
from holdfast.refine.core.signals import names_change
from holdfast.refine.model_output.evidence import FACT_SHARE, SUMMARY_SHARE, Evidence, clean_text
from holdfast.refine.model_output.responses import DigestDraft, ExchangeDraft
from holdfast.refine.sessions.digests import LIMITS as DIGEST_LIMITS
from holdfast.refine.sessions.exchanges import LIMITS

_MAX_KEYWORDS = 10
# A longer keyword is a phrase.
_MAX_KEYWORD_CHARACTERS = 40
_LISTS = ("investigated", "learned", "completed", "next_steps")


def exchange_hash(turns: Iterable[Turn]) -> str:
    """The hash of the turns of an exchange as they are now. A turn's id does not change when its
    text is corrected or its tool result arrives."""
    parts: list[str] = []
    for turn in turns:
        parts += [turn.id, turn.text]
        if turn.tool is not None:
            parts += [turn.tool.result, str(turn.tool.ok)]
    return content_id("exchange", *parts)


def digest_hash(exchanges: Iterable[Exchange], closing: str) -> str:
    """The hash of the exchanges and the closing text that a digest is made of."""
    parts = [part for x in exchanges for part in (x.id, x.title, x.summary, *x.facts)]
    return content_id("digest", *parts, closing)


def check_exchange(draft: ExchangeDraft, evidence: Evidence, redactor: Redactor) -> str:
    """The supported parts of a draft as JSON; "" if that leaves neither title nor summary."""
    title, summary, details = map(clean_text, (draft.title, draft.summary, draft.details))
    title_supported = evidence.supports(title, SUMMARY_SHARE)
    content: dict[str, Any] = {
        "title": truncate(title, LIMITS.title_characters) if title_supported else "",
        "summary": truncate(
            evidence.supported_sentences(summary, SUMMARY_SHARE), LIMITS.summary_characters
        ),
        # The other half is for the details by rules.
        "details": truncate(
            evidence.supported_sentences(details, SUMMARY_SHARE), LIMITS.details_characters // 2
        ),
        "facts": _supported_items(draft.facts, evidence, LIMITS.fact_characters)[: LIMITS.facts],
        "keywords": [
            word
            for word in map(clean_text, draft.keywords)
            if word and len(word) <= _MAX_KEYWORD_CHARACTERS and evidence.contains_name(word)
        ][:_MAX_KEYWORDS],
    }
    if draft.type in {one.value for one in ExchangeType}:
        content["type"] = draft.type
    return _to_json(content, redactor) if content["title"] or content["summary"] else ""


def check_digest(draft: DigestDraft, evidence: Evidence, redactor: Redactor) -> str:
    """The parts of a digest's draft that the evidence supports, as JSON; "" if none are."""
    request = clean_text(draft.request)
    longest = DIGEST_LIMITS.item_characters
    content: dict[str, Any] = {
        "request": truncate(request, longest) if evidence.supports(request, SUMMARY_SHARE) else ""
    }
    for name in _LISTS:
        items = _supported_items(getattr(draft, name), evidence, longest)
        content[name] = items[: DIGEST_LIMITS.items]
    return _to_json(content, redactor) if any(content.values()) else ""


def _supported_items(items: Sequence[str], evidence: Evidence, limit: int) -> list[str]:
    plain = dict.fromkeys(truncate(clean_text(item), limit) for item in items)
    return [item for item in plain if evidence.supports(item, FACT_SHARE)]


def _to_json(content: dict[str, Any], redactor: Redactor) -> str:
    """JSON without secrets. The turns are redacted already, but a model may join the parts of a
    secret."""
    redacted = {
        name: redactor.redact(value).text
        if isinstance(value, str)
        else [redactor.redact(item).text for item in value]
        for name, value in content.items()
    }
    return json.dumps(redacted, ensure_ascii=False, separators=(",", ":"))


class SummaryReader(Protocol):
    """Reads the stored summaries by models."""

    def has_summaries(self, bank: str) -> bool:
        """Whether a bank has any summaries."""
        ...

    def summary(self, bank: str, hash: str) -> ModelSummary | None:
        """The usable summary of the content with this hash."""
        ...


class ModelSummaries:
    """Applies the summaries of a bank to its exchanges and digests."""

    def __init__(self, summaries: SummaryReader, bank: str) -> None:
        self._summaries = summaries
        self._bank = bank
        self._any = summaries.has_summaries(bank)

    def exchange(self, rules: Exchange, turns: Sequence[Turn]) -> Exchange:
        """The exchange with the model's summary, if there is one."""
        found = self._summaries.summary(self._bank, exchange_hash(turns)) if self._any else None
        if found is None:
            return rules
        content: dict[str, Any] = json.loads(found.content)
        details = "\n".join(filter(None, (content["details"], rules.details)))
        facts = _merge(content["facts"], filter(names_change, rules.facts))
        return replace(
            rules,
            type=ExchangeType(content.get("type", rules.type)),
            title=content["title"] or rules.title,
            summary=content["summary"] or rules.summary,
            details=details[: LIMITS.details_characters],
            facts=facts or rules.facts,
            keywords=_merge(content["keywords"], rules.keywords)[:_MAX_KEYWORDS],
            author=found.model,
        )

    def digest(self, rules: Digest, exchanges: Sequence[Exchange], closing: str) -> Digest:
        """The digest with the model's summary, if there is one."""
        hash = digest_hash(exchanges, closing) if self._any else ""
        found = self._summaries.summary(self._bank, hash) if hash else None
        if found is None:
            return rules
        content: dict[str, Any] = json.loads(found.content)
        lists = {name: tuple(content[name]) or getattr(rules, name) for name in _LISTS}
        request = content["request"] or rules.request
        return replace(rules, request=request, author=found.model, **lists)


def _merge(first: Iterable[str], then: Iterable[str]) -> tuple[str, ...]:
    """The items of both, each once regardless of case."""
    kept: dict[str, str] = {}
    for item in (*first, *then):
        kept.setdefault(item.casefold(), item)
    return tuple(kept.values())
