"""Research sessions: start, list, follow and cancel them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Header, Path, Response

from holdfast.app.answers.research_sessions import sessions_of
from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.interfaces.http.api.requests import (
    ApiRequestDep,
    ApiRouter,
    Cursor,
    Json,
    Limit,
    author,
    json_response,
    paginate,
)
from holdfast.interfaces.http.api.schema import extend_model, model_of, open_model, page_model
from holdfast.interfaces.http.api.search import Question
from holdfast.model.to_json import to_jsonable
from holdfast.research.session_journal import SessionSummary

router = ApiRouter("research")
ResearchId = Annotated[str, Path(max_length=60, examples=["mem-0190f3a2b4c1a2b3c4d"])]
_Session = model_of(SessionSummary, "ResearchSession")
_FullSession = extend_model(_Session, "ResearchWhole", lines=list[dict[str, Any]])
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


@router.post(
    "/research",
    status_code=202,
    response_model=open_model("Started", session_id=str, events=str),
    summary="Start a research session",
)
async def start(request: ApiRequestDep, body: Question) -> Response:
    """Returns at once. `events` streams the steps and the answer."""
    id = request.research_runs.start(body.ask_options(), body.session)
    return json_response({"session_id": id, "events": f"/api/v1/research/{id}/events"}, 202)


@router.task("GET /research", page_model("sessions", _Session), "List research sessions")
def listed(memory: Holdfast, limit: Limit = 20, cursor: Cursor = "") -> Json:
    """The latest first."""
    sessions = sessions_of(memory.settings)
    page, more = paginate(sessions.ids(), lambda id: (id,), limit, cursor)
    return {"sessions": [sessions.summary(id) for id in page], "cursor": more}


@router.get("/research/{id}", response_model=_FullSession, summary="Get a research session")
async def one(request: ApiRequestDep, id: ResearchId) -> Response:
    """With all steps, without the text of records that are hidden now."""

    def load(memory: Holdfast) -> Json:
        session, lines = request.research_runs.read(memory, id)
        return {**to_jsonable(session), "lines": lines}

    return json_response(await request.pool.read(load))


@router.get(
    "/research/{id}/events",
    response_class=Response,
    responses=_STREAM,
    summary="Follow a research session",
)
async def events(
    request: ApiRequestDep,
    id: ResearchId,
    last_event_id: Annotated[str, Header(max_length=20)] = "0",
) -> Response:
    """Sends `step` for each step and `done` at the end. To continue after a lost connection, send
    the id of the last event as `Last-Event-ID`."""
    if not (last_event_id.isascii() and last_event_id.isdigit()):
        raise InputError("Last-Event-ID is not a number.", "Send the id of the last event.")
    name = request.research_runs.find(id)
    return request.streams.respond(request.research_runs.follow(name, int(last_event_id)))


@router.post(
    "/research/{id}/cancel",
    response_model=open_model("Cancelled", session_id=str, cancel=bool),
    summary="Cancel a research session",
)
async def cancel(request: ApiRequestDep, id: ResearchId) -> Response:
    """`cancel` is false if it was not running."""
    name = request.research_runs.find(id)
    return json_response({"session_id": name, "cancel": request.research_runs.cancel(name)})


@router.task(
    "POST /research/{id}/useful",
    open_model("Useful", session_id=str, records=int),
    "Mark an answer as useful",
)
def useful(memory: Holdfast, id: ResearchId) -> Json:
    """Confirms the records that the last answer cites; `records` counts them."""
    return {"session_id": id, "records": memory.answers.mark_useful(id, author())}


@router.delete(
    "/research/{id}",
    response_model=open_model("Removed", session_id=str, remove=bool),
    summary="Delete a research session",
)
async def remove(request: ApiRequestDep, id: ResearchId) -> Response:
    """Deletes its questions and steps for good."""
    name = request.research_runs.find(id)

    def change(_memory: Holdfast) -> Json:
        request.research_runs.remove(name)
        return {"session_id": name, "remove": True}

    return json_response(await request.pool.run(change))
