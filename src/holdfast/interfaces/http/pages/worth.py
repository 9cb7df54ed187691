"""The usage report: injected context, whether it was used, and what it cost."""

from __future__ import annotations

from fastapi.responses import HTMLResponse

from holdfast.app.memory import Holdfast
from holdfast.app.status.health import ago
from holdfast.app.status.usage_report import DEFAULT_DAYS, USED_OUTCOMES, UsageReport, gather_usage
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.pages.page_request import PageRequestDep
from holdfast.interfaces.ui.plots import Plot, by_week, shares
from holdfast.model.bank import Bank

router = CheckedRouter(prefix="/worth")

_DAY_CHOICES = (7, 30, 90, 365)


# Parts of a bar, from below; a text that waits for judgement is in none.
_OUTCOMES = ("used", "ignored", "wrong")


@router.get("")
async def worth(
    request: PageRequestDep, bank: str = "all", days: int = DEFAULT_DAYS
) -> HTMLResponse:
    """The same as `holdfast worth`."""
    looked_back = days if days in _DAY_CHOICES else DEFAULT_DAYS

    def load(memory: Holdfast) -> tuple[UsageReport, list[Bank]]:
        seen = gather_usage(memory, bank, looked_back)
        return seen, memory.reader.banks.all()

    seen, banks = await request.pool.read(load)
    total = seen.total
    parts = [("used", total.used), ("ignored", total.ignored), ("wrong", total.wrong)]
    parts += [("did not arrive", total.lost), ("not judged yet", total.unjudged)]
    return request.render(
        "worth.html",
        title="Impact",
        worth=seen,
        bank=bank,
        banks=banks,
        choices=_DAY_CHOICES,
        shares=shares(parts),
        plot=_by_week(seen),
        judged=total.used + total.ignored + total.wrong,
        used=[use.value for use in USED_OUTCOMES],
        ago=ago,
    )


def _by_week(seen: UsageReport) -> Plot | None:
    """What became of what was put in, by week; None if nothing was judged."""
    amounts = {
        (week, name): getattr(counts, name)
        for week, counts in seen.weeks.items()
        for name in _OUTCOMES
        if getattr(counts, name)
    }
    if not amounts:
        return None
    return by_week(amounts, seen.until[:10], seen.days // 7 + 1, "text", _OUTCOMES)
