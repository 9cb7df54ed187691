"""`POST /graphql`: one query a request, as JSON. The schema is made with the first request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import Depends, Request, Response

from holdfast.interfaces.http.auth.permissions import PermittedRouter
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.rest import ERRORS, check_write_request, json_response, read_body
from holdfast.operations.binding import ArgumentError

_MAX_QUERY_CHARS = 50_000
_MAX_NAME_CHARS = 200
_FIELDS = ("query", "variables", "operationName", "extensions")
_BODY = {
    "required": True,
    "content": {
        "application/json": {
            "schema": {
                "type": "object",
                "required": ["query"],
                "additionalProperties": False,
                "properties": {
                    "query": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": _MAX_QUERY_CHARS,
                        "examples": ["{ banks { banks { name } } }"],
                    },
                    "variables": {"type": ["object", "null"]},
                    "operationName": {"type": ["string", "null"], "maxLength": _MAX_NAME_CHARS},
                    "extensions": {"type": ["object", "null"]},
                },
            }
        }
    },
}
router = PermittedRouter(
    dependencies=[Depends(check_write_request)], responses=ERRORS, tags=["graphql"]
)


def _load_schema() -> Callable[..., Awaitable[dict[str, Any]]]:
    """Import the GraphQL library and make the schema, which takes a third of a second."""
    from holdfast.interfaces.http.graphql.schema import answer

    return answer


@router.post("/graphql", summary="Run a GraphQL operation", openapi_extra={"requestBody": _BODY})
async def graphql(request: Request) -> Response:
    """Errors are in `errors`, each with `extensions.code` and `extensions.remedy`."""
    body = await read_body(request)
    query, variables, operation = (body.get(name) for name in _FIELDS[:3])
    if unknown := next((name for name in body if name not in _FIELDS), ""):
        raise ArgumentError(
            f"There is no field {unknown[:100]!r}.", f"One of: {', '.join(_FIELDS)}."
        )
    if not isinstance(query, str) or not 0 < len(query) <= _MAX_QUERY_CHARS:
        raise ArgumentError(f"query must be a text of at most {_MAX_QUERY_CHARS:,} characters.")
    if not isinstance(variables, dict | None):
        raise ArgumentError("variables must be an object.")
    if not isinstance(operation, str | None) or len(operation or "") > _MAX_NAME_CHARS:
        raise ArgumentError("operationName must be the name of an operation.")
    answer = await asyncio.to_thread(_load_schema)
    pool: MemoryPool = request.app.state.web.pool
    return json_response(await answer(pool, query, variables, operation))
