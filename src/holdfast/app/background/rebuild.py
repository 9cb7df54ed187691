"""Derives again what older rules and prompts derived, for `holdfast refine`.

Rules cost nothing. Calls of a model are planned and priced first, and made as far as the caps
allow. Finished work is kept, so a second run continues where the first stopped.
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

# Called with how much is done, and how much there is in all.
OnProgress = Callable[[int, int], None]


class ModelPlan(NamedTuple):
    """The model calls that `run_model_plan` would make. `service` is "" if the settings allow no
    model; `held` says why the service cannot be asked at present."""

    service: str
    estimate: CostEstimate
    held: str = ""


def derive_pending(memory: Holdfast) -> int:
    """Derive the sessions that have no derived records yet; returns how many there were."""
    done = derive_stale(memory.store)
    update_stages(memory.store, memory.now)
    _renew_briefs(memory, done)
    return done


def rebuild_by_rules(memory: Holdfast, on_progress: OnProgress) -> int:
    """Derive again, by rules, what older rules derived; returns the number of sessions."""
    done = derive_stale(memory.store) + derive_outdated(memory.store, on_progress)
    update_stages(memory.store, memory.now)
    _renew_briefs(memory, done)
    return done


def plan_model_calls(memory: Holdfast) -> ModelPlan:
    """Which sessions a model would summarise again, and what that would cost."""
    model = open_summary_model(memory)
    if model is None:
        return ModelPlan("", CostEstimate())
    store, settings = memory.store, memory.settings.models
    costs = session_costs(
        store, store.outdated_summaries(PROMPTS), model.is_over, model.limits.input_tokens
    )
    price = price_of(model.chat.model, dict(settings.prices))
    now = memory.now()
    estimate = estimate_cost(
        costs,
        settings.caps,
        price,
        store.total_spent(now[:10]),
        lambda bank, session: store.total_spent("", bank, session),
    )
    return ModelPlan(model.governor.model, estimate, _why_held(model, now))


def _why_held(model: SummaryModel, now: str) -> str:
    for pause in model.store.paused_services():
        if pause.service == model.governor.model and pause.since <= now < pause.until:
            return f"{pause.service} rests until {pause.until}: {pause.problem}"
    return ""


def run_model_plan(memory: Holdfast, plan: ModelPlan, on_progress: OnProgress) -> SummaryReport:
    """Make the planned calls, as far as the caps allow."""
    calls = plan.estimate.calls
    done = 0

    def count() -> None:
        nonlocal done
        on_progress(done, max(calls, done))
        done += 1

    report = resummarise(
        memory, [(need.bank, need.session) for need in plan.estimate.sessions], count
    )
    update_stages(memory.store, memory.now)
    _renew_briefs(memory, report.exchanges + report.digests)
    return report


def _renew_briefs(memory: Holdfast, changed: int) -> None:
    if changed and HomePaths(memory.settings.home).briefs.is_dir():
        prepare_briefs(memory.settings, memory.now)
