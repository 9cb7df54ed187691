"""Derives again what older rules and prompts derived, for `holdfast refine`.

Rules cost nothing. Calls of a model are planned and priced first, and made as far as the caps
allow. Finished work is kept, so a second run continues where the first stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from holdfast.app.background.model_tasks import open_model, resummarise
from holdfast.app.curation.records import refresh_derived
from holdfast.app.memory import Holdfast
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
    refresh_derived(memory.context)
    return done


def rebuild_by_rules(memory: Holdfast, on_progress: OnProgress) -> int:
    """Derive again, by rules, what older rules derived; returns the number of sessions."""
    done = derive_stale(memory.store) + derive_outdated(memory.store, on_progress)
    refresh_derived(memory.context)
    return done


def plan_model_calls(memory: Holdfast) -> ModelPlan:
    """Which sessions a model would summarise again, and what that would cost."""
    task = open_model(memory)
    if task is None:
        return ModelPlan("", CostEstimate())
    store, models, now = memory.store, memory.settings.models, memory.now()
    outdated = store.versions.outdated_summaries(PROMPTS)
    calls, service = store.model_calls, task.governor.model
    estimate = estimate_cost(
        session_costs(store, outdated, task.is_over, models.input_tokens),
        models.caps,
        price_of(task.chat.model, dict(models.prices)),
        calls.total_spent(now[:10]),
        lambda bank, session: calls.total_spent("", bank, session),
    )
    for pause in calls.paused_services():
        if pause.service == service and pause.since <= now < pause.until:
            held = f"{service} is paused until {pause.until}: {pause.problem}"
            return ModelPlan(service, estimate, held)
    return ModelPlan(service, estimate)


def run_model_plan(memory: Holdfast, plan: ModelPlan, on_progress: OnProgress) -> SummaryReport:
    """Make the planned calls, as far as the caps allow."""
    done = 0

    def count() -> None:
        nonlocal done
        on_progress(done, max(plan.estimate.calls, done))
        done += 1

    sessions = [(need.bank, need.session) for need in plan.estimate.sessions]
    report = resummarise(memory, sessions, count)
    refresh_derived(memory.context)
    return report
