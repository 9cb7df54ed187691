"""What all ways in for programs share: who asks, how it is answered, pages of lists, errors."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

import orjson
from fastapi import Depends, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from holdfast.app.curation.decision_log import HTTP, named_by
from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.interfaces.http.auth.guard import SAFE
from holdfast.interfaces.http.core.live import Live
from holdfast.interfaces.http.core.memory_pool import Desk
from holdfast.interfaces.http.core.request_principal import principal
from holdfast.interfaces.http.core.research_runs import Investigations
from holdfast.interfaces.http.core.streaming import Streams
from holdfast.model.to_json import plain

KEY_HEADER = "X-Form-Key"
MOST = 200
T = TypeVar("T")
Told = dict[str, Any]

Bank = Annotated[
    str,
    Query(
        max_length=200,
        description="The name or the id of a bank; `all` for every one.",
        examples=["all"],
    ),
]
Limit = Annotated[int, Query(ge=1, le=MOST, description="How many at most.")]
Cursor = Annotated[
    str,
    Query(max_length=2000, description="Where to go on: the `cursor` of the page before."),
]
Words = Annotated[str, Query(min_length=1, max_length=4000, pattern=r"\S")]
Id = Annotated[
    str,
    Path(max_length=300, description="A record: its id, the start of it, or `word/id`."),
]


class Sent(BaseModel):
    """What a program sends: these fields, and no others."""

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
    400: "What was sent cannot be used.",
    401: "Neither the token nor a visitor's cookie was shown.",
    403: "Asked from another page, or a cookie without the key of its forms.",
    404: "There is no such thing.",
    409: "It is not any more what it was, or was stopped.",
    413: "More than is taken in one request.",
    415: "Only JSON is taken.",
    421: "This server does not answer to that name.",
    422: "What was sent is not of the form that is wanted.",
    429: "Too many requests; `Retry-After` says when to go on.",
    500: "A fault of ours.",
    502: "A model service did not answer as it should.",
    503: "Busy; ask again in a moment.",
}
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": Error, "description": text} for status, text in _ERRORS.items()
}


class Asked:
    """A program's request."""

    def __init__(self, request: Request) -> None:
        site = request.app.state.site
        self.request = request
        self.desk: Desk = site.desk
        self.investigations: Investigations = site.investigations
        self.live: Live = site.live
        self.streams: Streams = site.streams

    @property
    def who(self) -> str:
        """In whose name something is changed."""
        return who_by_http()

    @property
    def person(self) -> str:
        """Who that is to others."""
        return principal().name

    async def read(self, what: Callable[[Holdfast], object], status: int = 200) -> Response:
        """The answer to a look into what is stored."""
        return told(await self.desk.read(what), status)

    async def work(
        self, what: Callable[[Holdfast], object], status: int = 200, also: tuple[str, ...] = ()
    ) -> Response:
        """The answer to what recalls, thinks or changes something."""
        return told(await self.desk.work(what, also), status)

    async def think(self, what: Callable[[Holdfast], object]) -> Response:
        """The answer to what a model service may be asked for."""
        return told(await self.desk.think(what))

    async def run_errand(self, what: Callable[[Holdfast], object], status: int = 200) -> Response:
        """The answer to what can take long."""
        return told(await self.desk.run_errand(what), status)


Asking = Annotated[Asked, Depends(Asked)]


def who_by_http() -> str:
    """How the log of decisions names whoever decides by HTTP."""
    return named_by(principal().label, HTTP)


def told(value: object, status: int = 200) -> Response:
    """A value as JSON, in the form that the command line has."""
    return Response(orjson.dumps(plain(value)), status, media_type="application/json")


async def check_sender(request: Request) -> None:
    """What a program sends is JSON; and a browser that came by a link shows that it is a page of
    ours, for a cookie is sent along by itself."""
    if request.method in SAFE:
        return
    cookie = str(request.scope.get("visitor") or "")
    if cookie and not request.app.state.site.keys.knows_form(
        cookie, request.headers.get(KEY_HEADER, "")
    ):
        raise ForeignError(
            "A cookie alone changes nothing.", f"Send the key of the page along as {KEY_HEADER}."
        )
    said = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    length = request.headers.get("content-length", "0")
    empty = length.strip("0") == "" and "transfer-encoding" not in request.headers
    if said != "application/json" and not (empty and not said):
        raise NotJsonError("Only JSON is taken.", "Send it with Content-Type: application/json.")


class ForeignError(InputError):
    """A change that none of our pages asked for."""


class NotJsonError(InputError):
    """A body that is not JSON."""


def paged(
    items: Sequence[T],
    key: Callable[[T], tuple[str | int | float, ...]],
    limit: int,
    cursor: str,
    descending: bool = True,
) -> tuple[list[T], str | None]:
    """The next items of a list behind a cursor, and the cursor behind these; None at the end. A
    cursor is the key of an item, so that what comes or goes elsewhere moves nothing."""
    ordered = sorted(items, key=key, reverse=descending)
    if cursor:
        after = read_cursor(cursor)
        if ordered and len(after) != len(key(ordered[0])):
            raise no_cursor()
        try:
            ordered = [i for i in ordered if (key(i) < after if descending else key(i) > after)]
        except TypeError as error:
            raise no_cursor() from error
    page = ordered[:limit]
    more = len(ordered) > limit
    return page, write_cursor(*key(page[-1])) if more else None


def write_cursor(*key: str | int | float) -> str:
    """A place in a list as a word."""
    data = json.dumps(key, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def read_cursor(cursor: str) -> tuple[Any, ...]:
    """The place that such a word stands for."""
    try:
        data = base64.urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4))
        found = json.loads(data)
    except (ValueError, binascii.Error, UnicodeError, RecursionError) as error:
        raise no_cursor() from error
    if not isinstance(found, list):
        raise no_cursor()
    return tuple(found)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def no_cursor() -> InputError:
    """What to say of a cursor that is none of this list."""
    return InputError("This is no cursor of this list.", "Take the one of the page before.")
