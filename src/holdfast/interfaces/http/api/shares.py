"""Records that people share from their own memories: sending and searching them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import Field

from holdfast.app.server.shared_records import (
    ORGANISATION_BANK,
    Receipt,
    SharedHit,
    recall_shared,
    receive,
)
from holdfast.interfaces.http.api.requests import ApiRequestDep, RequestBody
from holdfast.interfaces.http.api.schema import open_model, schema_type

router = APIRouter(tags=["shares"])
_Bank = Annotated[str, Field(min_length=1, max_length=200, examples=["checkout"])]


class ShareBatch(RequestBody):
    """Lines of the format of docs/sharing.md, without a name: each with its scope and its hash."""

    bank: _Bank
    shares: list[dict[str, Any]] = Field(max_length=100)


class SharedQuestion(RequestBody):
    """A question of another memory's."""

    question: str = Field(min_length=1, max_length=4000, examples=["Why do we retry?"])
    bank: _Bank
    limit: int = Field(10, ge=1, le=50)


@router.post(
    "/shares",
    response_model=open_model("Receipts", shares=list[schema_type(Receipt)]),
    summary="Hand in what somebody shares",
)
async def hand_in(request: ApiRequestDep, body: ShareBatch) -> Response:
    """In the name of the key; the same line is taken once, however often it comes. A line with
    `gone` takes back what was handed in before."""
    return await request.run(
        lambda memory: {
            "shares": receive(memory, body.bank, body.shares, request.person, request.who)
        },
        also=(ORGANISATION_BANK,),
    )


@router.post(
    "/shares/recall",
    response_model=open_model("SharedHits", bank=str, hits=list[schema_type(SharedHit)]),
    summary="What was shared and speaks of a question",
)
async def recall(request: ApiRequestDep, body: SharedQuestion) -> Response:
    """With the readers of a bank, or with everybody; best first."""
    return await request.run(
        lambda memory: {
            "bank": body.bank,
            "hits": recall_shared(memory, body.question, body.bank, body.limit),
        },
        also=(ORGANISATION_BANK,),
    )
