"""What the next start brief of a bank tells and what nearly made it, with the forms that judge it;
the page of a record has the same form."""

from __future__ import annotations

from fastapi.responses import HTMLResponse, Response

from holdfast.app.memory import Holdfast
from holdfast.app.views.review_list import review_list
from holdfast.app.views.verdict_view import VerdictViews, check_unchanged
from holdfast.errors import InputError
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.pages.brief import choose_bank
from holdfast.interfaces.http.pages.curation import back_to, save
from holdfast.interfaces.http.pages.page_request import FormDep, PageRequestDep, Shown
from holdfast.interfaces.ui.notes import NOTES
from holdfast.learn.judging import read_verdict

router = CheckedRouter(prefix="/brief")
_PAGE = "/brief/review"
# The name of a tick is this and the URI of its record; its value is what of it was shown.
_PICK = "pick:"


@router.get("/review")
async def review_brief(
    request: PageRequestDep, bank: str = "", note: str = "", all: bool = False
) -> HTMLResponse:
    """What can be judged of a bank; by default of the one with the latest session. With `all`, also
    what people judged long ago."""

    def load(memory: Holdfast) -> Shown:
        banks, chosen = choose_bank(memory, bank)
        shown: Shown = {"banks": banks, "chosen": chosen, "items": (), "sections": ()}
        if chosen is None:
            return shown | {"sessions": (), "verdict_views": {}, "more": 0}
        brief = request.briefs.get(memory, chosen.id)
        found = review_list(memory, chosen.id, brief=brief, all_judged=all)
        views = VerdictViews(memory, chosen.id)
        return shown | {
            "items": found.items,
            "sections": list(found.sections()),
            "sessions": found.sessions,
            "more": found.more,
            "verdict_views": {item.uri: views.by_uri(item.uri) for item in found.items},
        }

    shown = await request.pool.read(load)
    return request.render(
        "brief_review.html", title="Review the brief", note=NOTES.get(note), **shown
    )


@router.post("/judge")
async def judge(request: PageRequestDep, form: FormDep) -> Response:
    """Judge a record, or all that were ticked, if they are still as they were shown."""
    ticked = {n.removeprefix(_PICK): seen for n, seen in form.items() if n.startswith(_PICK)}
    seen = ticked or ({form["uri"]: form["seen"]} if form["uri"] else {})
    why, words = form["why"], form["words"]

    def decide(memory: Holdfast) -> None:
        if not seen:
            raise InputError("Nothing was selected.", "Tick at least one item.")
        verdict = read_verdict(form["verdict"])
        check_unchanged(memory, seen)
        memory.curation.judge(list(seen), verdict, why, who=request.who, words=words)

    typed = "\n".join(filter(None, (why, words)))
    return await save(request, decide, typed, back_to(form, _PAGE), form["verdict"])
