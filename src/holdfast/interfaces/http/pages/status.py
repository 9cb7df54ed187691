"""The health page: capture, the account of input lines, failures and costs."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import quantiles
from typing import Any, NamedTuple

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from holdfast.app.doctor.page_status import doctor_checks, running_processes
from holdfast.app.memory import Holdfast
from holdfast.app.status.health import SKIP_REASON_TEXT, ago, current_folder
from holdfast.app.status.memory_status import MemoryStatus, gather_status
from holdfast.interfaces.http.pages.page_request import PageRequestDep
from holdfast.interfaces.ui.plots import Plot, by_day, format_bytes, shares
from holdfast.model.bank import Bank
from holdfast.settings import NO_MODEL
from holdfast.store.protocol.overview import TableSize

router = APIRouter(prefix="/status")

_PLOTTED_DAYS = 30
_MAX_TABLES = 25


class Latency(NamedTuple):
    """How long the latest tasks took, in milliseconds: the median and the 95th percentile."""

    name: str
    questions: int
    half: float
    most: float


class StatusView(NamedTuple):
    """What the page shows; checks and table sizes only on request."""

    status: MemoryStatus
    banks: list[Bank]
    checks: list[Any]
    portions: list[TableSize]


@router.get("")
async def status(request: PageRequestDep, bank: str = "all", look: str = "") -> HTMLResponse:
    """The same as `holdfast status`; with `look=doctor` also what the doctor finds."""

    def load(memory: Holdfast) -> StatusView:
        return StatusView(
            gather_status(memory, bank, current_folder()),
            memory.reader.banks(),
            doctor_checks(memory) if look == "doctor" else [],
            memory.reader.table_sizes()[:_MAX_TABLES] if look == "sizes" else [],
        )

    # Checks and sizes take seconds, so they run on the engine thread.
    seen = await (request.pool.run if look else request.pool.read)(load)
    state, account = seen.status, seen.status.core.balance
    parts = [("captured", account.captured), *(account.skipped or {}).items()]
    parts += [("failed", account.failed), ("still to be read", account.pending)]
    return request.render(
        "status.html",
        title="Health",
        bank=bank,
        look=look,
        seen=seen,
        state=state,
        shares=shares(parts),
        because=SKIP_REASON_TEXT,
        tokens=_tokens(state),
        dollars=_dollars(state),
        latency=_latency(request.pool.durations_ms.items()),
        processes=running_processes(state.core.health),
        asks_model=state.costs.service != NO_MODEL,
        ago=ago,
        size=format_bytes,
    )


def _tokens(state: MemoryStatus) -> Plot | None:
    spent = {(one.day, one.operation): 0.0 for one in state.costs.days}
    for one in state.costs.days:
        spent[one.day, one.operation] += one.spent.tokens
    if not spent:
        return None
    return by_day(
        spent, _today(state), _PLOTTED_DAYS, lambda n: f"{n:,.0f}", state.costs.caps.day_tokens
    )


def _dollars(state: MemoryStatus) -> Plot | None:
    spent: dict[tuple[str, str], float] = {}
    for one in state.costs.days:
        name = (one.day, one.operation)
        spent[name] = spent.get(name, 0.0) + one.spent.usd
    if not any(spent.values()):
        return None
    return by_day(
        spent, _today(state), _PLOTTED_DAYS, lambda n: f"${n:,.3f}", state.costs.caps.day_usd
    )


def _today(state: MemoryStatus) -> str:
    return state.costs.as_of[:10]


def _latency(took: Iterable[tuple[str, Iterable[float]]]) -> list[Latency]:
    rows: list[Latency] = []
    for name, times in took:
        sorted_ms = sorted(times)
        if len(sorted_ms) > 1:
            cuts = quantiles(sorted_ms, n=20)
            rows.append(Latency(name, len(sorted_ms), cuts[9], cuts[18]))
    return rows
