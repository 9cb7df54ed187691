"""Rules: writing one, candidates for one, and facts that people should review."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Path
from pydantic import Field

from holdfast.app.curation.rule_teaching import learn_result_json
from holdfast.app.memory import Holdfast
from holdfast.app.search import json_shapes
from holdfast.interfaces.http.api.requests import (
    ApiRouter,
    Bank,
    Json,
    RequestBody,
    author,
)
from holdfast.interfaces.http.api.schema import (
    model_with_uri,
    open_model,
)
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.model.curation import Curation
from holdfast.model.knowledge import Review

router = ApiRouter("rules")
OneBank = Annotated[str, Field(min_length=1, max_length=200)]
ProposalId = Annotated[str, Path(max_length=300, description="Its id, or the start of it.")]
_Candidates = open_model("Candidates", candidates=list[dict[str, Any]], reviews=int)


class Lesson(RequestBody):
    """A rule to write into a file of the project or the user."""

    domain: str = Field("", max_length=100, examples=["testing"])
    text: str = Field(min_length=1, max_length=4000)
    scope: Literal["project", "user"] = "project"
    paths: list[str] = Field([], max_length=20)
    bank: OneBank
    confirm: Literal["write", ""] = Field(
        "", description='Without "write" only the diff is returned.'
    )


class Approval(RequestBody):
    """The diff that was seen, and a new wording, if any."""

    text: str = Field("", max_length=4000)
    seen: str = Field("", max_length=100_000, description="The diff that you saw.")


class Rejection(RequestBody):
    """The reason."""

    why: str = Field("", max_length=2000)


class ReviewDecision(RequestBody):
    """Whether a fact stays in force."""

    keep: bool


@router.task(
    "POST /rules", open_model("Learned", written=bool, path=str | None, diff=str), "Write a rule"
)
def learn(memory: Holdfast, body: Lesson) -> Json:
    """Adds a rule to a rule file, unless one says the same. Without `confirm`, returns only the
    diff."""
    s = body
    learned = memory.teaching.plan_learn(s.domain, s.text, s.scope, s.paths, s.bank)
    change = learned.change if s.confirm == "write" else None
    if change is not None:
        memory.teaching.write_rule(change, s.bank, author())
    return learn_result_json(learned, change is not None)


@router.task(
    "GET /rules/learning",
    open_model("LearningStatus", bank=str, patterns=int, ripe=int),
    "Get the state of learning",
    MemoryPool.run,
)
def learning(memory: Holdfast, bank: str) -> Json:
    """Counts of patterns and candidates, and what the settings allow."""
    return memory.teaching.auto_learn("status", bank=bank)


@router.task("GET /rules/candidates", _Candidates, "List proposed rules", MemoryPool.run)
def candidates(memory: Holdfast, bank: str) -> Json:
    """Each with the diff that it would make now."""
    return memory.teaching.candidates_json(memory.rules.candidates(bank), bank)


@router.task("POST /rules/promote", _Candidates, "Propose rules", MemoryPool.run_long)
def promote(memory: Holdfast, bank: str, id: str = "") -> Json:
    """Looks for new candidates. Those that the settings allow are written; others wait."""
    return {"reviews": 0, **memory.teaching.auto_learn("promote", id or None, bank)}


@router.task(
    "POST /rules/candidates/{id}/approve",
    open_model("Approved", approved=str, path=str, diff=str),
    "Approve a proposed rule",
)
def approve(memory: Holdfast, id: ProposalId, body: Approval, bank: str) -> Json:
    """Writes it into its file, optionally in another wording. If the file has changed since, send
    the new diff as `seen`."""
    planned = memory.rules.plan_approval(id, body.text, bank)
    change = memory.rules.approve(id, body.text, bank, author(), body.seen)
    path = change.path if change is not None else planned.proposal.path
    return {"approved": planned.proposal.id, "path": path, "diff": planned.diff}


@router.task(
    "POST /rules/candidates/{id}/reject",
    open_model("Rejected", rejected=str, text=str),
    "Reject a proposed rule",
)
def reject(memory: Holdfast, id: ProposalId, body: Rejection, bank: str) -> Json:
    """The same rule is not proposed again, in any wording."""
    gone = memory.rules.reject(id, body.why, bank, author())
    return {"rejected": gone.id, "text": gone.text}


@router.task(
    "GET /reviews",
    open_model(
        "Reviews", reviews=list[model_with_uri(Review)], proposals=int, rules=list[dict[str, Any]]
    ),
    "List what needs a decision",
)
def reviews(memory: Holdfast, bank: Bank = "all", all: bool = False) -> Json:
    """Facts in review (with `all` also decided ones), and proposed rules."""
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
    "Decide a review",
)
def decide(memory: Holdfast, id: ProposalId, body: ReviewDecision, bank: Bank = "all") -> Json:
    """Keeps the fact in force or retracts it. `POST /undo` reverts it."""
    review = memory.curation.find_review(id, bank)
    return {"decided": memory.curation.decide(review, body.keep, author())}
