"""The health page: capture, the account of input lines, failures and costs."""

from __future__ import annotations

from typing import Any

from fastapi.responses import HTMLResponse

from holdfast.app.memory import Holdfast
from holdfast.app.status.health import SKIP_REASON_TEXT, ago, current_folder
from holdfast.app.status.memory_status import MemoryStatus, gather_status
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.pages.page_request import PageRequestDep, Shown
from holdfast.interfaces.ui.formatting import format_bytes
from holdfast.settings import NO_MODEL

router = CheckedRouter(prefix="/status")


@router.get("")
async def status(request: PageRequestDep, bank: str = "all", look: str = "") -> HTMLResponse:
    """The same as `holdfast status`; with `look=doctor` also what the doctor finds."""

    def load(memory: Holdfast) -> tuple[MemoryStatus, Shown]:
        return gather_status(memory, bank, current_folder()), {
            "banks": memory.reader.banks.all(),
            "checks": _doctor_checks(memory) if look == "doctor" else [],
        }

    # Checks take seconds, so they run on the engine thread.
    state, seen = await (request.pool.run if look else request.pool.read)(load)
    return request.render(
        "status.html",
        title="Health",
        bank=bank,
        seen=seen,
        state=state,
        because=SKIP_REASON_TEXT,
        asks_model=state.costs.service != NO_MODEL,
        ago=ago,
        size=format_bytes,
    )


def _doctor_checks(memory: Holdfast) -> list[Any]:
    from holdfast.app.doctor import examine

    return list(examine.run_checks(memory.settings, current_folder()))
