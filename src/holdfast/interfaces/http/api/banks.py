"""Banks: which there are, what they are like, and how to change that."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import Field

from holdfast.errors import InputError
from holdfast.interfaces.http.api.handling import Asking, Sent
from holdfast.interfaces.http.api.schema import model_of, with_fields
from holdfast.learn.bank_settings import Wish
from holdfast.model.bank import Bank

router = APIRouter(tags=["banks"])
Name = Annotated[str, Path(max_length=200, description="Its name or its id.")]
_Trait = Annotated[int, Field(ge=1, le=5)] | None
_Alias = Annotated[str, Field(min_length=1, max_length=300)]


class BankWish(Sent):
    """What is to change of a bank; what is not sent stays."""

    preset: str | None = Field(None, max_length=40)
    skepticism: _Trait = None
    literalism: _Trait = None
    empathy: _Trait = None
    background: str | None = Field(None, max_length=4000)
    retention: Annotated[int, Field(ge=0, le=1200)] | None = Field(
        None, description="Sessions older than so many months are put away; 0 keeps all."
    )
    aliases: list[_Alias] = Field([], max_length=20)
    dropped: list[_Alias] = Field([], max_length=20)


@router.get("/banks", response_model=with_fields("Banks", banks=list[Bank]), summary="Every bank")
async def banks(asked: Asking) -> Response:
    """By name."""
    return await asked.read(lambda memory: {"banks": memory.known_banks()})


@router.get("/banks/{name:path}", response_model=model_of(Bank), summary="One bank")
async def bank(asked: Asking, name: Name) -> Response:
    """As it is."""
    return await asked.read(lambda memory: memory.bank(name))


@router.patch("/banks/{name:path}", response_model=model_of(Bank), summary="Change a bank")
async def set_bank(asked: Asking, name: Name, sent: BankWish) -> Response:
    """What it is like, how long sessions stay, what else it is called."""
    wish = Wish(
        sent.preset,
        sent.skepticism,
        sent.literalism,
        sent.empathy,
        sent.background,
        sent.retention,
        tuple(sent.aliases),
        tuple(sent.dropped),
    )
    if wish == Wish():
        raise InputError("There is nothing to change.", "Send at least one field.")
    return await asked.work(lambda memory: memory.set_bank(wish, name, asked.who))
