"""Status, costs, health checks, injected context; and reading new transcripts."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from holdfast.app.memory import Holdfast
from holdfast.app.status.costs import gather_costs
from holdfast.app.status.status_report import cost_json, status_json
from holdfast.interfaces.http.api.requests import ApiRouter, Bank, Json, Limit, RequestBody
from holdfast.interfaces.http.api.schema import open_model
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.model.ledgers.injections import Injection
from holdfast.refine.ingest.ingest import IngestReport

router = ApiRouter("health")
_Checkup = open_model(
    "Checkup", healthy=bool, checks=list[dict[str, Any]], mended=list[dict[str, Any]]
)
_Status = open_model(
    "Status",
    "The state of capture, counts of records, and the ledger of input lines.",
    bank=str,
    home=str,
    sessions=int,
    turns=int,
    exchanges=int,
    raw_bytes=int,
    l1_bytes=int,
    ledger=dict[str, Any],
    worker=dict[str, Any],
    last_event=str | None,
    cost=dict[str, Any],
)


@router.task("GET /status", _Status, "Get the status")
def status(memory: Holdfast, bank: Bank = "all", cost: bool = False) -> Json:
    """The same as `holdfast status --json`; with `cost` also all costs of model services."""
    return status_json(memory, bank, None, cost)


@router.task(
    "GET /cost",
    open_model("Cost", model=str | None, tokens=int, usd=float | None, days=list[dict[str, Any]]),
    "Get the costs of model services",
)
def cost(memory: Holdfast) -> Json:
    """By day, operation and model; caps, pauses and failed calls."""
    return cost_json(gather_costs(memory), True)


@router.task("GET /doctor", _Checkup, "Run health checks", MemoryPool.run_long)
def doctor(memory: Holdfast) -> Json:
    """Lists problems and how to fix them. Changes nothing."""
    return _checkup(memory, ())


def _checkup(memory: Holdfast, fixed: Any) -> Json:
    """The result of the health checks. They import much, so they are loaded at the first use."""
    from holdfast.app.doctor.check import report_json
    from holdfast.app.doctor.examine import run_checks

    return report_json(run_checks(memory.settings, None), fixed)


class FixConfirmation(RequestBody):
    """The confirmation of fixes."""

    confirm: Literal["fix", "fix all"] = Field(
        description='"fix all" also deletes broken parts, and runs slow fixes.'
    )


@router.task("POST /doctor/fix", _Checkup, "Fix problems", MemoryPool.run_long)
def fix(memory: Holdfast, body: FixConfirmation) -> Json:
    """Fixes that delete something run only with `"confirm": "fix all"`."""
    from holdfast.app.doctor.examine import run_fixes

    return _checkup(memory, run_fixes(memory.settings, None, lambda _: body.confirm == "fix all"))


@router.task(
    "GET /injections",
    open_model("Injections", injections=list[Injection]),
    "List injected context",
)
def injections(memory: Holdfast, bank: Bank = "all", limit: Limit = 50) -> Json:
    """What was injected into sessions, and whether it was used; the latest first."""
    found = memory.store.injections.latest(memory.context.bank_id(bank), limit=limit)
    return {"injections": found}


@router.task(
    "POST /ingest",
    open_model("Ingested", transcripts=IngestReport | None),
    "Read new transcripts",
    MemoryPool.run_long,
)
def ingest(memory: Holdfast) -> Json:
    """Those of the server's user, where the agents store them. Takes no path."""
    inputs = memory.ingestion.find([])
    return {"transcripts": memory.ingest(inputs) if inputs else None}
