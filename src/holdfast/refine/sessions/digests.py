"""Builds the digest of a session from its exchanges, by rules: request, investigated, learned,
completed, next steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from holdfast.language import collapse_spaces, truncate
from holdfast.model.ids import content_id
from holdfast.model.records import Digest, Exchange, ExchangeType, Outcome, Session
from holdfast.model.trust import least_trusted
from holdfast.refine.core import signals
from holdfast.refine.core.signals import names_change
from holdfast.refine.sessions.titles import session_title


class DigestLimits(NamedTuple):
    """How long a digest may get. Higher limits say more and cost tokens wherever it is shown."""

    # Items in each list.
    items: int = 6
    # Completed work may have two more, because commits are listed beside what they contain.
    completed: int = 8
    next_steps: int = 4
    topics: int = 10
    request_characters: int = 200
    investigated_characters: int = 220
    item_characters: int = 260
    # Items that start with the same characters are the same.
    same_item_characters: int = 60
    # What the first keyword of an exchange weighs; each one after it weighs one less, at least 1.
    topic_weight: int = 8


LIMITS = DigestLimits()


def build_digest(session: Session, exchanges: Sequence[Exchange], closing: str) -> Digest | None:
    """The digest of a session that ended with the text `closing`; None if it has no exchanges."""
    if not exchanges:
        return None
    return Digest(
        bank=session.bank,
        id=digest_id(session.id),
        session=session.id,
        started=session.started,
        ended=session.ended,
        request=_request(session, exchanges),
        outcome=_outcome(exchanges),
        trust=least_trusted(exchange.trust for exchange in exchanges),
        investigated=_investigated(exchanges),
        learned=_distinct(fact for x in exchanges for fact in x.facts if not names_change(fact)),
        completed=_completed(exchanges),
        next_steps=_next_steps(exchanges, closing),
        topics=_topics(exchanges),
        exchanges=len(exchanges),
    )


def digest_id(session: str) -> str:
    """The id of the digest of a session."""
    return content_id("digest", session)


def _request(session: Session, exchanges: Sequence[Exchange]) -> str:
    first = session_title(session, exchanges)
    more = len(exchanges) - 1
    return truncate(first, LIMITS.request_characters) + (
        f" (and {more} more request{'s' * (more > 1)})" if more else ""
    )


def _outcome(exchanges: Sequence[Exchange]) -> Outcome:
    last = exchanges[-1].outcome
    if last is Outcome.ANSWERED and any(x.outcome is Outcome.DONE for x in exchanges):
        return Outcome.DONE
    return last


def _investigated(exchanges: Sequence[Exchange]) -> tuple[str, ...]:
    looked = [x.title for x in exchanges if x.type is ExchangeType.DISCOVERY]
    read = Counter(path for x in exchanges for path in x.files_read)
    files = [path for path, _ in read.most_common(LIMITS.items)]
    found = looked[: LIMITS.items - 1] + ([f"read {', '.join(files)}"] if files else [])
    return tuple(truncate(item, LIMITS.investigated_characters) for item in found)


def _completed(exchanges: Sequence[Exchange]) -> tuple[str, ...]:
    done: list[str] = []
    for exchange in exchanges:
        if exchange.outcome is Outcome.DONE and exchange.type is not ExchangeType.DISCOVERY:
            joint = " " if exchange.title.endswith(("?", "!", ".", "…")) else ": "
            done.append(exchange.title + (joint + exchange.summary if exchange.summary else ""))
        done += [fact for fact in exchange.facts if names_change(fact)]
    return _distinct(done, limit=LIMITS.completed)


def _next_steps(exchanges: Sequence[Exchange], closing: str) -> tuple[str, ...]:
    last = exchanges[-1]
    steps: list[str] = []
    if last.outcome in (Outcome.INTERRUPTED, Outcome.OPEN, Outcome.FAILED):
        steps.append(f"{last.outcome.value}: {last.title}")
    return _distinct([*steps, *signals.next_steps(closing)], limit=LIMITS.next_steps)


def _topics(exchanges: Sequence[Exchange]) -> tuple[str, ...]:
    weight: Counter[str] = Counter()
    for exchange in exchanges:
        for rank, word in enumerate(exchange.keywords):
            weight[word] += max(LIMITS.topic_weight - rank, 1)
    return tuple(sorted(weight, key=lambda word: (-weight[word], word))[: LIMITS.topics])


def _distinct(items: Iterable[str], limit: int = LIMITS.items) -> tuple[str, ...]:
    kept: dict[str, str] = {}
    for item in items:
        kept.setdefault(
            collapse_spaces(item).lower()[: LIMITS.same_item_characters],
            truncate(item, LIMITS.item_characters),
        )
    return tuple(kept.values())[:limit]
