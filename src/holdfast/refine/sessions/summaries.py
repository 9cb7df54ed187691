"""A model's summaries, laid over what rules made. The rules' version is never lost: it follows
from the turns, and what it proves (files, outcome, commits) always stands.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from holdfast.capture.redact import Redactor
from holdfast.language import cut
from holdfast.model.accounts import Summary
from holdfast.model.ids import content_id
from holdfast.model.records import Digest, Exchange, ExchangeType, Turn
from holdfast.refine.model_output.evidence import FACT_SHARE, TOLD_SHARE, Evidence, clean
from holdfast.refine.model_output.responses import DigestDraft, ExchangeDraft
from holdfast.refine.sessions.digests import ITEMS
from holdfast.refine.sessions.exchanges import (
    DETAILS_LIMIT,
    FACTS_LIMIT,
    SUMMARY_LIMIT,
    TITLE_LIMIT,
)

_FACT_LIMIT = 300
_KEYWORD_LIMIT = 40
_KEYWORDS = 10
_ITEM_LIMIT = 260
_LISTS = ("investigated", "learned", "completed", "next_steps")


def exchange_hash(turns: Iterable[Turn]) -> str:
    """What an exchange is made of: a turn's id is of what was said at the time, its text what
    stands now; a tool's result may come later."""
    parts: list[str] = []
    for turn in turns:
        parts += [turn.id, turn.text]
        if turn.tool is not None:
            parts += [turn.tool.result, str(turn.tool.ok)]
    return content_id("exchange", *parts)


def digest_hash(exchanges: Iterable[Exchange], closing: str) -> str:
    """What a digest is made of."""
    told = [part for x in exchanges for part in (x.id, x.title, x.summary, *x.facts)]
    return content_id("digest", *told, closing)


def checked_exchange(draft: ExchangeDraft, evidence: Evidence, redactor: Redactor) -> str:
    """What of a draft is borne out, as JSON; "" if too little of it is."""
    title, summary = clean(draft.title), clean(draft.summary)
    content: dict[str, Any] = {
        "title": cut(title, TITLE_LIMIT) if evidence.bears_out(title, TOLD_SHARE) else "",
        "summary": cut(evidence.kept(summary, TOLD_SHARE), SUMMARY_LIMIT),
        "details": cut(evidence.kept(clean(draft.details), TOLD_SHARE), DETAILS_LIMIT // 2),
        "facts": _borne_out(draft.facts, evidence, _FACT_LIMIT)[:FACTS_LIMIT],
        "keywords": [
            word
            for word in map(clean, draft.keywords)
            if word and len(word) <= _KEYWORD_LIMIT and evidence.knows(word)
        ][:_KEYWORDS],
    }
    if draft.type in {one.value for one in ExchangeType}:
        content["type"] = draft.type
    return _spell(content, redactor) if content["title"] or content["summary"] else ""


def checked_digest(draft: DigestDraft, evidence: Evidence, redactor: Redactor) -> str:
    """The same for a digest."""
    request = clean(draft.request)
    content: dict[str, Any] = {
        "request": cut(request, _ITEM_LIMIT) if evidence.bears_out(request, TOLD_SHARE) else ""
    }
    for name in _LISTS:
        content[name] = _borne_out(getattr(draft, name), evidence, _ITEM_LIMIT)[:ITEMS]
    return _spell(content, redactor) if any(content.values()) else ""


def _borne_out(items: Sequence[str], evidence: Evidence, limit: int) -> list[str]:
    plain = dict.fromkeys(cut(clean(item), limit) for item in items)
    return [item for item in plain if evidence.bears_out(item, FACT_SHARE)]


def _spell(content: dict[str, Any], redactor: Redactor) -> str:
    """What is read is redacted, but a model may put together what stood apart."""
    clean_content = {
        name: redactor.redact(value).text
        if isinstance(value, str)
        else [redactor.redact(item).text for item in value]
        for name, value in content.items()
    }
    return json.dumps(clean_content, ensure_ascii=False, separators=(",", ":"))


class Made(Protocol):
    """Where it lies what models made."""

    def has_summaries(self, bank: str) -> bool:
        """Whether there is anything to look for in a bank."""
        ...

    def summary(self, bank: str, hash: str) -> Summary | None:
        """What was made of what has this hash; None if nothing came of it."""
        ...


class ByModel:
    """Finds and lays over what models made of a bank's records."""

    def __init__(self, summaries: Made, bank: str) -> None:
        self._summaries = summaries
        self._bank = bank
        self._any = summaries.has_summaries(bank)

    def exchange(self, rules: Exchange, turns: Sequence[Turn]) -> Exchange:
        """The exchange as it is used."""
        made = self._summaries.summary(self._bank, exchange_hash(turns)) if self._any else None
        if made is None:
            return rules
        told: dict[str, Any] = json.loads(made.content)
        details = "\n".join(filter(None, (told["details"], rules.details)))
        facts = _joined(told["facts"], [f for f in rules.facts if f.startswith("Committed: ")])
        return replace(
            rules,
            type=ExchangeType(told.get("type", rules.type)),
            title=told["title"] or rules.title,
            summary=told["summary"] or rules.summary,
            details=details[:DETAILS_LIMIT],
            facts=facts or rules.facts,
            keywords=_joined(told["keywords"], rules.keywords)[:_KEYWORDS],
            author=made.model,
        )

    def digest(self, rules: Digest, exchanges: Sequence[Exchange], closing: str) -> Digest:
        """The digest as it is used."""
        hash = digest_hash(exchanges, closing) if self._any else ""
        made = self._summaries.summary(self._bank, hash) if hash else None
        if made is None:
            return rules
        told: dict[str, Any] = json.loads(made.content)
        lists = {name: tuple(told[name]) or getattr(rules, name) for name in _LISTS}
        request = told["request"] or rules.request
        return replace(rules, request=request, author=made.model, **lists)


def _joined(first: Iterable[str], then: Iterable[str]) -> tuple[str, ...]:
    kept: dict[str, str] = {}
    for item in (*first, *then):
        kept.setdefault(item.casefold(), item)
    return tuple(kept.values())
