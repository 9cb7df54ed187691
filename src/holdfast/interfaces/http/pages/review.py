"""The review queue: proposed rules, contradictions and agents' memories, with the forms that decide
about them; and lists of redacted secrets and of records about changed code."""

from __future__ import annotations

import hashlib
from http import HTTPStatus
from typing import NamedTuple

from fastapi.responses import HTMLResponse, Response

from holdfast.app.curation.rule_proposals import Candidate, FileChangedError
from holdfast.app.memory import Holdfast
from holdfast.app.search.audit import audit
from holdfast.app.views.record_view import current_text, fingerprint
from holdfast.app.views.review_queue import (
    ReviewQueue,
    answered_reviews,
    is_from_agent,
    load_queue,
    redacted_files,
    refused_proposals,
)
from holdfast.errors import InputError, NotFoundError
from holdfast.interfaces.http.auth.permissions import CheckedRouter, check, permissions
from holdfast.interfaces.http.core.request_principal import principal
from holdfast.interfaces.http.pages.curation import (
    decide,
    redirect_with_note,
    save,
    unsaved_page,
)
from holdfast.interfaces.http.pages.page_request import (
    Form,
    FormDep,
    PageRequest,
    PageRequestDep,
    Shown,
)
from holdfast.interfaces.ui.notes import NOTES
from holdfast.model.knowledge import ProposalKind, Review
from holdfast.model.uris import uri

router = CheckedRouter(prefix="/review")
RULES, FACTS, AGENTS, SECRETS, STALE = "rules", "facts", "agents", "secrets", "stale"
TABS = {
    RULES: "Rules",
    FACTS: "Contradictions",
    AGENTS: "From agents",
    SECRETS: "Secrets",
    STALE: "Stale code",
}
# Entries of each list; older ones are left out, not lost.
_MAX_SHOWN = 100


@router.get("")
async def review(request: PageRequestDep, tab: str = "", note: str = "") -> HTMLResponse:
    """One tab of the queue; by default the first one that is not empty."""
    if tab and tab not in TABS:
        raise NotFoundError(f"There is no tab {tab!r}.", f"One of: {', '.join(TABS)}.")

    def load(memory: Holdfast) -> tuple[ReviewQueue, Shown]:
        found = redacted_files(memory.reader)
        refused = refused_proposals(memory.reader) if tab in (RULES, AGENTS) else []
        queue = load_queue(memory)
        return queue, {
            "queue": queue,
            "banks": memory.context.bank_names(),
            "secrets": found[:_MAX_SHOWN],
            "secret": len(found),
            "audit": audit(memory.reader, None) if tab == STALE else None,
            "decided": answered_reviews(memory)[:_MAX_SHOWN] if tab == FACTS else [],
            "refusals": refused[:_MAX_SHOWN],
        }

    waiting, shown = await request.pool.read(load)
    counts = {
        RULES: len(waiting.rules),
        FACTS: len(waiting.questions),
        AGENTS: len(waiting.lessons) + len(waiting.memories),
    }
    return request.render(
        "review.html",
        title="Review",
        tab=tab or next((name for name, n in counts.items() if n), ""),
        tabs=TABS,
        counts=counts,
        look=shown,
        note=NOTES.get(note),
        seen=diff_fingerprint,
    )


def diff_fingerprint(candidate: Candidate) -> str:
    """A fingerprint of the change to a file that a candidate makes."""
    return hashlib.sha256(candidate.diff.encode("utf-8", "replace")).hexdigest()[:24]


@router.post("/preview")
async def preview(request: PageRequestDep, form: FormDep) -> HTMLResponse:
    """Show what a rule in other words would change in its file."""
    return await _proposal(request, form)


async def _proposal(
    request: PageRequest, form: Form, status: int = 200, problem: str = ""
) -> HTMLResponse:
    """The page of one proposal, with the change that it makes to the file as it is now."""
    id, bank, text = form["id"], form["bank"], form["text"]
    try:
        planned = await request.pool.run(lambda memory: memory.rules.plan_approval(id, text, bank))
    except InputError as error:
        return unsaved_page(request, error, text)
    return request.render(
        "proposal.html", status, title="A rule", candidate=planned, text=text, problem=problem,
        seen=diff_fingerprint(planned),
    )  # fmt: skip


@router.post("/approve")
async def approve(request: PageRequestDep, form: FormDep) -> Response:
    """Write a rule into its file, if the change is still the one that was shown."""
    id, bank, text = form["id"], form["bank"], form["text"]

    def write(memory: Holdfast) -> tuple[str, str]:
        planned = memory.rules.plan_approval(id, text, bank)
        _check_unchanged(planned, form["seen"])
        memory.rules.approve(id, text, bank, request.who, planned.diff)
        noted = planned.proposal.kind is ProposalKind.DEMOTE
        return ("noted" if noted else "written"), (AGENTS if is_from_agent(planned) else RULES)

    try:
        (note, tab), undo = await decide(request, write)
    except FileChangedError as error:
        return await _proposal(request, form, HTTPStatus.CONFLICT, error.message)
    except InputError as error:
        return unsaved_page(request, error, text)
    return redirect_with_note("/review", note, undo, tab=tab)


def _check_unchanged(planned: Candidate, seen: str) -> None:
    """Raise `FileChangedError` if a rule would change its file otherwise than was shown."""
    if diff_fingerprint(planned) != seen:
        raise FileChangedError(
            f"{planned.proposal.path} was changed since you looked. Nothing was written.",
            "Look at the new change.",
        )


@router.post("/reject")
async def reject(request: PageRequestDep, form: FormDep) -> Response:
    """Reject a rule; it is not proposed again."""
    why = form["why"]
    rejection = (form["id"], why, form["bank"], request.who)
    tab = form["tab"] if form["tab"] in TABS else RULES
    return await save(
        request, lambda memory: memory.rules.reject(*rejection), why, "/review", "rejected", tab=tab
    )


@router.post("/keep")
async def keep(request: PageRequestDep, form: FormDep) -> Response:
    """Keep a fact in force."""
    return await _decide(request, form, True)


@router.post("/retire")
async def retire(request: PageRequestDep, form: FormDep) -> Response:
    """Retire a fact."""
    return await _decide(request, form, False)


async def _decide(request: PageRequest, form: Form, stays: bool) -> Response:
    def settle(memory: Holdfast) -> None:
        review = _unchanged_review(memory, form["id"], form["seen"])
        memory.curation.decide(review, stays, request.who)

    _, undo = await decide(request, settle)
    return redirect_with_note("/review", "kept" if stays else "retired", undo, tab=FACTS)


def _unchanged_review(memory: Holdfast, id: str, seen: str) -> Review:
    """A review; raises `InputError` if its fact changed since it was shown."""
    review = memory.curation.find_review(id)
    target = memory.curation.target(review.target, review.bank)
    if target.shown and fingerprint(current_text(memory, target)) != seen:
        raise InputError(
            "This fact was changed after you opened the page. Nothing was decided.",
            "Look at it again.",
        )
    return review


@router.post("/reword")
async def reword(request: PageRequestDep, form: FormDep) -> Response:
    """Correct a fact and keep it in force."""

    def say(memory: Holdfast) -> None:
        review = _unchanged_review(memory, form["id"], form["seen"])
        memory.correct(review.target, form["text"], review.bank, request.who)
        for one in memory.browse.reviews("all"):
            if one.id == review.id:
                memory.curation.decide(one, True, request.who)

    return await save(request, say, form["text"], "/review", "reworded", tab=FACTS)


@router.post("/confirm")
async def confirm(request: PageRequestDep, form: FormDep) -> Response:
    """Adopt a memory of an agent in a person's name, in its words or in others."""

    def adopt(memory: Holdfast) -> None:
        _adopt(memory, form["uri"], request.who, form["text"])

    return await save(request, adopt, form["text"], "/review", "confirmed", tab=AGENTS)


def _adopt(memory: Holdfast, name: str, who: str, text: str = "") -> None:
    target = memory.curation.target(name)
    if not target.shown:
        raise InputError(f"{target.uri} is forgotten.", "Restore it first.")
    words = text or current_text(memory, target)
    adopted = memory.remember(words, target.bank, who)
    memory.curation.merge(target.uri, uri("memory", adopted.id), target.bank, who)


@router.post("/drop")
async def drop(request: PageRequestDep, form: FormDep) -> Response:
    """Forget a memory of an agent."""
    _, undo = await decide(request, lambda memory: memory.forget(form["uri"], who=request.who))
    return redirect_with_note("/review", "forgotten", undo, tab=AGENTS)


class _Pick(NamedTuple):
    """One of several records that are decided at once, and what of it was shown."""

    kind: str
    bank: str
    id: str
    seen: str


def _picks(form: Form) -> list[_Pick]:
    """The records that were ticked; the name of a tick is `pick:KIND:BANK:ID`."""
    named = [(name.split(":", 3), seen) for name, seen in form.items() if name.startswith("pick:")]
    return [_Pick(p[1], p[2], p[3], seen) for p, seen in named if len(p) == 4]


@router.post("/several")
async def several(request: PageRequestDep, form: FormDep) -> Response:
    """Approve or reject all records that were ticked. What changed since it was shown, or cannot be
    decided, is left as it is."""
    picks, yes = _picks(form), form["act"] == "approve"
    if not picks or form["act"] not in ("approve", "reject"):
        raise InputError("Nothing was selected.", "Tick at least one item.")
    if yes and any(pick.kind == "rule" for pick in picks):
        # It writes into the files of a project, as approving a single rule does.
        check(permissions()["POST /review/approve"], principal())

    def decide_all(memory: Holdfast) -> int:
        left = 0
        ready: list[_Pick] = []
        # All rules are compared with what was shown first: one that is written changes the file
        # that the next one may go to.
        for pick in picks:
            try:
                if pick.kind == "rule" and yes:
                    planned = memory.rules.plan_approval(pick.id, "", pick.bank)
                    _check_unchanged(planned, pick.seen)
                ready.append(pick)
            except InputError:
                left += 1
        for pick in ready:
            try:
                _settle(memory, pick, yes, request.who)
            except InputError:
                left += 1
        return left

    left, undo = await decide(request, decide_all)
    tab = form["tab"] if form["tab"] in TABS else RULES
    return redirect_with_note("/review", "several_left" if left else "several", undo, tab=tab)


def _settle(memory: Holdfast, pick: _Pick, yes: bool, who: str) -> None:
    match pick.kind, yes:
        case "rule", True:
            planned = memory.rules.plan_approval(pick.id, "", pick.bank)
            memory.rules.approve(pick.id, "", pick.bank, who, planned.diff)
        case "rule", False:
            memory.rules.reject(pick.id, "", pick.bank, who)
        case "fact", _:
            memory.curation.decide(_unchanged_review(memory, pick.id, pick.seen), yes, who)
        case "memory", True:
            _adopt(memory, uri("memory", pick.id), who)
        case "stale", True:
            memory.curation.confirm(pick.id, who=who)
        case "memory", False:
            memory.forget(uri("memory", pick.id), who=who)
        case "stale", False:
            memory.forget(pick.id, who=who)
        case _:
            raise InputError(f"{pick.kind} is not decided here.")
