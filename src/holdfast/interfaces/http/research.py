"""Research over HTTP: questions that are answered in the background and followed step by step."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Header, Path, Request, Response

from holdfast.app.core.context import ALL_BANKS
from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.interfaces.http.auth.permissions import API_PREFIX, PermittedRouter
from holdfast.interfaces.http.core.research_runs import ResearchRuns
from holdfast.interfaces.http.rest import (
    ERRORS,
    SCHEMAS,
    arguments_in_body,
    check_write_request,
    http_call,
    json_response,
    read_request,
)
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.operations.asking import ask_options
from holdfast.operations.registry import find_operation
from holdfast.operations.research import ResearchCancelled, ResearchDetails, ResearchRemoved
from holdfast.operations.shapes import Json, result_schema

ResearchId = Annotated[str, Path(max_length=60, examples=["mem-0190f3a2b4c1a2b3c4d"])]
_STREAM: dict[int | str, Json] = {
    200: {
        "description": "Server-sent events.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


async def _check_arguments(request: Request) -> None:
    """Refuse arguments beside the id of a session."""
    await read_request(find_operation("research show"), request)


_ONLY_ID = [Depends(_check_arguments)]
router = PermittedRouter(
    API_PREFIX, [Depends(check_write_request)], responses=ERRORS, tags=["research"]
)


def _result(kind: type, status: int = 200) -> dict[int | str, Json]:
    content = {"application/json": {"schema": result_schema(kind, SCHEMAS)}}
    return {status: {"description": "The result.", "content": content}}


class ResearchStarted(NamedTuple):
    """The id of a session, and where its steps can be followed."""

    session_id: str
    events: str


@router.post(
    "/research",
    status_code=202,
    responses=_result(ResearchStarted, 202),
    summary="Start a research session",
    openapi_extra=arguments_in_body(find_operation("ask")),
)
async def start(request: Request) -> Response:
    """Takes what `ask` takes, and returns at once. `events` streams the steps and the answer."""
    given = await read_request(find_operation("ask"), request)
    options = ask_options({"bank": ALL_BANKS, **given}, http_call())
    id = _runs(request).start(options, given.get("session", ""))
    return json_response(ResearchStarted(id, f"/api/v1/research/{id}/events"), 202)


@router.get(
    "/research/{id}",
    dependencies=_ONLY_ID,
    responses=_result(ResearchDetails),
    summary="Open a research session",
)
async def show(request: Request, id: ResearchId) -> Response:
    """With its questions, steps and answers, without the text of records that are hidden now; also
    one that waits for its turn."""
    runs = _runs(request)

    def read(memory: Holdfast) -> ResearchDetails:
        session, lines = runs.read(memory, id)
        return ResearchDetails(*session, lines=tuple(lines))

    return json_response(await request.app.state.web.pool.read(read))


@router.get(
    "/research/{id}/events",
    dependencies=_ONLY_ID,
    response_class=Response,
    responses=_STREAM,
    summary="Follow a research session",
)
async def events(
    request: Request, id: ResearchId, last_event_id: Annotated[str, Header(max_length=20)] = "0"
) -> Response:
    """Sends `step` for each step and `done` at the end. To continue after a lost connection, send
    the id of the last event as `Last-Event-ID`."""
    if not (last_event_id.isascii() and last_event_id.isdigit()):
        raise InputError("Last-Event-ID is not a number.", "Send the id of the last event.")
    runs = _runs(request)
    return request.app.state.web.streams.respond(runs.follow(runs.find(id), int(last_event_id)))


@router.post(
    "/research/{id}/cancel",
    dependencies=_ONLY_ID,
    responses=_result(ResearchCancelled),
    summary="Cancel a research session",
)
async def cancel(request: Request, id: ResearchId) -> Response:
    """`cancel` is false if it was not running."""
    runs = _runs(request)
    name = runs.find(id)
    return json_response(ResearchCancelled(name, runs.cancel(name)))


@router.delete(
    "/research/{id}",
    dependencies=_ONLY_ID,
    responses=_result(ResearchRemoved),
    summary="Delete a research session",
)
async def remove(request: Request, id: ResearchId) -> Response:
    """Deletes its questions and steps for good."""
    runs = _runs(request)
    name = runs.find(id)
    runs.remove(name)
    return json_response(ResearchRemoved(name))


def _runs(request: Request) -> ResearchRuns:
    return request.app.state.web.research_runs
