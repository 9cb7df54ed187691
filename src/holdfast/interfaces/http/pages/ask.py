"""The first page: a question, and its answer with citations."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from holdfast.app.memory import Holdfast
from holdfast.interfaces.http.visit import Visiting
from holdfast.model.query import Answer

router = APIRouter()


@router.get("/")
async def ask(visit: Visiting, q: str = "", bank: str = "all") -> HTMLResponse:
    """Ask, without JavaScript too."""

    def answered(memory: Holdfast) -> Answer:
        return memory.ask(q, bank)

    answer = await visit.desk.work(answered) if q.strip() else None
    return visit.page("ask.html", title="Ask", question=q, answer=answer)
