"""The REST API under `/api/v1`: a route for each operation.

Arguments come in the path, the address or a JSON body, and results go out as JSON. What an
operation does, who may call it and what it takes is declared in `operations`; the OpenAPI
description and the permission table follow from that. Research that is followed step by step is in
`research`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import orjson
from fastapi import Request, Response

from holdfast.app.memory import Holdfast
from holdfast.interfaces.http.auth.guard import SAFE_METHODS
from holdfast.interfaces.http.auth.permissions import API_PREFIX, PermittedRouter
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.core.refusals import CrossSiteError, NotJsonError
from holdfast.interfaces.http.core.request_principal import author, principal
from holdfast.operations.binding import ArgumentError, read_arguments
from holdfast.operations.decisions.log import HTTP
from holdfast.operations.operation import Call, Operation, Parameter
from holdfast.operations.registry import NOT_OFFERED, SUBJECTS, find_operation
from holdfast.operations.running import run_with
from holdfast.operations.shapes import (
    Json,
    arguments_schema,
    parameter_schema,
    result_json,
    result_schema,
)

_TEXTS = {"code": "not_found", "message": "There is no bank 'shop'.", "remedy": "There are: ui."}
# The records that results consist of, for the OpenAPI description.
SCHEMAS: Json = {
    "Error": {
        "type": "object",
        "description": "Every error has this form.",
        "required": ["error"],
        "properties": {
            "error": {
                "type": "object",
                "required": list(_TEXTS),
                "properties": {
                    name: {"type": "string", "examples": [text]} for name, text in _TEXTS.items()
                },
            }
        },
    }
}
# What stores something new answers 201.
_STORING = ("remember", "retain", "backup")


def http_call() -> Call:
    """For whom the operations of this request run. A server asks no other: it would do so with its
    own keys, for any client."""
    return Call(author(HTTP), remotes=False, key=principal().name, in_folder=False)


async def run_operation(pool: MemoryPool, operation: Operation, arguments: Json) -> Any:
    """The result of an operation in the name of this request, with arguments that were read."""
    call = http_call()

    def task(memory: Holdfast) -> Any:
        return run_with(operation, memory, arguments, call)

    public = {"also": operation.public_banks} if operation.public_banks else {}
    return await getattr(pool, operation.work)(task, **public)


def json_response(value: object, status: int = 200) -> Response:
    """A value as JSON, in the same form as on the command line."""
    return Response(orjson.dumps(result_json(value)), status, media_type="application/json")


async def check_write_request(request: Request) -> None:
    """Check a request that can change something: its body is JSON, and it has a token, because a
    browser would send its cookie with a form of another site as well."""
    if request.method in SAFE_METHODS:
        return
    if request.scope.get("visitor"):
        raise CrossSiteError("A cookie changes nothing here.", "Send a token, or use a page.")
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    length = request.headers.get("content-length", "0")
    empty = length.strip("0") == "" and "transfer-encoding" not in request.headers
    if content_type != "application/json" and not (empty and not content_type):
        raise NotJsonError("The body is not JSON.", "Send it with Content-Type: application/json.")


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


def described_router(tag: str = "", prefix: str = API_PREFIX) -> PermittedRouter:
    """A router whose routes the OpenAPI description has, with the form of errors."""
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    error: Json = {"description": "An error. Its `code` is always the same.", "content": content}
    tags: Any = [tag] if tag else None
    return PermittedRouter(prefix, check_write_request, responses={"default": error}, tags=tags)


@cache
def rest_router() -> PermittedRouter:
    """The routes of all operations."""
    router = described_router()
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
        return json_response(await run_operation(pool, operation, arguments), status)

    router.add_api_route(
        path,
        endpoint,
        methods=[method],
        status_code=status,
        summary=operation.summary,
        description=operation.details,
        name=operation.id,
        tags=[subject],
        responses=describe_result(operation.result, status),
        openapi_extra=describe_arguments(operation, method, path),
    )


def describe_result(kind: Any, status: int = 200) -> dict[int | str, Json]:
    """A result of a type, as OpenAPI has it."""
    content = {"application/json": {"schema": result_schema(kind, SCHEMAS)}}
    return {status: {"description": "The result.", "content": content}}


def describe_arguments(operation: Operation, method: str = "POST", path: str = "") -> Json:
    """The arguments of a route, as OpenAPI has them."""
    asked = [one for one in operation.parameters if not one.arg.on_screen]
    in_path = [one for one in asked if f"{{{one.name}" in path]
    described = [_in_address(one, "path") for one in in_path]
    if method in ("GET", "DELETE"):
        others = [one for one in asked if one not in in_path]
        return {"parameters": described + [_in_address(one, "query") for one in others]}
    if len(asked) == len(in_path):
        return {"parameters": described}
    elsewhere = (one.name for one in operation.parameters if one in in_path or one.arg.on_screen)
    schema = arguments_schema(operation, tuple(elsewhere))
    content = {"application/json": {"schema": schema}}
    return {
        "parameters": described,
        "requestBody": {"content": content, "required": "required" in schema},
    }


def _in_address(parameter: Parameter, where: str) -> Json:
    schema = parameter_schema(parameter)
    return {
        "name": parameter.name,
        "in": where,
        "required": parameter.required or where == "path",
        "description": schema.pop("description"),
        "schema": schema,
    }
