"""Records that people share from their own memories: sending and searching them."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from pydantic import Field

from holdfast.app.memory import Holdfast
from holdfast.app.server.shared_records import (
    ORGANISATION_BANK,
    Receipt,
    SharedHit,
    recall_shared,
    receive,
)
from holdfast.interfaces.http.api.requests import (
    ApiRouter,
    Json,
    RequestBody,
    SentText,
    author,
)
from holdfast.interfaces.http.api.schema import open_model
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.core.request_principal import principal

router = ApiRouter("shares")
_RUN = partial(MemoryPool.run, also=(ORGANISATION_BANK,))
_Bank = Annotated[str, Field(min_length=1, max_length=200, examples=["checkout"])]


class ShareBatch(RequestBody):
    """Lines in the format of docs/sharing.md, without the author, each with a scope and hash."""

    bank: _Bank
    shares: list[dict[str, Any]] = Field(max_length=100)


class SharedQuestion(RequestBody):
    """A question from another memory."""

    question: SentText = Field(examples=["Why do we retry?"])
    bank: _Bank
    limit: int = Field(10, ge=1, le=50)


@router.task(
    "POST /shares",
    open_model("Receipts", shares=list[Receipt]),
    "Receive shared records",
    _RUN,
)
def hand_in(memory: Holdfast, body: ShareBatch) -> Json:
    """The author is the key. The same line is accepted once. A line with `gone` withdraws an
    earlier one."""
    return {"shares": receive(memory, body.bank, body.shares, principal().name, author())}


@router.task(
    "POST /shares/recall",
    open_model("SharedHits", bank=str, hits=list[SharedHit]),
    "Search shared records",
    _RUN,
)
def recall(memory: Holdfast, body: SharedQuestion) -> Json:
    """Records shared with the bank or with everybody, best first."""
    hits = recall_shared(memory, body.question, body.bank, body.limit)
    return {"bank": body.bank, "hits": hits}
