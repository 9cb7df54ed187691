"""Sessions, their messages and their exchanges."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

from fastapi import Path, Query

from holdfast.app.memory import Holdfast
from holdfast.app.search import json_shapes
from holdfast.errors import InputError, NotFoundError
from holdfast.interfaces.http.api.listing import exchanges_page, page_json, sessions_page
from holdfast.interfaces.http.api.requests import (
    ApiRouter,
    Bank,
    Cursor,
    Json,
    Limit,
    invalid_cursor,
    read_cursor,
    write_cursor,
)
from holdfast.interfaces.http.api.schema import extend_model, model_with_uri, page_model
from holdfast.model.records import Digest, Exchange, Session, Turn

router = ApiRouter("sessions")
_ALL = 1 << 31
SessionId = Annotated[
    str, Path(max_length=200, description="The id (or its start), or the id that the agent uses.")
]
_Session = model_with_uri(Session)
_FullSession = extend_model(
    _Session, "SessionWhole", digest=model_with_uri(Digest) | None, exchanges=int, messages=int
)


def find_session(memory: Holdfast, id: str, bank: str = "all") -> Session:
    """The session of an id: ours, the start of it, or the host's own."""
    within = memory.context.bank_id(bank)
    known = memory.reader.records.find(within, "session", id, 2)
    found = [one for one in known if isinstance(one, Session)]
    if len(found) > 1 and found[0].id != id:
        raise InputError(f"Several sessions start with {id!r}.", "Give more of the id.")
    if found:
        return found[0]
    raise NotFoundError(f"There is no session {id!r}.", "GET /api/v1/sessions lists them.")


@router.task("GET /sessions", page_model("sessions", _Session), "List sessions")
def sessions(
    memory: Holdfast,
    bank: Bank = "all",
    agent: Annotated[str, Query(max_length=100)] = "",
    branch: Annotated[str, Query(max_length=300)] = "",
    limit: Limit = 50,
    cursor: Cursor = "",
) -> Json:
    """The latest first."""
    page = sessions_page(memory, bank, limit, cursor, agent, branch)
    return page_json("sessions", "session", page)


@router.task("GET /sessions/{id}", _FullSession, "Get a session")
def session(memory: Holdfast, id: SessionId, bank: Bank = "all") -> Json:
    """With its digest and the number of messages and exchanges."""
    one, reader = find_session(memory, id, bank), memory.reader
    digest = reader.sessions.digest(one.bank, one.id)
    return {
        **json_shapes.record_json("session", one),
        "digest": json_shapes.record_json("digest", digest) if digest is not None else None,
        "exchanges": len(reader.sessions.exchanges(one.bank, one.id)),
        "messages": sum(1 for _ in reader.turns.stream(one.bank, one.id)),
    }


@router.task(
    "GET /sessions/{id}/messages",
    page_model("messages", model_with_uri(Turn)),
    "List the messages of a session",
)
def messages(
    memory: Holdfast,
    id: SessionId,
    bank: Bank = "all",
    first: Annotated[int, Query(ge=0, le=_ALL, description="Start at this position (`seq`).")] = 0,
    limit: Limit = 100,
    cursor: Cursor = "",
) -> Json:
    """In order, from a position on."""
    start = _place(cursor) if cursor else first
    one = find_session(memory, id, bank)
    turns = list(islice(memory.reader.turns.stream(one.bank, one.id, start), limit + 1))
    more = write_cursor(turns[limit - 1].seq + 1) if len(turns) > limit else None
    return page_json("messages", "turn", (turns[:limit], more))


def _place(cursor: str) -> int:
    match read_cursor(cursor):
        case (int() as start,) if 0 <= start <= _ALL:
            return start
        case _:
            raise invalid_cursor()


@router.task(
    "GET /sessions/{id}/exchanges",
    page_model("exchanges", model_with_uri(Exchange)),
    "List the exchanges of a session",
)
def exchanges(
    memory: Holdfast, id: SessionId, bank: Bank = "all", limit: Limit = 100, cursor: Cursor = ""
) -> Json:
    """In order; each is one request and its result."""
    one = find_session(memory, id, bank)
    page = exchanges_page(memory.reader, one.bank, one.id, limit, cursor)
    return page_json("exchanges", "exchange", page)
