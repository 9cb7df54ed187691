"""The health page: capture, the account of input lines, failures and costs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from statistics import quantiles

from fastapi.responses import HTMLResponse

from holdfast.app.core.context import utc_now
from holdfast.app.doctor.page_status import doctor_checks, running_processes
from holdfast.app.memory import Holdfast
from holdfast.app.status.costs import Costs
from holdfast.app.status.health import SKIP_REASON_TEXT, ago, current_folder
from holdfast.app.status.home_view import TurnsByDay, turns_by_day
from holdfast.app.status.memory_status import MemoryStatus, gather_status
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.pages.page_request import PageRequestDep, Shown
from holdfast.interfaces.ui.plots import Plot, by_day, duration_bars, format_bytes, shares
from holdfast.settings import NO_MODEL

router = CheckedRouter(prefix="/status")

_PLOTTED_DAYS = 30
_MAX_TABLES = 25


@router.get("")
async def status(request: PageRequestDep, bank: str = "all", look: str = "") -> HTMLResponse:
    """The same as `holdfast status`; with `look=doctor` also what the doctor finds."""

    def load(memory: Holdfast) -> tuple[MemoryStatus, Shown]:
        return gather_status(memory, bank, current_folder()), {
            "banks": memory.reader.banks.all(),
            "turns": turns_by_day(memory, memory.context.bank_id(bank), _PLOTTED_DAYS, utc_now()),
            "checks": doctor_checks(memory) if look == "doctor" else [],
            "portions": memory.reader.overview.table_sizes()[:_MAX_TABLES]
            if look == "sizes"
            else [],
        }

    # Checks and sizes take seconds, so they run on the engine thread.
    state, seen = await (request.pool.run if look else request.pool.read)(load)
    account, costs = state.core.balance, state.costs
    parts = [("captured", account.captured), *(account.skipped or {}).items()]
    parts += [("failed", account.failed), ("pending", account.pending)]
    is_priced = any(one.spent.usd for one in costs.days)
    return request.render(
        "status.html",
        title="Health",
        bank=bank,
        look=look,
        seen=seen,
        state=state,
        shares=shares(parts),
        because=SKIP_REASON_TEXT,
        tokens=_plot(costs, "tokens", "{:,.0f}", costs.caps.day_tokens),
        dollars=_plot(costs, "usd", "${:,.3f}", costs.caps.day_usd) if is_priced else None,
        latency=_latency(request.pool.durations_ms.items()),
        captured=_captured(seen["turns"]),
        processes=running_processes(state.core.health),
        asks_model=costs.service != NO_MODEL,
        ago=ago,
        size=format_bytes,
    )


def _plot(costs: Costs, unit: str, form: str, cap: float) -> Plot | None:
    """What was spent by day and operation, in `tokens` or `usd`; None if there was no call."""
    spent: defaultdict[tuple[str, str], float] = defaultdict(float)
    for one in costs.days:
        spent[one.day, one.operation] += getattr(one.spent, unit)
    return by_day(spent, costs.as_of[:10], _PLOTTED_DAYS, form.format, cap) if spent else None


def _captured(turns: TurnsByDay) -> Plot | None:
    """What was captured by day and bank; None if nothing was."""
    if not turns.amounts:
        return None
    return by_day(turns.amounts, turns.until, _PLOTTED_DAYS, lambda n: f"{round(n):,}")


def _latency(took: Iterable[tuple[str, Iterable[float]]]) -> list[Shown]:
    """How long the latest tasks took, in milliseconds: the median and the 95th percentile."""
    rows: list[Shown] = []
    for name, times in took:
        latest = list(times)
        sorted_ms = sorted(latest)
        if len(sorted_ms) > 1:
            cuts = quantiles(sorted_ms, n=20)
            rows.append(
                {
                    "name": name,
                    "questions": len(sorted_ms),
                    "half": cuts[9],
                    "most": cuts[18],
                    "plot": duration_bars(latest),
                }
            )
    return rows
