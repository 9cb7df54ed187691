"""`POST /graphql`. One question a request, as JSON; the schema is loaded with the first."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

from fastapi import APIRouter, Depends, Response
from pydantic import Field

from holdfast.interfaces.http.api.asked import ERRORS, Asking, Sent, check_sender, told

router = APIRouter(dependencies=[Depends(check_sender)], responses=ERRORS, tags=["graphql"])


class GraphQuestion(Sent):
    """A GraphQL request."""

    query: str = Field(min_length=1, max_length=50_000, examples=["{ banks { name } }"])
    variables: dict[str, Any] | None = None
    operation_name: str | None = Field(None, alias="operationName", max_length=200)
    extensions: dict[str, Any] | None = None


@router.post("/graphql", summary="Ask the graph")
async def graphql(asked: Asking, sent: GraphQuestion) -> Response:
    """Errors are in `errors`, as GraphQL has them, each with `extensions.code` and `.remedy`."""
    graph: Any = await asyncio.to_thread(import_module, "holdfast.interfaces.http.graph.schema")
    return told(
        await graph.answer(asked.desk, asked.who, sent.query, sent.variables, sent.operation_name)
    )
