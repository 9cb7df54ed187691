"""Any record: its content, its sources, and decisions about it.

Every decision goes into the log of decisions, with the key of the request as its author.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import Field

from holdfast.app.curation.erasure import erasure_json, remove_backups
from holdfast.app.memory import Holdfast
from holdfast.app.search import json_shapes
from holdfast.app.search.code_freshness import whole_anchor
from holdfast.capture.redact import Redactor
from holdfast.errors import InputError
from holdfast.interfaces.http.api.listing import decisions_page
from holdfast.interfaces.http.api.requests import (
    ApiRouter,
    Bank,
    Cursor,
    Id,
    Json,
    Limit,
    RequestBody,
    author,
)
from holdfast.interfaces.http.api.schema import extend_model, model_of, open_model, page_model
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.learn.judging import MAX_REASON_CHARS, MAX_WORDS_CHARS
from holdfast.model.curation import Curation, Verdict
from holdfast.recall.lookup.path import Path as RecordPath
from holdfast.recall.query.iso_dates import read_iso_span

router = ApiRouter("records")
# Records that one request judges: more than the list of a brief has by default.
MAX_JUDGED = 100
_Decision = open_model("Decision", "The entry in the log of decisions.", decision=Curation)
_LoggedDecision = extend_model(
    model_of(Curation),
    "Logged",
    "A decision, its interface, and the text before and after.",
    channel=str,
    before=str,
    after=str,
)
_Erasure = open_model(
    "Erased",
    "What is erased, as counts; and files that still contain it.",
    erased=bool,
    records=dict[str, int],
    events=int,
    log_lines=int,
    backups=list[str],
    transcripts=list[str],
)
_Trace = open_model(
    "Record",
    "A record, its parents, its sources, its raw line, and its history.",
    uri=str,
    kind=str,
    record=dict[str, Any],
    above=list[str],
    below=list[dict[str, Any]],
    raw=dict[str, Any] | None,
    superseded=str,
    history=list[dict[str, Any]],
    life=list[dict[str, Any]],
    bearings=list[dict[str, Any]],
)


class Correction(RequestBody):
    """The new text of a record."""

    text: str = Field(min_length=1, max_length=20_000)


class Judging(RequestBody):
    """A verdict on some records, all of them or none."""

    ids: list[str] = Field(
        min_length=1,
        max_length=MAX_JUDGED,
        description="Records: their ids, the start of them, or `kind/id`.",
    )
    verdict: Verdict = Field(
        description="`useful`; `unneeded`: true, but not worth telling; `outdated`: no longer true."
    )
    why: str = Field("", max_length=MAX_REASON_CHARS, description="The reason, in one sentence.")
    words: str = Field(
        "",
        max_length=MAX_WORDS_CHARS,
        description="How briefs tell one useful statement of an agent.",
    )


class MergeTarget(RequestBody):
    """The record to merge into."""

    into: str = Field(min_length=1, max_length=300)


class Purge(RequestBody):
    """The confirmation of a purge."""

    confirm: Literal["purge"] = Field(description="A purge cannot be undone.")
    backups: bool = Field(False, description="Also delete backups that contain it.")


class Scrub(RequestBody):
    """A text, or a regular expression between slashes, and the confirmation."""

    pattern: str = Field(min_length=1, max_length=1000)
    confirm: Literal["scrub", ""] = Field(
        "", description='Without "scrub", matches are only counted.'
    )
    backups: bool = False


class Undo(RequestBody):
    """How many decisions to undo, and in which bank."""

    count: int = Field(1, ge=1, le=100)
    bank: str = Field("all", max_length=200)


@router.task("GET /records/{id:path}/path", model_of(RecordPath), "Show the path of a record")
def path(memory: Holdfast, id: Id, bank: Bank = "all") -> RecordPath:
    """From the facts based on a record down to its raw transcript lines."""
    return memory.browse.path(id, bank)


@router.task("GET /records/{id:path}/purge", _Erasure, "Preview a purge", MemoryPool.run)
def plan_purge(memory: Holdfast, id: Id, bank: Bank = "all") -> Json:
    """What it would erase. Changes nothing."""
    return erasure_json(memory.erasure.plan_purge(id, bank), False)


@router.task("GET /records/{id:path}", _Trace, "Get a record")
def show(
    memory: Holdfast,
    id: Id,
    bank: Bank = "all",
    as_of: Annotated[str, Query(max_length=40)] = "",
    rules: bool = False,
) -> Json:
    """With its sources down to the raw transcript line, redacted. With `rules`, also the version
    derived by rules instead of a model."""
    trace = memory.show(id, bank, read_iso_span(as_of).last if as_of else "")
    if trace.raw is not None:
        clean = Redactor(memory.settings.redact_patterns).redact(trace.raw.text).text
        trace = trace._replace(raw=trace.raw._replace(text=clean))
    by_rules = memory.inventory.without_model(trace.record) if rules else None
    return json_shapes.trace_json(trace, whole_anchor(memory.reader, trace.record), by_rules)


@router.task("POST /records/{id:path}/correct", _Decision, "Correct a record")
def correct(memory: Holdfast, id: Id, body: Correction, bank: Bank = "all") -> Json:
    """Replaces its text. The old text is kept as superseded."""
    return {"decision": memory.correct(id, body.text, bank, author())}


@router.task("POST /records/{id:path}/forget", _Decision, "Forget a record")
def forget(memory: Holdfast, id: Id, bank: Bank = "all") -> Json:
    """Hides it and everything derived from it, until it is restored."""
    return {"decision": memory.forget(id, bank, author())}


@router.task("POST /records/{id:path}/restore", _Decision, "Restore a record")
def restore(memory: Holdfast, id: Id, bank: Bank = "all") -> Json:
    """Reverts a forget or a merge."""
    return {"decision": memory.restore(id, bank, author())}


@router.task("POST /records/{id:path}/confirm", _Decision, "Confirm a record")
def confirm(memory: Holdfast, id: Id, bank: Bank = "all") -> Json:
    """It is still right, although its code has changed."""
    return {"decision": memory.curation.confirm(id, bank, author())}


@router.task("POST /verdicts", open_model("Judged", decided=list[Curation]), "Judge records")
def judge(memory: Holdfast, body: Judging, bank: Bank = "all") -> Json:
    """Whether briefs tell them: useful ones come first, the others are left out at the start of a
    session, and every answer marks outdated ones. `POST
    /undo` reverts it."""
    who = author()
    made = memory.curation.judge(body.ids, body.verdict, body.why, bank, who, body.words)
    return {"decided": made}


@router.task("POST /records/{id:path}/merge", _Decision, "Merge a record into another")
def merge(memory: Holdfast, id: Id, body: MergeTarget, bank: Bank = "all") -> Json:
    """The other one replaces it everywhere."""
    return {"decision": memory.curation.merge(id, body.into, bank, author())}


@router.task("POST /records/{id:path}/purge", _Erasure, "Purge a record", MemoryPool.run_long)
def purge(memory: Holdfast, id: Id, body: Purge, bank: Bank = "all") -> Json:
    """Erases it and everything derived from it. This cannot be undone."""
    erasure = memory.erasure.purge(id, bank, author())
    remove_backups(erasure, body.backups)
    return erasure_json(erasure, True)


@router.task("POST /scrub", _Erasure, "Erase a text everywhere", MemoryPool.run_long)
def scrub(memory: Holdfast, body: Scrub) -> Json:
    """In all banks; this cannot be undone. Without `confirm`, matches are only counted."""
    if not body.confirm:
        return erasure_json(memory.erasure.plan_scrub(body.pattern), False)
    erasure = memory.erasure.scrub(body.pattern, author())
    remove_backups(erasure, body.backups)
    return erasure_json(erasure, True)


@router.task("POST /undo", open_model("Undone", undone=list[Curation]), "Undo decisions")
def undo(memory: Holdfast, body: Undo) -> Json:
    """The latest first. Erased records stay erased."""
    return {"undone": memory.undo(body.count, body.bank, author())}


@router.task("GET /decisions", page_model("decisions", _LoggedDecision), "List decisions")
def decisions(memory: Holdfast, bank: Bank = "all", limit: Limit = 50, cursor: Cursor = "") -> Json:
    """Who changed what, by which interface, before and after; the latest first."""
    if memory.context.bank_id(bank) == "":
        raise InputError("There is no such bank.", "GET /api/v1/banks lists them.")
    page, more = decisions_page(memory, bank, limit, cursor)
    return {"decisions": [one.to_json() for one in page], "cursor": more}
