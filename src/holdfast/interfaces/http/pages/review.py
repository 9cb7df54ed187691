"""What waits for a person: looked at, approved, said otherwise, or turned down."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response

from holdfast.app.curation.old_rule_proposals import Candidate, ChangedError
from holdfast.app.curation.record_view import current_words, fingerprint
from holdfast.app.curation.review_queue import (
    Queue,
    Secret,
    decided,
    of_agent,
    queue,
    secrets,
    turned_down,
)
from holdfast.app.memory import Holdfast
from holdfast.app.search.audit import Audit, audit
from holdfast.errors import InputError, NotFoundError
from holdfast.interfaces.http.pages.curation import done, kept, plainly
from holdfast.interfaces.http.pages.visit import Visit, Visiting
from holdfast.interfaces.ui.notes import note_of
from holdfast.model.knowledge import ProposalKind

router = APIRouter(prefix="/review")
RULES, FACTS, AGENTS, SECRETS, STALE = "rules", "facts", "agents", "secrets", "stale"
TABS = {
    RULES: "Rules",
    FACTS: "Contradictions",
    AGENTS: "From agents",
    SECRETS: "Secrets",
    STALE: "Stale code",
}
_CONFLICT = 409
_SHOWN = 100


class Look(NamedTuple):
    """What a page of the queue shows."""

    queue: Queue
    banks: dict[str, str]
    secrets: list[Secret]
    secret: int
    audit: Audit | None
    decided: list[Any]
    refusals: list[Any]


@router.get("")
async def review(visit: Visiting, tab: str = "", note: str = "") -> HTMLResponse:
    """The queue, a kind at a time; the first that has something in it."""
    if tab and tab not in TABS:
        raise NotFoundError(f"There is no tab {tab!r}.", f"One of: {', '.join(TABS)}.")

    def look(memory: Holdfast) -> Look:
        found = secrets(memory.reader)
        return Look(
            queue(memory),
            memory.bank_names(),
            found[:_SHOWN],
            len(found),
            audit(memory.reader, None) if tab == STALE else None,
            decided(memory)[:_SHOWN] if tab == FACTS else [],
            turned_down(memory.reader)[:_SHOWN] if tab in (RULES, AGENTS) else [],
        )

    found = await visit.desk.read(look)
    waiting = found.queue
    counts = {
        RULES: len(waiting.rules),
        FACTS: len(waiting.questions),
        AGENTS: len(waiting.lessons) + len(waiting.memories),
    }
    return visit.page(
        "review.html",
        title="Review",
        tab=tab or next((name for name, n in counts.items() if n), ""),
        tabs=TABS,
        counts=counts,
        look=found,
        note=note_of(note),
        seen=diff_seen,
    )


def diff_seen(candidate: Candidate) -> str:
    """What tells the change that is shown from another."""
    return hashlib.sha256(candidate.diff.encode("utf-8", "replace")).hexdigest()[:24]


@router.post("/preview")
async def preview(visit: Visiting) -> HTMLResponse:
    """What a rule in other words would do to its file."""
    form = await visit.form()
    return await _proposal(visit, form.get("id", ""), form.get("bank", ""), _text(form))


def _text(form: dict[str, str]) -> str:
    return plainly(form.get("text", ""))


async def _proposal(
    visit: Visit, id: str, bank: str, text: str, status: int = 200, problem: str = ""
) -> HTMLResponse:
    """One proposal, with the change that it makes to the file as it is now."""
    try:
        planned = await visit.desk.work(lambda memory: memory.plan_approval(id, text, bank))
    except InputError as error:
        return kept(visit, error, text)
    return visit.page(
        "proposal.html", status, title="A rule", candidate=planned, text=text, problem=problem,
        seen=diff_seen(planned),
    )  # fmt: skip


@router.post("/approve")
async def approve(visit: Visiting) -> Response:
    """Write a rule into its file, if the change is the one that was seen."""
    form = await visit.form()
    id, bank, text = form.get("id", ""), form.get("bank", ""), _text(form)

    def write(memory: Holdfast) -> tuple[str, str]:
        planned = memory.plan_approval(id, text, bank)
        if diff_seen(planned) != form.get("seen", ""):
            raise ChangedError(
                f"{planned.proposal.path} was changed since you looked. Nothing was written.",
                "Look at the new change.",
            )
        memory.approve(id, text, bank, visit.who, planned.diff)
        noted = planned.proposal.kind is ProposalKind.DEMOTE
        return ("noted" if noted else "written"), (AGENTS if of_agent(planned) else RULES)

    try:
        note, tab = await visit.desk.work(write)
    except ChangedError as error:
        return await _proposal(visit, id, bank, text, _CONFLICT, error.message)
    except InputError as error:
        return kept(visit, error, text)
    return done("/review", note, tab=tab)


@router.post("/reject")
async def reject(visit: Visiting) -> Response:
    """Turn a rule down; it is not proposed again."""
    form = await visit.form()
    why = plainly(form.get("why", ""))
    act = (form.get("id", ""), why, form.get("bank", ""), visit.who)
    try:
        await visit.desk.work(lambda memory: memory.reject(*act))
    except InputError as error:
        return kept(visit, error, why)
    return done(
        "/review", "rejected", tab=form.get("tab", "") if form.get("tab") in TABS else RULES
    )


@router.post("/keep")
async def keep(visit: Visiting) -> Response:
    """Leave a fact in force."""
    return await _settle(visit, True)


@router.post("/retire")
async def retire(visit: Visiting) -> Response:
    """Take a fact back."""
    return await _settle(visit, False)


async def _settle(visit: Visit, stays: bool) -> Response:
    form = await visit.form()
    id = form.get("id", "")

    def settle(memory: Holdfast) -> None:
        review = memory.find_review(id)
        _as_seen(memory, review.target, review.bank, form.get("seen", ""))
        memory.decide(review, stays, visit.who)

    await visit.desk.work(settle)
    return done("/review", "kept" if stays else "retired", tab=FACTS)


def _as_seen(memory: Holdfast, name: str, bank: str, seen: str) -> None:
    """A verdict is on the words that were seen."""
    target = memory.target(name, bank)
    if target.shown and fingerprint(current_words(memory, target)) != seen:
        raise InputError(
            "This fact was said otherwise since you looked. Nothing was decided.",
            "Look at it again.",
        )


@router.post("/reword")
async def reword(visit: Visiting) -> Response:
    """Say a fact rightly, and leave it in force in these words."""
    form = await visit.form()
    id, text = form.get("id", ""), _text(form)

    def say(memory: Holdfast) -> None:
        review = memory.find_review(id)
        _as_seen(memory, review.target, review.bank, form.get("seen", ""))
        memory.correct(review.target, text, review.bank, visit.who)
        still = [r for r in memory.reviews("all") if r.id == review.id]
        for one in still:
            memory.decide(one, True, visit.who)

    try:
        await visit.desk.work(say)
    except InputError as error:
        return kept(visit, error, text)
    return done("/review", "reworded", tab=FACTS)


@router.post("/confirm")
async def confirm(visit: Visiting) -> Response:
    """Keep in a person's name what an agent wanted kept, in these words or in its own."""
    form = await visit.form()
    name, text = form.get("uri", ""), _text(form)

    def adopt(memory: Holdfast) -> None:
        target = memory.target(name)
        if not target.shown:
            raise InputError(f"{target.uri} is forgotten.", "Restore it first.")
        words = text or current_words(memory, target)
        mine = memory.remember(words, target.bank, visit.who)
        memory.merge(target.uri, f"holdfast://memory/{mine.id}", target.bank, visit.who)

    try:
        await visit.desk.work(adopt)
    except InputError as error:
        return kept(visit, error, text)
    return done("/review", "confirmed", tab=AGENTS)


@router.post("/drop")
async def drop(visit: Visiting) -> Response:
    """Forget what an agent wanted kept."""
    form = await visit.form()
    await visit.desk.work(lambda memory: memory.forget(form.get("uri", ""), who=visit.who))
    return done("/review", "forgotten", tab=AGENTS)
