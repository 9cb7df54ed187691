"""Sessions: the list, and one of them."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from holdfast.interfaces.http.visit import Visiting

router = APIRouter(prefix="/sessions")


@router.get("")
async def sessions(visit: Visiting, limit: int = 50) -> HTMLResponse:
    """The latest sessions."""
    found = await visit.desk.read(lambda memory: memory.reader.sessions(None, min(limit, 200)))
    return visit.page("sessions.html", title="Sessions", sessions=found)
