"""The health page: capture, the account of input lines, failures and costs."""

from __future__ import annotations

from fastapi.responses import HTMLResponse

from holdfast.app.status.health import SKIP_REASON_TEXT, ago
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.pages.page_request import PageRequestDep, ask

router = CheckedRouter(prefix="/status")


@router.get("")
async def status(request: PageRequestDep, bank: str = "all", look: str = "") -> HTMLResponse:
    """The same as `holdfast status`; with `look=doctor` also what the doctor finds."""
    call = request.call
    state, banks = await request.pool.read(
        lambda memory: (
            ask(memory, call, "status", bank=bank, cost=True),
            memory.reader.banks.all(),
        )
    )
    checks = (await request.ask("doctor")).checks if look == "doctor" else ()
    return request.render(
        "status.html",
        title="Health",
        bank=bank,
        banks=banks,
        s=state,
        checks=checks,
        because=SKIP_REASON_TEXT,
        ago=ago,
    )
