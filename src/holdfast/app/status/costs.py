"""What model services took, may still take, and why they are not asked, if they are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from holdfast.app.core.context import utc_now
from holdfast.app.memory import Holdfast
from holdfast.inference.service_choice import detect_service
from holdfast.model.model_calls import ModelCall, ServicePause, Spending
from holdfast.refine.model_output.prompts import MAX_ANSWER_TOKENS, PROMPT_VERSION
from holdfast.settings import NO_MODEL, SpendCaps
from holdfast.spend.governor import add_seconds
from holdfast.spend.prices import PRICES_AS_OF
from holdfast.store.protocol.model_calls import DailySpending

_DAY_S = 86400.0


class Costs(NamedTuple):
    """The account. `service` is the one that would be asked, "none" if none; `waiting` sessions
    have something that was not summed up; `held` says what stands in the way,
    `as_of` when it was looked at."""

    service: str
    caps: SpendCaps
    today: Spending
    days: tuple[DailySpending, ...] = ()
    pauses: tuple[ServicePause, ...] = ()
    troubled: tuple[ModelCall, ...] = ()
    waiting: int = 0
    held: str = ""
    prices_as_of: str = PRICES_AS_OF
    as_of: str = ""


def gather_costs(memory: Holdfast, days: int = 30, now: Callable[[], str] = utc_now) -> Costs:
    """Add up the last days."""
    models, moment = memory.settings.models, now()
    ledger = memory.store
    today = ledger.total_spent(moment[:10])
    spending = ledger.spending_by_day(add_seconds(moment, -days * _DAY_S)[:10])
    pauses = [pause for pause in ledger.paused_services() if pause.since <= moment < pause.until]
    troubled = ledger.failed_calls()
    since = add_seconds(moment, -models.days * _DAY_S) if models.days else ""
    waiting = len(ledger.unsummarised_sessions(since, PROMPT_VERSION, 1000))
    service = detect_service(models)
    waiting = waiting if service != NO_MODEL else 0
    held = _held(models.caps, today, pauses) if service != NO_MODEL else ""
    return Costs(
        *(service, models.caps, today, tuple(spending), tuple(pauses), tuple(troubled)),
        *(waiting, held),
        as_of=moment,
    )


def _held(caps: SpendCaps, today: Spending, pauses: list[ServicePause]) -> str:
    """Why nothing is asked for the moment; a call needs room for more than nothing."""
    if pauses:
        return f"{pauses[0].service} rests until {pauses[0].until}: {pauses[0].problem}"
    if today.tokens + MAX_ANSWER_TOKENS > caps.day_tokens:
        return f"the day's cap of {caps.day_tokens:,} tokens has no room for another call"
    if today.usd >= caps.day_usd * 0.98 and today.calls:
        return f"the day's cap of ${caps.day_usd:.2f} is reached"
    return ""
