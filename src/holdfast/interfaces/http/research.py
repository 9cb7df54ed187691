"""Research over HTTP: questions that are answered in the background and followed step by step."""

from __future__ import annotations

from typing import Annotated

from fastapi import Header, Path, Request, Response

from holdfast.app.core.context import ALL_BANKS
from holdfast.interfaces.http.auth.permissions import API_PREFIX
from holdfast.interfaces.http.rest import (
    describe_arguments,
    describe_result,
    described_router,
    http_call,
    json_response,
    read_request,
)
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.operations.asking import ask_options
from holdfast.operations.parameters import MAX_RESEARCH_ID
from holdfast.operations.registry import find_operation

_EVENTS = {"text/event-stream": {"schema": {"type": "string"}}}
router = described_router("research")


class ResearchStarted(NamedTuple):
    """The id of a session, and where its steps can be followed."""

    session_id: str
    events: str


@router.post(
    "/research",
    status_code=202,
    responses=describe_result(ResearchStarted, 202),
    summary="Start a research session",
    openapi_extra=describe_arguments(find_operation("ask")),
)
async def start(request: Request) -> Response:
    """Takes what `ask` takes, and returns at once. `events` streams the steps and the answer."""
    given = await read_request(find_operation("ask"), request)
    options = ask_options({"bank": ALL_BANKS, **given}, http_call())
    id = await request.app.state.web.research_runs.start(options, given.get("session", ""))
    return json_response(ResearchStarted(id, f"{API_PREFIX}/research/{id}/events"), 202)


@router.get(
    "/research/{id}/events",
    response_class=Response,
    responses={200: {"description": "Server-sent events.", "content": _EVENTS}},
    summary="Follow a research session",
)
async def events(
    request: Request,
    id: Annotated[str, Path(max_length=MAX_RESEARCH_ID, examples=["mem-0190f3a2b4c1a2b3c4d"])],
    last_event_id: Annotated[int, Header(ge=0)] = 0,
) -> Response:
    """Sends `step` for each step and `done` at the end. To continue after a lost connection, send
    the id of the last event as `Last-Event-ID`."""
    await read_request(find_operation("research show"), request)  # nothing but the id
    web = request.app.state.web
    name = web.research_runs.find(id)
    return web.streams.respond(web.research_runs.follow(name, last_event_id))
