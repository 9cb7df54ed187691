"""Rules: writing one, candidates for one, and facts that people should review."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Path
from pydantic import Field

from holdfast.app.curation.rule_teaching import learn_result_json
from holdfast.app.memory import Holdfast
from holdfast.app.search import json_shapes
from holdfast.interfaces.http.api.requests import ApiRouter, Bank, Json, RequestBody, author
from holdfast.interfaces.http.api.schema import model_with_uri, open_model
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.model.curation import Curation
from holdfast.model.knowledge import Review

router = ApiRouter(tags=["rules"])
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
    confirm: Literal["write", ""] = Field(
        "", description='Without "write" only the diff is returned.'
    )


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


@router.task(
    "POST /rules", open_model("Learned", written=bool, path=str | None, diff=str), "Teach a rule"
)
def learn(memory: Holdfast, body: Lesson) -> Json:
    """Added to a file of rules, if none says so yet. Without `confirm` nothing is written, and
    the diff tells what would be."""
    s = body
    learned = memory.teaching.plan_learn(s.domain, s.text, s.scope, s.paths, s.bank)
    change = learned.change if s.confirm == "write" else None
    if change is not None:
        memory.teaching.write_rule(change, s.bank, author())
    return learn_result_json(learned, change is not None)


@router.task(
    "GET /rules/learning",
    open_model("LearningStatus", bank=str, patterns=int, ripe=int),
    "How far learning has come",
    MemoryPool.run,
)
def learning(memory: Holdfast, bank: str) -> Json:
    """How much there is to learn from, and what the settings allow."""
    return memory.teaching.auto_learn("status", bank=bank)


@router.task("GET /rules/candidates", _Candidates, "What waits to become a rule", MemoryPool.run)
def candidates(memory: Holdfast, bank: str) -> Json:
    """Each with the change that it would make now."""
    return memory.teaching.candidates_json(memory.rules.candidates(bank), bank)


@router.task("POST /rules/promote", _Candidates, "Look for more candidates", MemoryPool.run_long)
def promote(memory: Holdfast, bank: str, id: str = "") -> Json:
    """What may be written without asking, by the settings, is written; the rest waits."""
    return {"reviews": 0, **memory.teaching.auto_learn("promote", id or None, bank)}


@router.task(
    "POST /rules/candidates/{id}/approve",
    open_model("Approved", approved=str, path=str, diff=str),
    "Write a candidate into its file",
)
def approve(memory: Holdfast, id: ProposalId, body: Approval, bank: str) -> Json:
    """In its own words or in others. A file that changed since is left alone, unless the new diff
    is sent along as `seen`."""
    planned = memory.rules.plan_approval(id, body.text, bank)
    change = memory.rules.approve(id, body.text, bank, author(), body.seen)
    path = change.path if change is not None else planned.proposal.path
    return {"approved": planned.proposal.id, "path": path, "diff": planned.diff}


@router.task(
    "POST /rules/candidates/{id}/reject",
    open_model("Rejected", rejected=str, text=str),
    "Turn a candidate down",
)
def reject(memory: Holdfast, id: ProposalId, body: Rejection, bank: str) -> Json:
    """The same is not proposed again, in whatever words."""
    gone = memory.rules.reject(id, body.why, bank, author())
    return {"rejected": gone.id, "text": gone.text}


@router.task(
    "GET /reviews",
    open_model(
        "Reviews", reviews=list[model_with_uri(Review)], proposals=int, rules=list[dict[str, Any]]
    ),
    "What people should decide",
)
def reviews(memory: Holdfast, bank: Bank = "all", all: bool = False) -> Json:
    """Questions on facts, with `all` also those that were decided; and what waits to become a
    rule."""
    waiting = memory.rules.proposals(bank)
    return {
        "reviews": [
            json_shapes.record_json("review", one) for one in memory.browse.reviews(bank, all)
        ],
        "proposals": len(waiting),
        "rules": [
            json_shapes.proposal_json(one, memory.context.bank_name(one.bank)) for one in waiting
        ],
    }


@router.task(
    "POST /reviews/{id}/decide",
    open_model("Decided", decided=Curation),
    "Keep a fact in force, or retire it",
)
def decide(memory: Holdfast, id: ProposalId, body: Verdict, bank: Bank = "all") -> Json:
    """`POST /undo` takes it back."""
    review = memory.curation.find_review(id, bank)
    return {"decided": memory.curation.decide(review, body.keep, author())}
