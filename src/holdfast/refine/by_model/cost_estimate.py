"""Estimates the cost of summarising sessions by a model, for the first time or again.

The estimate is made of the questions that would be asked; only the length of the answers is
guessed. No model is called, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import ceil
from typing import NamedTuple

from holdfast.inference.chat import Question, Usage
from holdfast.model.ledgers.model_calls import Spending
from holdfast.model.records import Session
from holdfast.refine.by_model.summary_queue import (
    MIN_SUMMARY_BYTES,
    PendingExchange,
    batch_exchanges,
    pending_digest,
    pending_exchanges,
    project_name,
)
from holdfast.refine.model_output import prompts
from holdfast.refine.model_output.prompts import PromptContext
from holdfast.settings import SpendCaps
from holdfast.spend.governor import max_usage
from holdfast.spend.prices import Price
from holdfast.store.protocol import Store

# A guess at the answer for one exchange or digest; a call reserves more than ten times as much.
EXPECTED_ANSWER_TOKENS = 300


class SessionCost(NamedTuple):
    """What is to be summarised in one session, and about how many calls and tokens it takes."""

    bank: str
    session: str
    exchanges: int = 0
    digests: int = 0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def add_call(self, question: Question, answers: int = 1) -> SessionCost:
        """The cost with one more call, which gives so many answers."""
        return self._replace(
            calls=self.calls + 1,
            tokens_in=self.tokens_in + max_usage(question).tokens_in,
            tokens_out=self.tokens_out + answers * EXPECTED_ANSWER_TOKENS,
        )


class CostEstimate(NamedTuple):
    """The cost of all sessions. `capped` ones cannot be summarised again, because the rest of their
    cap is too small. `usd` is None if no price is known. `days` is how many days it takes with the
    daily caps; None if these allow nothing."""

    sessions: tuple[SessionCost, ...] = ()
    capped: tuple[SessionCost, ...] = ()
    exchanges: int = 0
    digests: int = 0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float | None = None
    days: int | None = 0


def session_costs(
    store: Store,
    sessions: Iterable[tuple[str, str]],
    is_over: Callable[[Session], bool],
    tokens: int,
    again: bool = True,
) -> Iterator[SessionCost]:
    """The cost of each of these sessions that exist: of summarising again what older prompts
    summarised or, without `again`, what no model has summarised."""
    for bank, id in sessions:
        session = store.sessions.get(bank, id)
        if session is not None:
            yield _session_cost(store, session, is_over(session), tokens, again)


def _session_cost(
    store: Store, session: Session, over: bool, tokens: int, again: bool
) -> SessionCost:
    cost = SessionCost(session.bank, session.id)
    found = pending_exchanges(store, session, over, tokens, again)
    pending = [one for one in found if one.size >= MIN_SUMMARY_BYTES]
    project = project_name(store, session)
    for batch in batch_exchanges(pending, tokens):
        context = PromptContext(project, batch[0].before)
        cost = _add_batch(cost, batch, context)._replace(exchanges=cost.exchanges + len(batch))
    if not over:
        return cost
    digest = pending_digest(store, session, tokens, again)
    text = digest.text if digest is not None else ""
    if digest is not None and cost.exchanges and not again:
        # It is asked for once the exchanges have summaries; those by rules are about as long.
        exchanges = store.sessions.exchanges(session.bank, session.id)
        text = prompts.format_session(digest.digest, exchanges, "", tokens)
    if text:
        question = prompts.digest_question(text, PromptContext(project))
        return cost.add_call(question)._replace(digests=1)
    return cost


def _add_batch(
    cost: SessionCost, batch: list[PendingExchange], context: PromptContext
) -> SessionCost:
    if len(batch) > 1 or len(batch[0].parts) == 1:
        texts = [one.parts[0] for one in batch]
        return cost.add_call(prompts.exchanges_question(texts, context=context), len(batch))
    for number, part in enumerate(batch[0].parts):
        cost = cost.add_call(prompts.exchanges_question([part], context=context))
        # Each part but the first gets the summary of the parts before it.
        cost = cost._replace(tokens_in=cost.tokens_in + (EXPECTED_ANSWER_TOKENS if number else 0))
    return cost


def estimate_cost(
    found: Iterable[SessionCost],
    caps: SpendCaps,
    price: Price | None,
    spent_today: Spending,
    spent_for: Callable[[str, str], Spending],
) -> CostEstimate:
    """The sum of these costs, compared with the caps."""
    sessions: list[SessionCost] = []
    capped: list[SessionCost] = []
    for cost in found:
        fits = not cost.calls or _fits_caps(cost, caps, price, spent_for(cost.bank, cost.session))
        (sessions if fits else capped).append(cost)
    total = Usage(sum(n.tokens_in for n in sessions), sum(n.tokens_out for n in sessions))
    usd = None if price is None else price.cost(total)
    return CostEstimate(
        tuple(sessions),
        tuple(capped),
        sum(n.exchanges for n in sessions),
        sum(n.digests for n in sessions),
        sum(n.calls for n in sessions),
        total.tokens_in,
        total.tokens_out,
        usd,
        _days_needed(total, usd, caps, spent_today),
    )


def _fits_caps(cost: SessionCost, caps: SpendCaps, price: Price | None, spent: Spending) -> bool:
    """Whether the caps allow the whole session: half of it would leave it without a digest. The
    last call needs the tokens that every call reserves."""
    usage = Usage(cost.tokens_in, cost.tokens_out + prompts.MAX_ANSWER_TOKENS)
    if spent.tokens + usage.tokens_in + usage.tokens_out > caps.session_tokens:
        return False
    return price is None or spent.usd + price.cost(usage) <= caps.session_usd


def _days_needed(total: Usage, usd: float | None, caps: SpendCaps, today: Spending) -> int | None:
    tokens = total.tokens_in + total.tokens_out
    if not tokens:
        return 0
    lasts = [_days_for_cap(tokens, caps.day_tokens, today.tokens)]
    if usd:
        lasts.append(_days_for_cap(usd, caps.day_usd, today.usd))
    return None if None in lasts else max(day for day in lasts if day is not None)


def _days_for_cap(cost: float, cap: float, spent: float) -> int | None:
    """The number of days over which `cost` is spent, today included; None if the cap is 0."""
    if cap <= 0:
        return None
    left = max(0.0, cap - spent)
    return 1 if cost <= left else 1 + ceil((cost - left) / cap)
