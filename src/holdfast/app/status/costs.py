"""What model services have cost, what the caps still allow, and why none is asked at present."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.app.core.context import utc_now
from holdfast.app.memory import Holdfast
from holdfast.inference.service_choice import detect_service, service_problem
from holdfast.model.ledgers.model_calls import ModelCall, ServicePause, Spending
from holdfast.refine.model_output.prompts import MAX_ANSWER_TOKENS, PROMPT_VERSION
from holdfast.settings import NO_MODEL, SpendCaps
from holdfast.spend.prices import PRICES_AS_OF
from holdfast.store.ledgers.model_calls import DailySpending
from holdfast.times import add_seconds

_DAY_S = 86400.0
# The days that the account goes back.
_DAYS = 30
# Waiting sessions are counted up to this number, so that the query stays fast on a long history.
_MAX_COUNTED = 1000
# The day's cap in dollars counts as reached from this share on: the rest is too little for another
# call.
_CAP_REACHED_SHARE = 0.98


class Costs(NamedTuple):
    """The account. `service` is the one that would be asked, "none" if there is none; `troubled`
    are calls that failed; `waiting` sessions have something to summarise; `held` says why no call
    is made at present; `as_of` is the time of the account; `problem` says why the service that the
    settings choose cannot be asked, `remedy` what to do about it."""

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
    problem: str = ""
    remedy: str = ""


def gather_costs(memory: Holdfast) -> Costs:
    """Add up the last days."""
    models, current, store = memory.settings.models, utc_now(), memory.store
    service, problem = detect_service(models), service_problem(models)
    costs = Costs(
        service,
        models.caps,
        store.model_calls.total_spent(current[:10]),
        tuple(store.model_calls.spending_by_day(add_seconds(current, -_DAYS * _DAY_S)[:10])),
        tuple(p for p in store.model_calls.paused_services() if p.since <= current < p.until),
        tuple(store.model_calls.failed()),
        as_of=current,
        problem=problem.message if problem else "",
        remedy=problem.remedy if problem else "",
    )
    if service == NO_MODEL:
        return costs
    since = add_seconds(current, -models.days * _DAY_S) if models.days else ""
    waiting = len(store.summaries.unsummarised_sessions(since, PROMPT_VERSION, _MAX_COUNTED))
    return costs._replace(waiting=waiting, held=_why_held(models.caps, costs.today, costs.pauses))


def _why_held(caps: SpendCaps, today: Spending, pauses: tuple[ServicePause, ...]) -> str:
    """Why no call is made at present; "" if calls are possible. A call needs room for a whole
    answer."""
    if pauses:
        return f"{pauses[0].service} is paused until {pauses[0].until}: {pauses[0].problem}"
    if today.tokens + MAX_ANSWER_TOKENS > caps.day_tokens:
        return f"the daily limit of {caps.day_tokens:,} tokens leaves no room for another call"
    if today.usd >= caps.day_usd * _CAP_REACHED_SHARE and today.calls:
        return f"the daily limit of ${caps.day_usd:.2f} is reached"
    return ""
