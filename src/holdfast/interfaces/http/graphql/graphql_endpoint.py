"""`POST /graphql`: one query a request, as JSON. The schema is loaded with the first request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import Depends, Response
from pydantic import Field

from holdfast.interfaces.http.api.requests import (
    ERRORS_BY_MODEL,
    ApiRequestDep,
    RequestBody,
    check_write_request,
    json_response,
)
from holdfast.interfaces.http.auth.permissions import CheckedRouter

router = CheckedRouter(
    dependencies=[Depends(check_write_request)], responses=ERRORS_BY_MODEL, tags=["graphql"]
)


class GraphQuestion(RequestBody):
    """A GraphQL request."""

    query: str = Field(min_length=1, max_length=50_000, examples=["{ banks { name } }"])
    variables: dict[str, Any] | None = None
    operation_name: str | None = Field(None, alias="operationName", max_length=200)
    extensions: dict[str, Any] | None = None


def _load_schema() -> Callable[..., Awaitable[dict[str, Any]]]:
    """Import Strawberry and build the schema, which takes about a second."""
    from holdfast.interfaces.http.graphql.schema import answer

    return answer


@router.post("/graphql", summary="Run a GraphQL operation")
async def graphql(request: ApiRequestDep, body: GraphQuestion) -> Response:
    """Errors are in `errors`, each with `extensions.code` and `extensions.remedy`."""
    answer = await asyncio.to_thread(_load_schema)
    return json_response(
        await answer(request.pool, body.query, body.variables, body.operation_name)
    )
