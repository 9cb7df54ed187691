"""The REST API under `/api/v1`: a route for each operation.

Arguments come in the path, the address or a JSON body, and results go out as JSON. What an
operation does, who may call it and what it takes is declared in `operations`; the OpenAPI
description and the permission table follow from that. Research that is followed step by step is in
`research`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any

import orjson
from fastapi import Depends, Request, Response

from holdfast.app.memory import Holdfast
from holdfast.app.views.decision_log import HTTP, name_with_channel
from holdfast.errors import InputError
from holdfast.interfaces.http.auth.guard import SAFE_METHODS
from holdfast.interfaces.http.auth.permissions import API_PREFIX, PermittedRouter
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.core.request_principal import principal
from holdfast.operations.binding import ArgumentError, read_arguments
from holdfast.operations.operation import Call, Operation, Parameter, Work
from holdfast.operations.registry import NOT_OFFERED, SUBJECTS, find_operation
from holdfast.operations.running import run_with
from holdfast.operations.shapes import (
    Json,
    arguments_schema,
    parameter_schema,
    result_json,
    result_schema,
)

KEY_HEADER = "X-Form-Key"
_ERRORS = {
    400: "A value cannot be used.",
    401: "No valid token, key or cookie.",
    403: "Not permitted, sent by another web page, or a cookie without the form key.",
    404: "Not found.",
    409: "It has changed since, or was cancelled.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    421: "The server does not answer to this host name.",
    422: "An argument is missing, unknown, or cannot be used.",
    429: "Too many requests; `Retry-After` says how long to wait.",
    500: "An error in Holdfast.",
    502: "An error of the model service.",
    503: "Busy or not available; try again in a moment.",
    507: "The disk is full. Nothing was written.",
}
_ERROR_CONTENT = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
ERRORS: dict[int | str, Json] = {
    status: {"description": text, "content": _ERROR_CONTENT} for status, text in _ERRORS.items()
}
_ERROR_SCHEMA: Json = {
    "type": "object",
    "description": "Every error has this form.",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "remedy"],
            "properties": {
                "code": {"type": "string", "examples": ["not_found"]},
                "message": {"type": "string", "examples": ["There is no bank 'shop'."]},
                "remedy": {"type": "string", "examples": ["There are: checkout, ui."]},
            },
        }
    },
}
# The records that results consist of, for the OpenAPI description.
SCHEMAS: Json = {"Error": _ERROR_SCHEMA}
# What stores something new answers 201.
_STORING = ("remember", "retain", "backup")
# How the memory pool runs each kind of work.
RUNNERS: dict[Work, Callable[..., Awaitable[Any]]] = {
    Work.READ: MemoryPool.read,
    Work.SEARCH: MemoryPool.search,
    Work.SEARCH_WITH_MODEL: MemoryPool.search_with_model,
    Work.RUN: MemoryPool.run,
    Work.RUN_WITH_MODEL: MemoryPool.run_with_model,
    Work.RUN_LONG: MemoryPool.run_long,
}


def author() -> str:
    """The author of a change, as the log of decisions names it."""
    return name_with_channel(principal().label, HTTP)


def http_call() -> Call:
    """For whom the operations of this request run. A server asks no other: it would do so with its
    own keys, for any client."""
    return Call(author(), remotes=False, key=principal().name, in_folder=False)


async def run_in_pool(pool: MemoryPool, operation: Operation, arguments: Json) -> Any:
    """The result of an operation in the name of this request, with arguments that were read."""
    call = http_call()

    def task(memory: Holdfast) -> Any:
        return run_with(operation, memory, arguments, call)

    public = {"also": operation.public_banks} if operation.public_banks else {}
    return await RUNNERS[operation.work](pool, task, **public)


def json_response(value: object, status: int = 200) -> Response:
    """A value as JSON, in the same form as on the command line."""
    return Response(orjson.dumps(result_json(value)), status, media_type="application/json")


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


async def read_request(operation: Operation, request: Request) -> Json:
    """The arguments of a request: those in the path and the address are text, those in the body
    JSON."""
    texts: Json = dict(request.path_params)
    many = {one.name for one in operation.parameters if one.many}
    for name, value in request.query_params.multi_items():
        if name in many:
            texts.setdefault(name, []).append(value)
        elif name in texts:
            raise ArgumentError(f"{name} is given twice.")
        else:
            texts[name] = value
    given = await read_body(request)
    if both := next((name for name in given if name in texts), ""):
        raise ArgumentError(f"{both} is given twice.", "In the address, or in the body.")
    return read_arguments(operation, given, texts)


async def read_body(request: Request) -> Json:
    """The object that is the body of a request; {} where there is none."""
    body = await request.body() if request.method not in SAFE_METHODS else b""
    if not body.strip():
        return {}
    try:
        given: Any = orjson.loads(body)
    except ValueError as error:
        raise ArgumentError("The body is not JSON.", "Send an object.") from error
    if not isinstance(given, dict):
        raise ArgumentError("The body is not an object.", 'Send {"name": value, …}.')
    return {str(name): value for name, value in given.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


@cache
def rest_router() -> PermittedRouter:
    """The routes of all operations."""
    router = PermittedRouter(API_PREFIX, [Depends(check_write_request)], responses=ERRORS)
    for subject, names in SUBJECTS.items():
        for name in names:
            if name not in NOT_OFFERED["rest"]:
                add_route(router, subject, find_operation(name))
    return router


def add_route(router: PermittedRouter, subject: str, operation: Operation) -> None:
    """Add the route of an operation, described under a heading."""
    method, path = operation.rest.split(" ")
    status = 201 if operation.name in _STORING else 200

    async def endpoint(request: Request) -> Response:
        arguments = await read_request(operation, request)
        pool: MemoryPool = request.app.state.web.pool
        return json_response(await run_in_pool(pool, operation, arguments), status)

    content = {"application/json": {"schema": result_schema(operation.result, SCHEMAS)}}
    router.add_api_route(
        path,
        endpoint,
        methods=[method],
        status_code=status,
        summary=operation.summary,
        description=operation.details,
        name=operation.id,
        tags=[subject],
        responses={status: {"description": "The result.", "content": content}},
        openapi_extra=_describe_arguments(operation, method, path),
    )


def _describe_arguments(operation: Operation, method: str, path: str) -> Json:
    """The arguments of a route, as OpenAPI has them."""
    asked = [one for one in operation.parameters if not one.arg.on_screen]
    in_path = [one for one in asked if f"{{{one.name}" in path]
    others = [one for one in asked if one not in in_path]
    described = [_in_address(one, "path") for one in in_path]
    if method in ("GET", "DELETE"):
        return {"parameters": described + [_in_address(one, "query") for one in others]}
    body = arguments_in_body(operation, tuple(one.name for one in in_path)) if others else {}
    return {"parameters": described, **body}


def arguments_in_body(operation: Operation, without: tuple[str, ...] = ()) -> Json:
    """The arguments of an operation as the JSON body of a request."""
    hidden = (one.name for one in operation.parameters if one.arg.on_screen)
    schema = arguments_schema(operation, (*without, *hidden))
    content = {"application/json": {"schema": schema}}
    return {"requestBody": {"content": content, "required": "required" in schema}}


def _in_address(parameter: Parameter, where: str) -> Json:
    schema = parameter_schema(parameter)
    return {
        "name": parameter.name,
        "in": where,
        "required": parameter.required or where == "path",
        "description": schema.pop("description"),
        "schema": schema,
    }
