"""What the routes of the REST API share: the request, its parameters, JSON responses, cursors and
the description of errors."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Awaitable, Callable, Sequence
from inspect import Parameter, Signature, getdoc, signature
from typing import Annotated, Any, TypeVar, get_type_hints

import orjson
from fastapi import Depends, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from holdfast.app.memory import Holdfast
from holdfast.app.views.decision_log import HTTP, name_with_channel
from holdfast.errors import InputError
from holdfast.interfaces.http.auth.guard import SAFE_METHODS
from holdfast.interfaces.http.auth.permissions import API_PREFIX, CheckedRouter
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.core.request_principal import principal
from holdfast.interfaces.http.core.research_runs import ResearchRuns
from holdfast.interfaces.http.core.streaming import EventStreams
from holdfast.model.to_json import to_jsonable

KEY_HEADER = "X-Form-Key"
# Items of one page of a list. More would hold a thread longer; clients follow the cursor.
MAX_PAGE_SIZE = 200
T = TypeVar("T")
Json = dict[str, Any]

Bank = Annotated[
    str,
    Query(
        max_length=200,
        description="The name or id of a bank, or `all`.",
        examples=["all"],
    ),
]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE_SIZE, description="Maximum number of items.")]
Cursor = Annotated[str, Query(max_length=2000, description="The `cursor` of the previous page.")]
# A question or a topic, in the address or in a body: not only blanks and invisible characters.
NOT_BLANK = r"[^\s\u200b-\u200f\u2060\ufeff]"
QueryText = Annotated[str, Query(min_length=1, max_length=4000, pattern=NOT_BLANK)]
SentText = Annotated[str, Field(min_length=1, max_length=4000, pattern=NOT_BLANK)]
Id = Annotated[
    str, Path(max_length=300, description="A record: its id, the start of it, or `kind/id`.")
]


class RequestBody(BaseModel):
    """The base of request bodies; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class Problem(BaseModel):
    """What went wrong, and what to do about it."""

    code: str = Field(examples=["not_found"])
    message: str = Field(examples=["There is no bank 'shop'."])
    remedy: str = Field(examples=["There are: checkout, ui."])


class Error(BaseModel):
    """Every error has this form."""

    error: Problem


_ERRORS = {
    400: "A value cannot be used.",
    401: "No valid token, key or cookie.",
    403: "Not permitted, sent by another web page, or a cookie without the form key.",
    404: "Not found.",
    409: "It has changed since, or was cancelled.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    421: "The server does not answer to this host name.",
    422: "A field is missing or has the wrong type.",
    429: "Too many requests; `Retry-After` says how long to wait.",
    500: "An error in Holdfast.",
    502: "An error of the model service.",
    503: "Busy or not available; try again in a moment.",
}
Responses = dict[int | str, dict[str, Any]]
# Of a model, the framework makes a validator for every status of every route: a third of the time
# that a server takes to start. So only the routes of one router describe errors by the model, which
# puts it into the OpenAPI description, and all others refer to it.
ERRORS_BY_MODEL: Responses = {
    status: {"description": text, "model": Error} for status, text in _ERRORS.items()
}
_ERROR_CONTENT = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
ERRORS: Responses = {
    status: {"description": text, "content": _ERROR_CONTENT} for status, text in _ERRORS.items()
}


class ApiRequest:
    """The parts of the server that a route uses."""

    def __init__(self, request: Request) -> None:
        web = request.app.state.web
        self.pool: MemoryPool = web.pool
        self.research_runs: ResearchRuns = web.research_runs
        self.streams: EventStreams = web.streams


ApiRequestDep = Annotated[ApiRequest, Depends(ApiRequest)]
Route = TypeVar("Route", bound=Callable[..., object])
# A way in which the pool runs a task.
Run = Callable[[MemoryPool, Callable[[Holdfast], object]], Awaitable[object]]


class ApiRouter(CheckedRouter):
    """A router of the REST API, under a heading of its description. Its routes can be functions of
    the memory."""

    def __init__(self, heading: str) -> None:
        super().__init__(
            API_PREFIX, [Depends(check_write_request)], responses=ERRORS, tags=[heading]
        )

    def task(
        self,
        route: str,
        model: type[BaseModel],
        summary: str,
        run: Run | None = None,
        status: int = 200,
    ) -> Callable[[Route], Route]:
        """Add a function as a route, such as "GET /facts". Its first parameter is the memory, the
        others are those of the request. Its result is sent as JSON, which `model` describes.
        Without `run` a GET only reads, and all else searches or changes something."""
        method, _, path = route.partition(" ")
        run_task = run or (MemoryPool.read if method == "GET" else MemoryPool.run)

        def add(task: Route) -> Route:
            hints = get_type_hints(task, include_extras=True)
            own = list(signature(task).parameters.values())[1:]

            async def endpoint(http_request: Request, **given: Any) -> Response:
                pool: MemoryPool = http_request.app.state.web.pool
                result = await run_task(pool, lambda memory: task(memory, **given))
                return json_response(result, status)

            parameters = [Parameter("http_request", Parameter.KEYWORD_ONLY, annotation=Request)] + [
                one.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[one.name]) for one in own
            ]
            endpoint.__signature__ = Signature(parameters)  # pyright: ignore[reportFunctionMemberAccess]
            self.add_api_route(
                path,
                endpoint,
                methods=[method],
                response_model=model,
                status_code=status,
                summary=summary,
                description=getdoc(task),
                name=task.__name__,
            )
            return task

        return add


def author() -> str:
    """The author of a change, as the log of decisions names it."""
    return name_with_channel(principal().label, HTTP)


def json_response(value: object, status: int = 200) -> Response:
    """A value as JSON, in the same form as on the command line."""
    return Response(orjson.dumps(to_jsonable(value)), status, media_type="application/json")


async def check_write_request(request: Request) -> None:
    """Check a request that can change something: its body is JSON, and a browser sends the key of
    our forms, because it would send the cookie with a form of another site as well."""
    if request.method in SAFE_METHODS:
        return
    cookie = str(request.scope.get("visitor") or "")
    if cookie and not request.app.state.web.keys.is_valid_form_key(
        cookie, request.headers.get(KEY_HEADER, "")
    ):
        raise CrossSiteError(
            "A change with a cookie needs the form key.", f"Send it as {KEY_HEADER}."
        )
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    length = request.headers.get("content-length", "0")
    empty = length.strip("0") == "" and "transfer-encoding" not in request.headers
    if content_type != "application/json" and not (empty and not content_type):
        raise NotJsonError("The body is not JSON.", "Send it with Content-Type: application/json.")


class CrossSiteError(InputError):
    """A change that did not come from one of our pages."""


class NotJsonError(InputError):
    """A body that is not JSON."""


def paginate(
    items: Sequence[T],
    key: Callable[[T], tuple[str | int | float, ...]],
    limit: int,
    cursor: str,
    descending: bool = True,
) -> tuple[list[T], str | None]:
    """The next page of a list after a cursor, and the next cursor; None at the end. A cursor is
    the sort key of an item, so that pages do not shift when items come or go."""
    ordered = sorted(items, key=key, reverse=descending)
    if cursor:
        after = read_cursor(cursor)
        if ordered and len(after) != len(key(ordered[0])):
            raise invalid_cursor()
        try:
            ordered = [i for i in ordered if (key(i) < after if descending else key(i) > after)]
        except TypeError as error:
            raise invalid_cursor() from error
    page = ordered[:limit]
    more = len(ordered) > limit
    return page, write_cursor(*key(page[-1])) if more else None


def write_cursor(*key: str | int | float) -> str:
    """A sort key as a cursor."""
    data = json.dumps(key, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def read_cursor(cursor: str) -> tuple[Any, ...]:
    """The sort key that a cursor stands for; raises `InputError` if it is none."""
    try:
        data = base64.urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4))
        found = json.loads(data)
    except (ValueError, binascii.Error, UnicodeError, RecursionError) as error:
        raise invalid_cursor() from error
    if not isinstance(found, list):
        raise invalid_cursor()
    return tuple(found)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def invalid_cursor() -> InputError:
    """The error for a cursor that is not of this list."""
    return InputError("Invalid cursor.", "Send the `cursor` of the previous page.")
