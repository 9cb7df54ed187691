"""Making again what older rules and prompts made: what there is, what it takes, and doing it.

By rules it costs nothing. By a model it is priced first, and done as far as the caps allow; what
was done stays done, so running it again goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from holdfast.app.background.model_summaries import SummaryModel, open_summary_model, resummarise
from holdfast.app.briefs.briefing import prepare_briefs
from holdfast.app.ingest.stages import update_stages
from holdfast.app.memory import Holdfast
from holdfast.capture.home_paths import HomePaths
from holdfast.refine.by_model.cost_estimate import CostEstimate, estimate_cost, session_costs
from holdfast.refine.by_model.summarise import SummaryReport
from holdfast.refine.model_output.prompts import PROMPT_VERSION as PROMPTS
from holdfast.refine.sessions.derive import derive_outdated, derive_stale
from holdfast.spend.prices import price_of

Tick = Callable[[int, int], None]


class ModelPlan(NamedTuple):
    """What a model would be asked for. `service` is "" where none may be asked; `held` says why
    it would not go on at once."""

    service: str
    estimate: CostEstimate
    held: str = ""


def derive_pending(memory: Holdfast) -> int:
    """Derive what waits for it; returns how many sessions there were."""
    done = derive_stale(memory.store)
    update_stages(memory.store, memory.now)
    _renew_briefs(memory, done)
    return done


def rebuild_by_rules(memory: Holdfast, tick: Tick) -> int:
    """Make again by rules what older ones made; returns how many sessions it was."""
    done = derive_stale(memory.store) + derive_outdated(memory.store, tick)
    update_stages(memory.store, memory.now)
    _renew_briefs(memory, done)
    return done


def plan_model_calls(memory: Holdfast) -> ModelPlan:
    """What a model would be asked for, and what that takes."""
    models = open_summary_model(memory)
    if models is None:
        return ModelPlan("", CostEstimate())
    store, settings = memory.store, memory.settings.models
    found = session_costs(
        store, store.outdated_summaries(PROMPTS), models.is_over, models.limits.input_tokens
    )
    price = price_of(models.chat.model, dict(settings.prices))
    now = memory.now()
    made = estimate_cost(
        found,
        settings.caps,
        price,
        store.total_spent(now[:10]),
        lambda bank, session: store.total_spent("", bank, session),
    )
    return ModelPlan(models.governor.model, made, _held(models, now))


def _held(models: SummaryModel, now: str) -> str:
    for pause in models.store.paused_services():
        if pause.service == models.governor.model and pause.since <= now < pause.until:
            return f"{pause.service} rests until {pause.until}: {pause.problem}"
    return ""


def run_model_plan(memory: Holdfast, offered: ModelPlan, tick: Tick) -> SummaryReport:
    """Have the model asked, as far as the caps allow."""
    calls = offered.estimate.calls
    done = 0

    def count() -> None:
        nonlocal done
        tick(done, max(calls, done))
        done += 1

    came = resummarise(
        memory, [(need.bank, need.session) for need in offered.estimate.sessions], count
    )
    update_stages(memory.store, memory.now)
    _renew_briefs(memory, came.exchanges + came.digests)
    return came


def _renew_briefs(memory: Holdfast, changed: int) -> None:
    if changed and HomePaths(memory.settings.home).briefs.is_dir():
        prepare_briefs(memory.settings, memory.now)
