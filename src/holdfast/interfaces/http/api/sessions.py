"""Sessions, their messages and their exchanges."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from holdfast.app.memory import Holdfast
from holdfast.app.search import json_shapes
from holdfast.errors import InputError, NotFoundError
from holdfast.interfaces.http.api.listing import exchanges_page, sessions_page
from holdfast.interfaces.http.api.requests import (
    ApiRequestDep,
    Bank,
    Cursor,
    JsonObject,
    Limit,
    invalid_cursor,
    read_cursor,
    write_cursor,
)
from holdfast.interfaces.http.api.schema import extend_model, model_with_uri, page_model
from holdfast.model.records import Digest, Exchange, Session, Turn

router = APIRouter(tags=["sessions"])
_ALL = 1 << 31
SessionId = Annotated[
    str,
    Path(max_length=200, description="Our id or the host's own, or the start of ours."),
]
_Session = model_with_uri(Session)
_FullSession = extend_model(
    _Session, "SessionWhole", digest=model_with_uri(Digest) | None, exchanges=int, messages=int
)


def find_session(memory: Holdfast, id: str, bank: str = "all") -> Session:
    """The session of an id: ours, the start of it, or the host's own."""
    within = memory.context.bank_id(bank)
    known = memory.reader.find(within, "session", id, 2)
    found = [one for one in known if isinstance(one, Session)]
    if len(found) > 1 and found[0].id != id:
        raise InputError(f"Several sessions start with {id!r}.", "Give more of the id.")
    if found:
        return found[0]
    raise NotFoundError(f"There is no session {id!r}.", "GET /api/v1/sessions lists them.")


@router.get("/sessions", response_model=page_model("sessions", _Session), summary="Sessions")
async def sessions(
    request: ApiRequestDep,
    bank: Bank = "all",
    agent: Annotated[str, Query(max_length=100)] = "",
    branch: Annotated[str, Query(max_length=300)] = "",
    limit: Limit = 50,
    cursor: Cursor = "",
) -> Response:
    """The latest first."""

    def load(memory: Holdfast) -> JsonObject:
        page, more = sessions_page(memory, bank, limit, cursor, agent, branch)
        return {
            "sessions": [json_shapes.record_json("session", one) for one in page],
            "cursor": more,
        }

    return await request.read(load)


@router.get("/sessions/{id}", response_model=_FullSession, summary="One session")
async def session(request: ApiRequestDep, id: SessionId, bank: Bank = "all") -> Response:
    """With its digest, and how much is in it."""

    def load(memory: Holdfast) -> JsonObject:
        one, reader = find_session(memory, id, bank), memory.reader
        digest = reader.digest_of(one.bank, one.id)
        return {
            **json_shapes.record_json("session", one),
            "digest": json_shapes.record_json("digest", digest) if digest is not None else None,
            "exchanges": len(reader.exchanges(one.bank, one.id)),
            "messages": sum(1 for _ in reader.turns_from(one.bank, one.id)),
        }

    return await request.read(load)


@router.get(
    "/sessions/{id}/messages",
    response_model=page_model("messages", model_with_uri(Turn)),
    summary="The messages of a session",
)
async def messages(
    request: ApiRequestDep,
    id: SessionId,
    bank: Bank = "all",
    first: Annotated[int, Query(ge=0, le=_ALL, description="From this place (`seq`) on.")] = 0,
    limit: Limit = 100,
    cursor: Cursor = "",
) -> Response:
    """In their order, from a place on."""
    start = first
    if cursor:
        (start,) = _place(cursor)

    def load(memory: Holdfast) -> JsonObject:
        one = find_session(memory, id, bank)
        turns = list(islice(memory.reader.turns_from(one.bank, one.id, start), limit + 1))
        page = turns[:limit]
        more = write_cursor(page[-1].seq + 1) if len(turns) > limit else None
        return {
            "messages": [json_shapes.record_json("turn", turn) for turn in page],
            "cursor": more,
        }

    return await request.read(load)


def _place(cursor: str) -> tuple[int]:
    match read_cursor(cursor):
        case (int() as start,) if 0 <= start <= _ALL:
            return (start,)
        case _:
            raise invalid_cursor()


@router.get(
    "/sessions/{id}/exchanges",
    response_model=page_model("exchanges", model_with_uri(Exchange)),
    summary="The exchanges of a session",
)
async def exchanges(
    request: ApiRequestDep,
    id: SessionId,
    bank: Bank = "all",
    limit: Limit = 100,
    cursor: Cursor = "",
) -> Response:
    """In their order: each one request and its resolution."""

    def load(memory: Holdfast) -> JsonObject:
        one = find_session(memory, id, bank)
        page, more = exchanges_page(memory.reader, one.bank, one.id, limit, cursor)
        return {"exchanges": [json_shapes.record_json("exchange", e) for e in page], "cursor": more}

    return await request.read(load)
