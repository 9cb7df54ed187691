"""The forms that change records. They write the same log of decisions as the command line. If a
record changed since its form was shown, nothing is saved and the text that was typed is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Generic, NamedTuple, TypeVar
from urllib.parse import urlencode

from fastapi.responses import HTMLResponse, RedirectResponse, Response

from holdfast.app.memory import Holdfast
from holdfast.app.views.record_view import current_text, fingerprint
from holdfast.errors import InputError, NotFoundError
from holdfast.interfaces.http.auth.guard import local_path
from holdfast.interfaces.http.auth.permissions import CheckedRouter
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
from holdfast.model.curation import Curation
from holdfast.model.uris import uri

router = CheckedRouter(prefix="/memory")
# A button undoes what one form decided, which is a few decisions at most.
_MAX_UNDONE = 100
T = TypeVar("T")
_TABS = {
    "fact": "facts", "concept": "concepts", "memory": "memories", "shared": "shared",
    "imported": "imported",
}  # fmt: skip


class Decided(NamedTuple, Generic[T]):
    """What a task returned, and the numbers of the decisions that it made, joined by commas."""

    made: T
    decisions: str


async def decide(request: PageRequest, task: Callable[[Holdfast], T]) -> Decided[T]:
    """Run a task that decides something, and tell by which numbers it can be undone."""

    def run(memory: Holdfast) -> Decided[T]:
        before = max((entry.seq for entry in _log(memory)), default=0)
        made = task(memory)
        ours = [e.seq for e in _log(memory) if e.seq > before and e.who == request.who]
        return Decided(made, ",".join(map(str, sorted(ours))))

    return await request.pool.run(run)


def _log(memory: Holdfast) -> list[Curation]:
    return [e for bank in memory.context.bank_ids("all") for e in memory.reader.curation.log(bank)]


def redirect_with_note(path: str, note: str, undo: str = "", **more: str) -> Response:
    """Redirect to a page that says what was done, with a button that undoes the decisions `undo`.
    The path may have a query of its own."""
    shown = {**more, "note": note, **({"undo": undo} if undo else {})}
    before, _, fragment = path.partition("#")
    joined = f"{before}{'&' if '?' in before else '?'}{urlencode(shown)}"
    return RedirectResponse(f"{joined}#{fragment}" if fragment else joined, 303)


def back_to(form: Form, otherwise: str) -> str:
    """The page that a form was sent from, if it says so, else another one."""
    return local_path(form["from"]) if form["from"] else otherwise


@router.post("/remember")
async def remember(request: PageRequestDep, form: FormDep) -> Response:
    """Store a new memory."""
    text, network = form["text"], form["network"] or "world"
    sure = _confidence(form["confidence"]) if network == "opinion" else None

    def keep(memory: Holdfast) -> str:
        if not form["bank"]:
            raise InputError("No bank is selected.", "Choose a bank.")
        bank = memory.banks.get(form["bank"]).id
        return memory.retain(text, network, sure, "", form["why"], bank, request.who).id

    try:
        memory_id, undo = await decide(request, keep)
    except InputError as error:
        return unsaved_page(request, error, text)
    return redirect_with_note(link(uri("memory", memory_id)), "remembered", undo)


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
        now, undo = await decide(request, say)
    except InputError as error:
        return unsaved_page(request, error, text)
    if now is not None:
        return request.render(
            "conflict.html", HTTPStatus.CONFLICT, title="Changed meanwhile", uri=name, text=text,
            now=now, seen=fingerprint(now),
        )  # fmt: skip
    return redirect_with_note(back_to(form, link(name)), "corrected", undo)


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
        _, undo = await decide(request, task)
    except InputError as error:
        return unsaved_page(request, error, text)
    return redirect_with_note(path, note, undo, **more)


@router.post("/forget")
async def forget(request: PageRequestDep, form: FormDep) -> Response:
    """Forget a record."""
    target, undo = await _apply(
        request, form, lambda memory, t: memory.forget(t.uri, t.bank, request.who)
    )
    place = f"/memory?tab={_TABS[target.kind]}" if target.kind in _TABS else link(target.uri)
    return redirect_with_note(back_to(form, place), "forgotten", undo)


@router.post("/holds")
async def holds(request: PageRequestDep, form: FormDep) -> Response:
    """Confirm a record although its code changed."""
    decision, undo = await decide(
        request, lambda m: m.curation.confirm(form["uri"], who=request.who)
    )
    return redirect_with_note(back_to(form, link(decision.target)), "holds", undo)


@router.post("/restore")
async def restore(request: PageRequestDep, form: FormDep) -> Response:
    """Restore a record."""
    target, undo = await _apply(
        request, form, lambda memory, t: memory.restore(t.uri, t.bank, request.who)
    )
    if form["back"] == "forgotten" and target.kind not in _TABS:
        return redirect_with_note("/memory", "restored", undo, tab="forgotten")
    return redirect_with_note(link(target.uri), "restored", undo)


async def _apply(
    request: PageRequest, form: Form, act: Callable[[Holdfast, Target], object]
) -> Decided[Target]:
    def run(memory: Holdfast) -> Target:
        target = memory.curation.target(form["uri"])
        act(memory, target)
        return target

    return await decide(request, run)


@router.post("/merge")
async def merge(request: PageRequestDep, form: FormDep) -> Response:
    """Merge a record into another."""
    name = form["uri"]
    into = form["other"] or form["into"]
    if not into:
        raise InputError("No target record is selected.", "Choose one, or enter its name.")

    def join(memory: Holdfast) -> str:
        target = memory.curation.target(name)
        other = memory.curation.target(into, target.bank)
        memory.curation.merge(target.uri, other.uri, target.bank, request.who)
        return other.uri

    other, undo = await decide(request, join)
    return redirect_with_note(link(other), "merged", undo)


@router.post("/undo")
async def undo(request: PageRequestDep, form: FormDep) -> Response:
    """Undo decisions by their numbers, if nothing later depends on them."""
    numbers = [int(n) for n in form["seq"].split(",") if n.isascii() and n.isdigit()]
    if not numbers or len(numbers) > _MAX_UNDONE:
        raise InputError("No such decision.", "Choose one of the list.")

    def back(memory: Holdfast) -> None:
        for number in sorted(numbers, reverse=True):
            memory.undo(1, "all", request.who, number)

    await request.pool.run(back)
    place = f"/memory?{urlencode({'tab': 'decisions', 'bank': form['bank']})}"
    return redirect_with_note(back_to(form, place), "undone")


@router.post("/purge")
async def purge(request: PageRequestDep, form: FormDep) -> Response:
    """Erase a record, if exactly what was shown would be erased."""
    name = form["uri"]
    if form["sure"] != "yes":
        raise InputError("Nothing was erased.", "Tick the box to confirm; this cannot be undone.")

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
            "purge.html", HTTPStatus.CONFLICT, title="Erase permanently", plan=plan, changed=True
        )
    return redirect_with_note("/memory", "erased", tab="decisions")
