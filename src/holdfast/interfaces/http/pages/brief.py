"""The brief of the next session of a bank, line by line, with the forms to correct and forget what
stands in it; and the form that judges a record, which is on the record's page."""

from __future__ import annotations

from fastapi.responses import HTMLResponse, Response

from holdfast.app.memory import Holdfast
from holdfast.app.views.brief_view import next_brief
from holdfast.app.views.verdict_view import check_unchanged
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.pages.curation import back_to, save
from holdfast.interfaces.http.pages.page_request import FormDep, PageRequestDep, Shown
from holdfast.interfaces.ui.notes import NOTES
from holdfast.learn.judging import read_verdict
from holdfast.model.bank import Bank

router = CheckedRouter(prefix="/brief")


@router.get("")
async def brief(request: PageRequestDep, bank: str = "", note: str = "") -> HTMLResponse:
    """The brief of a bank; by default of the one with the latest session."""

    def load(memory: Holdfast) -> Shown:
        banks, chosen = choose_bank(memory, bank)
        return {
            "banks": banks,
            "chosen": chosen,
            "brief": next_brief(memory, chosen.id, request.briefs) if chosen else None,
        }

    shown = await request.pool.read(load)
    return request.render("brief.html", title="Brief", note=NOTES.get(note), **shown)


@router.post("/judge")
async def judge(request: PageRequestDep, form: FormDep) -> Response:
    """Judge a record, if it is still as it was shown."""
    name, why, words = form["uri"], form["why"], form["words"]

    def decide(memory: Holdfast) -> None:
        verdict = read_verdict(form["verdict"])
        check_unchanged(memory, name, form["seen"])
        memory.curation.judge([name], verdict, why, who=request.who, words=words)

    typed = "\n".join(filter(None, (why, words)))
    return await save(request, decide, typed, back_to(form, "/brief"), form["verdict"])


def choose_bank(memory: Holdfast, bank: str) -> tuple[list[Bank], Bank | None]:
    """All banks, and the one with this name or id; without one, that which somebody worked in
    last."""
    banks = memory.reader.banks.all()
    return banks, memory.banks.get(bank) if bank else _latest(memory, banks)


def _latest(memory: Holdfast, banks: list[Bank]) -> Bank | None:
    """The bank that somebody worked in last."""
    last = [session.bank for session in memory.reader.sessions.latest(None, 1)]
    return next((bank for bank in banks if bank.id in last), next(iter(banks), None))
