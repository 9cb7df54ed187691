"""`POST /graphql`: one query a request, as JSON. The schema is made with the first request."""

from __future__ import annotations

import asyncio
from types import ModuleType

from fastapi import Request, Response

from holdfast.interfaces.http.rest import described_router, json_response, read_body
from holdfast.operations.binding import ArgumentError

_MAX_QUERY_CHARS = 50_000
_MAX_NAME_CHARS = 200
_FIELDS = ("query", "variables", "operationName", "extensions")
_QUERY = {
    "type": "string",
    "minLength": 1,
    "maxLength": _MAX_QUERY_CHARS,
    "examples": ["{ banks { banks { name } } }"],
}
_NAME = {"type": ["string", "null"], "maxLength": _MAX_NAME_CHARS}
_OBJECT = {"type": ["object", "null"]}
_BODY = {
    "type": "object",
    "required": ["query"],
    "additionalProperties": False,
    "properties": dict(zip(_FIELDS, (_QUERY, _OBJECT, _NAME, _OBJECT), strict=True)),
}
router = described_router("graphql", "")


def _load_schema() -> ModuleType:
    """Import the GraphQL library and make the schema, which takes a third of a second."""
    from holdfast.interfaces.http.graphql import schema

    schema.schema()
    return schema


@router.post(
    "/graphql",
    summary="Run a GraphQL operation",
    openapi_extra={
        "requestBody": {"required": True, "content": {"application/json": {"schema": _BODY}}}
    },
)
async def graphql(request: Request) -> Response:
    """Errors are in `errors`, each with `extensions.code` and `extensions.remedy`."""
    body = await read_body(request)
    query, variables, operation, _ = (body.get(name) for name in _FIELDS)
    if unknown := next((name for name in body if name not in _FIELDS), ""):
        text = f"There is no field {unknown[:100]!r}."
        raise ArgumentError(text, f"One of: {', '.join(_FIELDS)}.")
    if not isinstance(query, str) or not 0 < len(query) <= _MAX_QUERY_CHARS:
        raise ArgumentError(f"query must be a text of at most {_MAX_QUERY_CHARS:,} characters.")
    if not isinstance(variables, dict | None):
        raise ArgumentError("variables must be an object.")
    if not isinstance(operation, str | None) or len(operation or "") > _MAX_NAME_CHARS:
        raise ArgumentError("operationName must be the name of an operation.")
    schema = await asyncio.to_thread(_load_schema)
    context = schema.Context(request.app.state.web.pool)
    return json_response(await schema.answer(context, query, variables, operation))
