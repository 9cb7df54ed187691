"""What a model service would do for this memory, and what it would cost, before one is chosen.

Nothing is sent: the cost is estimated from the questions that would be asked about the user's own
latest sessions.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from holdfast.app.background.model_tasks import summarise_sessions
from holdfast.app.memory import Holdfast
from holdfast.errors import HoldfastError
from holdfast.inference.chat import Usage
from holdfast.inference.service_choice import default_model, detect_service, service_problem
from holdfast.refine.by_model.cost_estimate import session_costs
from holdfast.settings import NO_MODEL, ModelSettings, SpendCaps
from holdfast.spend.prices import PRICES_AS_OF, price_of

AUTO = "auto"
# The cost is estimated from so many sessions of people, among the latest sessions of all.
_SESSIONS, _LOOKED_AT = 10, 200
_RECIPIENTS = {
    "claude": "Anthropic, through Claude Code and the subscription it is logged in with",
    "anthropic": "Anthropic's API, with the key in ANTHROPIC_API_KEY",
    "openai": "OpenAI's API, with the key in OPENAI_API_KEY",
    NO_MODEL: "Anthropic, through Claude Code, once the package for it is installed",
}


class ModelOffer(NamedTuple):
    """The offer. `service` is the one that would be asked, "none" if none can be; then `problem`
    says why. `tokens` and `usd` are those of a session, on average over `sessions` of the user's
    own; `usd` is None if the price is not known. `title` is what `session` is called
    without a model."""

    service: str
    recipient: str
    model: str
    problem: str
    caps: SpendCaps
    sessions: int
    tokens: int
    usd: float | None
    bank: str
    session: str
    title: str
    days: int
    prices_as_of: str = PRICES_AS_OF


def gather_offer(memory: Holdfast) -> ModelOffer | None:
    """The offer for this memory; None if it has no session that a model would summarise."""
    models = replace(memory.settings.models, use=AUTO)
    latest = memory.reader.sessions.latest(None, _LOOKED_AT)
    people = [(one.bank, one.id) for one in latest if not one.parent]
    found = session_costs(
        memory.store, people, lambda session: True, models.input_tokens, again=False
    )
    costs = list(islice((cost for cost in found if cost.digests), _SESSIONS))
    if not costs:
        return None
    service, problem = detect_service(models), service_problem(models)
    model = _model_name(models, service)
    used = Usage(
        sum(cost.tokens_in for cost in costs) // len(costs),
        sum(cost.tokens_out for cost in costs) // len(costs),
    )
    return ModelOffer(
        service,
        models.endpoint or _RECIPIENTS[service],
        model,
        problem.message if problem else "",
        models.caps,
        len(costs),
        used.tokens_in + used.tokens_out,
        _price(models, model, used),
        costs[0].bank,
        costs[0].session,
        session_title(memory, costs[0].bank, costs[0].session),
        models.days,
    )


def _model_name(models: ModelSettings, service: str) -> str:
    return (
        models.summaries
        or default_model(service, "summaries")
        or default_model("anthropic", "summaries")
    )


def _price(models: ModelSettings, model: str, used: Usage) -> float | None:
    """Dollars of a session. A subscription's short name of a model is priced as its API model."""
    priced = default_model("anthropic", "summaries") if model == "haiku" else model
    price = price_of(priced, dict(models.prices))
    return None if price is None else price.cost(used)


def session_title(memory: Holdfast, bank: str, session: str) -> str:
    """What a session is called now."""
    digest = memory.reader.sessions.digest(bank, session)
    return digest.request if digest else ""


def title_by_model(memory: Holdfast, offer: ModelOffer) -> tuple[str, str]:
    """Have the chosen model summarise the session of an offer. Returns its title then, and why it
    is no better if that failed."""
    try:
        report = summarise_sessions(memory, [(offer.bank, offer.session)], lambda: None)
    except HoldfastError as error:
        return "", error.full_text
    return session_title(memory, offer.bank, offer.session), report.stopped
