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

router = ApiRouter(tags=["health"])
_Checkup = open_model(
    "Checkup", healthy=bool, checks=list[dict[str, Any]], mended=list[dict[str, Any]]
)
_Status = open_model(
    "Status",
    "Whether capture works, what is remembered, and the account of every input line.",
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


@router.task("GET /status", _Status, "How the memory stands")
def status(memory: Holdfast, bank: Bank = "all", cost: bool = False) -> Json:
    """The same as `holdfast status --json`; with `cost` the whole account of model services."""
    return status_json(memory, bank, None, cost)


@router.task(
    "GET /cost",
    open_model("Cost", model=str | None, tokens=int, usd=float | None, days=list[dict[str, Any]]),
    "What model services took",
)
def cost(memory: Holdfast) -> Json:
    """By day, operation and model; caps, pauses, and calls that failed."""
    return cost_json(gather_costs(memory), True)


@router.task("GET /doctor", _Checkup, "Check that everything is in order", MemoryPool.run_long)
def doctor(memory: Holdfast) -> Json:
    """Says what is wrong and how to fix it; changes nothing."""
    return _checkup(memory, ())


def _checkup(memory: Holdfast, fixed: Any) -> Json:
    """The result of the health checks. They import much, so they are loaded at the first use."""
    from holdfast.app.doctor.check import report_json
    from holdfast.app.doctor.examine import run_checks

    return report_json(run_checks(memory.settings, None), fixed)


class FixConfirmation(RequestBody):
    """That it is meant."""

    confirm: Literal["fix", "fix all"] = Field(
        description='"fix all" also takes away what is broken, and does what takes long.'
    )


@router.task("POST /doctor/fix", _Checkup, "Fix what can be fixed", MemoryPool.run_long)
def fix(memory: Holdfast, body: FixConfirmation) -> Json:
    """What takes something away is only done where `confirm` says so."""
    from holdfast.app.doctor.examine import run_fixes

    return _checkup(memory, run_fixes(memory.settings, None, lambda _: body.confirm == "fix all"))


@router.task(
    "GET /injections",
    open_model("Injections", injections=list[Injection]),
    "What was put into sessions, and its fate",
)
def injections(memory: Holdfast, bank: Bank = "all", limit: Limit = 50) -> Json:
    """The latest first."""
    found = memory.store.injections.latest(memory.context.bank_id(bank), limit=limit)
    return {"injections": found}


@router.task(
    "POST /ingest",
    open_model("Ingested", transcripts=IngestReport | None),
    "Read what is new in your own transcripts",
    MemoryPool.run_long,
)
def ingest(memory: Holdfast) -> Json:
    """Those of the user's agent, where it keeps them; no path is taken."""
    inputs = memory.ingestion.find([])
    return {"transcripts": memory.ingest(inputs) if inputs else None}
