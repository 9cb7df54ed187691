"""Any record: its content, its sources, and decisions about it.

Every decision goes into the log of decisions, with the key of the request as its author.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from pydantic import Field

from holdfast.app.curation.erasure import erasure_json, remove_backups
from holdfast.app.memory import Holdfast
from holdfast.app.search import json_shapes
from holdfast.app.search.code_freshness import whole_anchor
from holdfast.capture.redact import Redactor
from holdfast.errors import InputError
from holdfast.interfaces.http.api.listing import decisions_page
from holdfast.interfaces.http.api.requests import (
    ApiRequestDep,
    Bank,
    Cursor,
    Id,
    JsonObject,
    Limit,
    RequestBody,
)
from holdfast.interfaces.http.api.schema import extend_model, model_of, open_model, page_model
from holdfast.model.curation import Curation
from holdfast.recall.lookup.path import Path as RecordPath
from holdfast.recall.query.iso_dates import read_iso_span

router = APIRouter(tags=["records"])
_Decision = open_model("Decision", "What was decided, as the log has it.", decision=Curation)
_LoggedDecision = extend_model(
    model_of(Curation),
    "Logged",
    "A decision, the way it came by, and what was before and after it.",
    channel=str,
    before=str,
    after=str,
)
_Erasure = open_model(
    "Erased",
    "What is erased, in counts and never in words; what still holds it.",
    erased=bool,
    records=dict[str, int],
    events=int,
    log_lines=int,
    backups=list[str],
    transcripts=list[str],
)
_Trace = open_model(
    "Record",
    "A record, what it stands in, what it is made of, its raw line, and its life.",
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
    """What a record should say."""

    text: str = Field(min_length=1, max_length=20_000)


class MergeTarget(RequestBody):
    """The record that stands for another."""

    into: str = Field(min_length=1, max_length=300)


class Purge(RequestBody):
    """That it is meant."""

    confirm: Literal["purge"] = Field(description="Erasing is for good; say so.")
    backups: bool = Field(False, description="Whether backups that hold it are removed, too.")


class Scrub(RequestBody):
    """A text, or a regular expression between slashes, and that it is meant."""

    pattern: str = Field(min_length=1, max_length=1000)
    confirm: Literal["scrub", ""] = Field("", description='Without "scrub" it is only counted.')
    backups: bool = False


class Undo(RequestBody):
    """How many decisions are taken back, and where."""

    count: int = Field(1, ge=1, le=100)
    bank: str = Field("all", max_length=200)


@router.get("/records/{id:path}/path", response_model=model_of(RecordPath), summary="Its path")
async def path(request: ApiRequestDep, id: Id, bank: Bank = "all") -> Response:
    """From the facts above a record down to the raw lines."""
    return await request.read(lambda memory: memory.browse.path(id, bank))


@router.get("/records/{id:path}/purge", response_model=_Erasure, summary="What a purge would erase")
async def plan_purge(request: ApiRequestDep, id: Id, bank: Bank = "all") -> Response:
    """Changes nothing."""
    return await request.run(
        lambda memory: erasure_json(memory.erasure.plan_purge(id, bank), False)
    )


@router.get("/records/{id:path}", response_model=_Trace, summary="One record")
async def show(
    request: ApiRequestDep,
    id: Id,
    bank: Bank = "all",
    as_of: Annotated[str, Query(max_length=40)] = "",
    rules: bool = False,
) -> Response:
    """With the way down to its raw line, which is shown without secrets; with `rules` also what
    rules alone make of it."""
    as_of_time = read_iso_span(as_of).last if as_of else ""

    def load(memory: Holdfast) -> JsonObject:
        trace = memory.show(id, bank, as_of_time)
        if trace.raw is not None:
            clean = Redactor(memory.settings.redact_patterns).redact(trace.raw.text).text
            trace = trace._replace(raw=trace.raw._replace(text=clean))
        by_rules = memory.inventory.without_model(trace.record) if rules else None
        return json_shapes.trace_json(trace, whole_anchor(memory.reader, trace.record), by_rules)

    return await request.read(load)


@router.post("/records/{id:path}/correct", response_model=_Decision, summary="Say it anew")
async def correct(request: ApiRequestDep, id: Id, body: Correction, bank: Bank = "all") -> Response:
    """Its old words are kept as superseded."""
    return await request.run(
        lambda memory: {"decision": memory.correct(id, body.text, bank, request.who)}
    )


@router.post("/records/{id:path}/forget", response_model=_Decision, summary="Forget it")
async def forget(request: ApiRequestDep, id: Id, bank: Bank = "all") -> Response:
    """It, and all that is made of it, is left out of everything until it is restored."""
    return await request.run(lambda memory: {"decision": memory.forget(id, bank, request.who)})


@router.post("/records/{id:path}/restore", response_model=_Decision, summary="Bring it back")
async def restore(request: ApiRequestDep, id: Id, bank: Bank = "all") -> Response:
    """What was forgotten or merged."""
    return await request.run(lambda memory: {"decision": memory.restore(id, bank, request.who)})


@router.post("/records/{id:path}/confirm", response_model=_Decision, summary="Say that it holds")
async def confirm(request: ApiRequestDep, id: Id, bank: Bank = "all") -> Response:
    """Whatever became of its code since."""
    return await request.run(
        lambda memory: {"decision": memory.curation.confirm(id, bank, request.who)}
    )


@router.post("/records/{id:path}/merge", response_model=_Decision, summary="Merge it")
async def merge(request: ApiRequestDep, id: Id, body: MergeTarget, bank: Bank = "all") -> Response:
    """Let another record stand for this one."""
    return await request.run(
        lambda memory: {"decision": memory.curation.merge(id, body.into, bank, request.who)}
    )


@router.post("/records/{id:path}/purge", response_model=_Erasure, summary="Erase it for good")
async def purge(request: ApiRequestDep, id: Id, body: Purge, bank: Bank = "all") -> Response:
    """With all that is made of it. It cannot be undone."""

    def change(memory: Holdfast) -> JsonObject:
        erasure = memory.erasure.purge(id, bank, request.who)
        remove_backups(erasure, body.backups)
        return erasure_json(erasure, True)

    return await request.run_long(change)


@router.post("/scrub", response_model=_Erasure, summary="Erase a text wherever it is")
async def scrub(request: ApiRequestDep, body: Scrub) -> Response:
    """In every bank, for good; without `confirm` it is only counted."""

    def change(memory: Holdfast) -> JsonObject:
        if not body.confirm:
            return erasure_json(memory.erasure.plan_scrub(body.pattern), False)
        erasure = memory.erasure.scrub(body.pattern, request.who)
        remove_backups(erasure, body.backups)
        return erasure_json(erasure, True)

    return await request.run_long(change)


@router.post(
    "/undo",
    response_model=open_model("Undone", undone=list[Curation]),
    summary="Take back the latest decisions",
)
async def undo(request: ApiRequestDep, body: Undo) -> Response:
    """The latest first; what was erased stays erased."""
    return await request.run(
        lambda memory: {"undone": memory.undo(body.count, body.bank, request.who)}
    )


@router.get(
    "/decisions",
    response_model=page_model("decisions", _LoggedDecision),
    summary="The log of decisions",
)
async def decisions(
    request: ApiRequestDep, bank: Bank = "all", limit: Limit = 50, cursor: Cursor = ""
) -> Response:
    """Who changed what and by which way, what was before and after, the latest first."""

    def load(memory: Holdfast) -> JsonObject:
        if memory.context.bank_id(bank) == "":
            raise InputError("There is no such bank.", "GET /api/v1/banks lists them.")
        page, more = decisions_page(memory, bank, limit, cursor)
        return {"decisions": [one.to_json() for one in page], "cursor": more}

    return await request.read(load)
