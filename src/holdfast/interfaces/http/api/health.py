"""Status, costs, health checks, injected context; and reading new transcripts."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, Response
from pydantic import Field

from holdfast.app.memory import Holdfast
from holdfast.app.status import status_report as standing
from holdfast.app.status.costs import gather_costs
from holdfast.interfaces.http.api.requests import (
    ApiRequestDep,
    Bank,
    JsonObject,
    Limit,
    RequestBody,
)
from holdfast.interfaces.http.api.schema import open_model
from holdfast.model.ledgers.injections import Injection
from holdfast.refine.ingest.ingest import IngestReport

router = APIRouter(tags=["health"])
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


@router.get("/status", response_model=_Status, summary="How the memory stands")
async def status(request: ApiRequestDep, bank: Bank = "all", cost: bool = False) -> Response:
    """The same as `holdfast status --json`; with `cost` the whole account of model services."""
    return await request.read(lambda memory: standing.status_json(memory, bank, None, cost))


@router.get(
    "/cost",
    response_model=open_model(
        "Cost", model=str | None, tokens=int, usd=float | None, days=list[dict[str, Any]]
    ),
    summary="What model services took",
)
async def cost(request: ApiRequestDep) -> Response:
    """By day, operation and model; caps, pauses, and calls that failed."""
    return await request.read(lambda memory: standing.cost_json(gather_costs(memory), True))


@router.get("/doctor", response_model=_Checkup, summary="Check that everything is in order")
async def doctor(request: ApiRequestDep) -> Response:
    """Says what is wrong and how to mend it; changes nothing."""
    return await request.run_long(lambda memory: _checkup(memory, ()))


def _checkup(memory: Holdfast, fixed: Any) -> JsonObject:
    """The result of the health checks. They import much, so they are loaded at the first use."""
    from holdfast.app.doctor.check import report_json
    from holdfast.app.doctor.examine import run_checks

    return report_json(run_checks(memory.settings, None), fixed)


class FixConfirmation(RequestBody):
    """That it is meant."""

    confirm: Literal["fix", "fix all"] = Field(
        description='"fix all" also takes away what is broken, and does what takes long.'
    )


@router.post("/doctor/fix", response_model=_Checkup, summary="Mend what can be mended")
async def fix(request: ApiRequestDep, body: FixConfirmation) -> Response:
    """What takes something away is only done where `confirm` says so."""

    def change(memory: Holdfast) -> JsonObject:
        from holdfast.app.doctor.examine import run_fixes

        def approve(_: object) -> bool:
            return body.confirm == "fix all"

        return _checkup(memory, run_fixes(memory.settings, None, approve))

    return await request.run_long(change)


@router.get(
    "/injections",
    response_model=open_model("Injections", injections=list[Injection]),
    summary="What was put into sessions, and its fate",
)
async def injections(request: ApiRequestDep, bank: Bank = "all", limit: Limit = 50) -> Response:
    """The latest first."""
    return await request.read(
        lambda memory: {
            "injections": memory.store.injections(memory.context.bank_id(bank), limit=limit)
        }
    )


@router.post(
    "/ingest",
    response_model=open_model("Ingested", transcripts=IngestReport | None),
    summary="Read what is new in your own transcripts",
)
async def ingest(request: ApiRequestDep) -> Response:
    """Those of the user's agent, where it keeps them; no path is taken."""

    def change(memory: Holdfast) -> JsonObject:
        inputs = memory.ingestion.find([])
        account = memory.ingest(inputs) if inputs else None
        return {"transcripts": account}

    return await request.run_long(change)
