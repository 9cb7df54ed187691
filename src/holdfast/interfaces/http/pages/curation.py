"""The forms that change records. They write the same log of decisions as the command line. If a
record changed since its form was shown, nothing is saved and the text that was typed is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import urlencode

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from holdfast.app.memory import Holdfast
from holdfast.app.views.record_view import current_text, fingerprint
from holdfast.errors import InputError, NotFoundError
from holdfast.interfaces.http.pages.memory import plan_purge
from holdfast.interfaces.http.pages.page_request import (
    Form,
    FormDep,
    PageRequest,
    PageRequestDep,
    Shown,
)
from holdfast.interfaces.ui.formatting import link
from holdfast.learn.curation import Target
from holdfast.learn.decision_state import undoable
from holdfast.model.uris import uri

router = APIRouter(prefix="/memory")
_TABS = {
    "fact": "facts", "concept": "concepts", "memory": "memories", "shared": "shared",
    "imported": "imported",
}  # fmt: skip


def redirect_with_note(path: str, note: str, **more: str) -> Response:
    """Redirect to a page that says what was done."""
    return RedirectResponse(f"{path}?{urlencode({**more, 'note': note})}", 303)


@router.post("/remember")
async def remember(request: PageRequestDep, form: FormDep) -> Response:
    """Store a new memory."""
    text, network = form["text"], form["network"] or "world"
    sure = _confidence(form["confidence"]) if network == "opinion" else None

    def keep(memory: Holdfast) -> str:
        if not form["bank"]:
            raise InputError("Of which project?", "Choose a bank.")
        bank = memory.banks.get(form["bank"]).id
        return memory.retain(text, network, sure, "", form["why"], bank, request.who).id

    try:
        memory_id = await request.pool.run(keep)
    except InputError as error:
        return unsaved_page(request, error, text)
    return redirect_with_note(link(uri("memory", memory_id)), "remembered")


def _confidence(text: str) -> float | None:
    try:
        return float(text) / 100
    except ValueError:
        return None


@router.post("/correct")
async def correct(request: PageRequestDep, form: FormDep) -> Response:
    """Correct a record, if its text is still the one that was shown."""
    name, text = form["uri"], form["text"]

    def say(memory: Holdfast) -> str | None:
        target = memory.curation.target(name)
        now = current_text(memory, target) if target.shown else ""
        if target.shown and fingerprint(now) != form["seen"]:
            return now
        memory.correct(target.uri, text, target.bank, request.who)
        return None

    try:
        now = await request.pool.run(say)
    except InputError as error:
        return unsaved_page(request, error, text)
    if now is not None:
        return request.render(
            "conflict.html", HTTPStatus.CONFLICT, title="Changed meanwhile", uri=name, text=text,
            now=now, seen=fingerprint(now),
        )  # fmt: skip
    return redirect_with_note(link(name), "corrected")


def unsaved_page(request: PageRequest, error: InputError, text: str) -> HTMLResponse:
    """An error page that shows the text that was typed, so that it is not lost."""
    status = 404 if isinstance(error, NotFoundError) else 400
    return request.render("unsaved.html", status, title="Not saved", error=error, text=text)


async def save(
    request: PageRequest,
    task: Callable[[Holdfast], object],
    text: str,
    path: str,
    note: str,
    **more: str,
) -> Response:
    """Change something and redirect to a page that says so; if the change is refused, show the
    text that was typed."""
    try:
        await request.pool.run(task)
    except InputError as error:
        return unsaved_page(request, error, text)
    return redirect_with_note(path, note, **more)


@router.post("/forget")
async def forget(request: PageRequestDep, form: FormDep) -> Response:
    """Forget a record."""
    target = await _apply(
        request, form, lambda memory, t: memory.forget(t.uri, t.bank, request.who)
    )
    if form["back"] == "stale":
        return redirect_with_note("/review", "forgotten", tab="stale")
    if target.kind in _TABS:
        return redirect_with_note("/memory", "forgotten", tab=_TABS[target.kind])
    return redirect_with_note(link(target.uri), "forgotten")


@router.post("/holds")
async def holds(request: PageRequestDep, form: FormDep) -> Response:
    """Confirm a record although its code changed."""
    decision = await request.pool.run(lambda m: m.curation.confirm(form["uri"], who=request.who))
    if form["back"] == "stale":
        return redirect_with_note("/review", "holds", tab="stale")
    return redirect_with_note(link(decision.target), "holds")


@router.post("/restore")
async def restore(request: PageRequestDep, form: FormDep) -> Response:
    """Restore a record."""
    target = await _apply(
        request, form, lambda memory, t: memory.restore(t.uri, t.bank, request.who)
    )
    if form["back"] == "forgotten" and target.kind not in _TABS:
        return redirect_with_note("/memory", "restored", tab="forgotten")
    return redirect_with_note(link(target.uri), "restored")


async def _apply(
    request: PageRequest, form: Form, act: Callable[[Holdfast, Target], object]
) -> Target:
    def decide(memory: Holdfast) -> Target:
        target = memory.curation.target(form["uri"])
        act(memory, target)
        return target

    return await request.pool.run(decide)


@router.post("/merge")
async def merge(request: PageRequestDep, form: FormDep) -> Response:
    """Merge a record into another."""
    name = form["uri"]
    into = form["other"] or form["into"]
    if not into:
        raise InputError("Into which record?", "Choose one, or name it.")

    def join(memory: Holdfast) -> str:
        target = memory.curation.target(name)
        other = memory.curation.target(into, target.bank)
        memory.curation.merge(target.uri, other.uri, target.bank, request.who)
        return other.uri

    return redirect_with_note(link(await request.pool.run(join)), "merged")


@router.post("/undo")
async def undo(request: PageRequestDep, form: FormDep) -> Response:
    """Undo the latest decision, if it is still the one that was shown."""
    bank, seen = form["bank"], form["seq"]

    def back(memory: Holdfast) -> None:
        banks = memory.context.bank_ids(bank or "all")
        log = [e for one in banks for e in undoable(memory.reader.curation.log(one))]
        latest = max((entry.seq for entry in log), default=0)
        if str(latest) != seen:
            raise InputError(
                "Something else was decided meanwhile; nothing was taken back.",
                "Look at the decisions again.",
            )
        memory.undo(1, bank or "all", request.who)

    await request.pool.run(back)
    return redirect_with_note(
        "/memory", "undone", tab="decisions", **({"bank": bank} if bank else {})
    )


@router.post("/purge")
async def purge(request: PageRequestDep, form: FormDep) -> Response:
    """Erase a record, if exactly what was shown would be erased."""
    name = form["uri"]
    if form["sure"] != "yes":
        raise InputError("Nothing was erased.", "Say that you are sure; it cannot be undone.")

    def erase(memory: Holdfast) -> Shown | None:
        """Returns what would be erased now, if that is not what was shown."""
        plan = plan_purge(memory, name)
        if plan["seen"] != form["seen"]:
            return plan
        target = memory.curation.target(name)
        memory.erasure.purge(target.uri, target.bank, request.who)
        return None

    plan = await request.pool.run(erase)
    if plan is not None:
        return request.render(
            "purge.html", HTTPStatus.CONFLICT, title="Erase for good", plan=plan, changed=True
        )
    return redirect_with_note("/memory", "erased", tab="decisions")
