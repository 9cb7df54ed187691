"""What people share from their own memories: handed in, and asked for, by those memories."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import Field

from holdfast.app.server.shared_records import ORGANISATION, Receipt, Told, recall_shared, receive
from holdfast.interfaces.http.api.handling import Asking, Sent
from holdfast.interfaces.http.api.schema import described, with_fields

router = APIRouter(tags=["shares"])
_Bank = Annotated[str, Field(min_length=1, max_length=200, examples=["checkout"])]


class Shares(Sent):
    """Lines of the format of docs/sharing.md, without a name: each with its scope and its hash."""

    bank: _Bank
    shares: list[dict[str, Any]] = Field(max_length=100)


class Question(Sent):
    """A question of another memory's."""

    question: str = Field(min_length=1, max_length=4000, examples=["Why do we retry?"])
    bank: _Bank
    limit: int = Field(10, ge=1, le=50)


@router.post(
    "/shares",
    response_model=with_fields("Receipts", shares=list[described(Receipt)]),
    summary="Hand in what somebody shares",
)
async def hand_in(asked: Asking, sent: Shares) -> Response:
    """In the name of the key; the same line is taken once, however often it comes. A line with
    `gone` takes back what was handed in before."""
    return await asked.work(
        lambda memory: {"shares": receive(memory, sent.bank, sent.shares, asked.person, asked.who)},
        also=(ORGANISATION,),
    )


@router.post(
    "/shares/recall",
    response_model=with_fields("SharedHits", bank=str, hits=list[described(Told)]),
    summary="What was shared and speaks of a question",
)
async def recall(asked: Asking, sent: Question) -> Response:
    """With the readers of a bank, or with everybody; best first."""
    return await asked.work(
        lambda memory: {
            "bank": sent.bank,
            "hits": recall_shared(memory, sent.question, sent.bank, sent.limit),
        },
        also=(ORGANISATION,),
    )
