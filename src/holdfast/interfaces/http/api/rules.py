"""Rules: what is taught, what waits to become one, and what people should decide."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Response
from pydantic import Field

from holdfast.app.curation.old_rule_teaching import learned_told
from holdfast.app.memory import Holdfast
from holdfast.app.search import json_shapes
from holdfast.interfaces.http.api.handling import Asking, Bank, Sent, Told
from holdfast.interfaces.http.api.schema import named, with_fields
from holdfast.model.curation import Curation
from holdfast.model.knowledge import Review

router = APIRouter(tags=["rules"])
OneBank = Annotated[str, Field(min_length=1, max_length=200)]
ProposalId = Annotated[str, Path(max_length=300, description="Its id, or the start of it.")]
_Candidates = with_fields("Candidates", candidates=list[dict[str, Any]], reviews=int)


class Lesson(Sent):
    """A rule to be written into a file of a project or of the user."""

    domain: str = Field("", max_length=100, examples=["testing"])
    text: str = Field(min_length=1, max_length=4000)
    scope: Literal["project", "user"] = "project"
    paths: list[str] = Field([], max_length=20)
    bank: OneBank
    confirm: Literal["write", ""] = Field("", description='Without "write" only the diff is told.')


class Approval(Sent):
    """That the diff was seen, and other words, if any."""

    text: str = Field("", max_length=4000)
    seen: str = Field("", max_length=100_000, description="The diff that was looked at.")


class Rejection(Sent):
    """Why not."""

    why: str = Field("", max_length=2000)


class Verdict(Sent):
    """Whether a fact stays in force."""

    keep: bool


@router.post(
    "/rules",
    response_model=with_fields("Learned", written=bool, path=str | None, diff=str),
    summary="Teach a rule",
)
async def learn(asked: Asking, sent: Lesson) -> Response:
    """Added to a file of rules, if none says so yet. Without `confirm` nothing is written, and
    the diff tells what would be."""

    def done(memory: Holdfast) -> Told:
        s = sent
        learned = memory.plan_learn(s.domain, s.text, s.scope, s.paths, s.bank)
        write = learned.change is not None and s.confirm == "write"
        if write and learned.change is not None:
            memory.write_rule(learned.change, s.bank, asked.who)
        return learned_told(learned, write)

    return await asked.work(done)


@router.get(
    "/rules/learning",
    response_model=with_fields("LearningTold", bank=str, patterns=int, ripe=int),
    summary="How far learning has come",
)
async def learning(asked: Asking, bank: str) -> Response:
    """How much there is to learn from, and what the settings allow."""
    return await asked.work(lambda memory: memory.auto_learn("status", bank=bank))


@router.get("/rules/candidates", response_model=_Candidates, summary="What waits to become a rule")
async def candidates(asked: Asking, bank: str) -> Response:
    """Each with the change that it would make now."""
    return await asked.work(lambda memory: memory.candidates_told(memory.candidates(bank), bank))


@router.post("/rules/promote", response_model=_Candidates, summary="Look for more candidates")
async def promote(asked: Asking, bank: str, id: str = "") -> Response:
    """What may be written without asking, by the settings, is written; the rest waits."""

    def done(memory: Holdfast) -> Told:
        return {"reviews": 0, **memory.auto_learn("promote", id or None, bank)}

    return await asked.run_errand(done)


@router.post(
    "/rules/candidates/{id}/approve",
    response_model=with_fields("Approved", approved=str, path=str, diff=str),
    summary="Write a candidate into its file",
)
async def approve(asked: Asking, id: ProposalId, sent: Approval, bank: str) -> Response:
    """In its own words or in others. A file that changed since is left alone, unless the new diff
    is sent along as `seen`."""

    def done(memory: Holdfast) -> Told:
        planned = memory.plan_approval(id, sent.text, bank)
        change = memory.approve(id, sent.text, bank, asked.who, sent.seen)
        path = change.path if change is not None else planned.proposal.path
        return {"approved": planned.proposal.id, "path": path, "diff": planned.diff}

    return await asked.work(done)


@router.post(
    "/rules/candidates/{id}/reject",
    response_model=with_fields("Rejected", rejected=str, text=str),
    summary="Turn a candidate down",
)
async def reject(asked: Asking, id: ProposalId, sent: Rejection, bank: str) -> Response:
    """The same is not proposed again, in whatever words."""

    def done(memory: Holdfast) -> Told:
        gone = memory.reject(id, sent.why, bank, asked.who)
        return {"rejected": gone.id, "text": gone.text}

    return await asked.work(done)


@router.get(
    "/reviews",
    response_model=with_fields(
        "Reviews", reviews=list[named(Review)], proposals=int, rules=list[dict[str, Any]]
    ),
    summary="What people should decide",
)
async def reviews(asked: Asking, bank: Bank = "all", all: bool = False) -> Response:
    """Questions on facts, with `all` also those that were decided; and what waits to become a
    rule."""

    def found(memory: Holdfast) -> Told:
        waiting = memory.proposals(bank)
        rules = [json_shapes.proposal(one, memory.bank_name(one.bank)) for one in waiting]
        known = [json_shapes.named("review", review) for review in memory.reviews(bank, all)]
        return {"reviews": known, "proposals": len(waiting), "rules": rules}

    return await asked.read(found)


@router.post(
    "/reviews/{id}/decide",
    response_model=with_fields("Decided", decided=Curation),
    summary="Keep a fact in force, or retire it",
)
async def decide(asked: Asking, id: ProposalId, sent: Verdict, bank: Bank = "all") -> Response:
    """`POST /undo` takes it back."""

    def done(memory: Holdfast) -> Told:
        review = memory.find_review(id, bank)
        return {"decided": memory.decide(review, sent.keep, asked.who)}

    return await asked.work(done)
