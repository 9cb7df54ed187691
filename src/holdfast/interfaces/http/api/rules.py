"""Rules: writing one, candidates for one, and facts that people should review."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Response
from pydantic import Field

from holdfast.app.curation.rule_teaching import learn_result_json
from holdfast.app.memory import Holdfast
from holdfast.app.search import json_shapes
from holdfast.interfaces.http.api.requests import ApiRequestDep, Bank, JsonObject, RequestBody
from holdfast.interfaces.http.api.schema import model_with_uri, open_model
from holdfast.model.curation import Curation
from holdfast.model.knowledge import Review

router = APIRouter(tags=["rules"])
OneBank = Annotated[str, Field(min_length=1, max_length=200)]
ProposalId = Annotated[str, Path(max_length=300, description="Its id, or the start of it.")]
_Candidates = open_model("Candidates", candidates=list[dict[str, Any]], reviews=int)


class Lesson(RequestBody):
    """A rule to be written into a file of a project or of the user."""

    domain: str = Field("", max_length=100, examples=["testing"])
    text: str = Field(min_length=1, max_length=4000)
    scope: Literal["project", "user"] = "project"
    paths: list[str] = Field([], max_length=20)
    bank: OneBank
    confirm: Literal["write", ""] = Field("", description='Without "write" only the diff is told.')


class Approval(RequestBody):
    """That the diff was seen, and other words, if any."""

    text: str = Field("", max_length=4000)
    seen: str = Field("", max_length=100_000, description="The diff that was looked at.")


class Rejection(RequestBody):
    """Why not."""

    why: str = Field("", max_length=2000)


class Verdict(RequestBody):
    """Whether a fact stays in force."""

    keep: bool


@router.post(
    "/rules",
    response_model=open_model("Learned", written=bool, path=str | None, diff=str),
    summary="Teach a rule",
)
async def learn(request: ApiRequestDep, body: Lesson) -> Response:
    """Added to a file of rules, if none says so yet. Without `confirm` nothing is written, and
    the diff tells what would be."""

    def change(memory: Holdfast) -> JsonObject:
        s = body
        learned = memory.teaching.plan_learn(s.domain, s.text, s.scope, s.paths, s.bank)
        write = learned.change is not None and s.confirm == "write"
        if write and learned.change is not None:
            memory.teaching.write_rule(learned.change, s.bank, request.who)
        return learn_result_json(learned, write)

    return await request.run(change)


@router.get(
    "/rules/learning",
    response_model=open_model("LearningStatus", bank=str, patterns=int, ripe=int),
    summary="How far learning has come",
)
async def learning(request: ApiRequestDep, bank: str) -> Response:
    """How much there is to learn from, and what the settings allow."""
    return await request.run(lambda memory: memory.teaching.auto_learn("status", bank=bank))


@router.get("/rules/candidates", response_model=_Candidates, summary="What waits to become a rule")
async def candidates(request: ApiRequestDep, bank: str) -> Response:
    """Each with the change that it would make now."""
    return await request.run(
        lambda memory: memory.teaching.candidates_json(memory.rules.candidates(bank), bank)
    )


@router.post("/rules/promote", response_model=_Candidates, summary="Look for more candidates")
async def promote(request: ApiRequestDep, bank: str, id: str = "") -> Response:
    """What may be written without asking, by the settings, is written; the rest waits."""

    def change(memory: Holdfast) -> JsonObject:
        return {"reviews": 0, **memory.teaching.auto_learn("promote", id or None, bank)}

    return await request.run_long(change)


@router.post(
    "/rules/candidates/{id}/approve",
    response_model=open_model("Approved", approved=str, path=str, diff=str),
    summary="Write a candidate into its file",
)
async def approve(request: ApiRequestDep, id: ProposalId, body: Approval, bank: str) -> Response:
    """In its own words or in others. A file that changed since is left alone, unless the new diff
    is sent along as `seen`."""

    def change(memory: Holdfast) -> JsonObject:
        planned = memory.rules.plan_approval(id, body.text, bank)
        change = memory.rules.approve(id, body.text, bank, request.who, body.seen)
        path = change.path if change is not None else planned.proposal.path
        return {"approved": planned.proposal.id, "path": path, "diff": planned.diff}

    return await request.run(change)


@router.post(
    "/rules/candidates/{id}/reject",
    response_model=open_model("Rejected", rejected=str, text=str),
    summary="Turn a candidate down",
)
async def reject(request: ApiRequestDep, id: ProposalId, body: Rejection, bank: str) -> Response:
    """The same is not proposed again, in whatever words."""

    def change(memory: Holdfast) -> JsonObject:
        gone = memory.rules.reject(id, body.why, bank, request.who)
        return {"rejected": gone.id, "text": gone.text}

    return await request.run(change)


@router.get(
    "/reviews",
    response_model=open_model(
        "Reviews", reviews=list[model_with_uri(Review)], proposals=int, rules=list[dict[str, Any]]
    ),
    summary="What people should decide",
)
async def reviews(request: ApiRequestDep, bank: Bank = "all", all: bool = False) -> Response:
    """Questions on facts, with `all` also those that were decided; and what waits to become a
    rule."""

    def load(memory: Holdfast) -> JsonObject:
        waiting = memory.rules.proposals(bank)
        rules = [
            json_shapes.proposal_json(one, memory.context.bank_name(one.bank)) for one in waiting
        ]
        known = [
            json_shapes.record_json("review", review) for review in memory.browse.reviews(bank, all)
        ]
        return {"reviews": known, "proposals": len(waiting), "rules": rules}

    return await request.read(load)


@router.post(
    "/reviews/{id}/decide",
    response_model=open_model("Decided", decided=Curation),
    summary="Keep a fact in force, or retire it",
)
async def decide(
    request: ApiRequestDep, id: ProposalId, body: Verdict, bank: Bank = "all"
) -> Response:
    """`POST /undo` takes it back."""

    def change(memory: Holdfast) -> JsonObject:
        review = memory.curation.find_review(id, bank)
        return {"decided": memory.curation.decide(review, body.keep, request.who)}

    return await request.run(change)
