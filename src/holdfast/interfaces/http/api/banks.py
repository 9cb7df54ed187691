"""Banks: the list, one bank, and changing one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import Field

from holdfast.errors import InputError
from holdfast.interfaces.http.api.requests import ApiRequestDep, RequestBody
from holdfast.interfaces.http.api.schema import model_of, open_model
from holdfast.learn.bank_settings import BankChanges
from holdfast.model.bank import Bank

router = APIRouter(tags=["banks"])
Name = Annotated[str, Path(max_length=200, description="Its name or its id.")]
_Trait = Annotated[int, Field(ge=1, le=5)] | None
_Alias = Annotated[str, Field(min_length=1, max_length=300)]


class BankChange(RequestBody):
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


@router.get("/banks", response_model=open_model("Banks", banks=list[Bank]), summary="Every bank")
async def banks(request: ApiRequestDep) -> Response:
    """By name."""
    return await request.read(lambda memory: {"banks": memory.banks.all()})


@router.get("/banks/{name:path}", response_model=model_of(Bank), summary="One bank")
async def bank(request: ApiRequestDep, name: Name) -> Response:
    """As it is."""
    return await request.read(lambda memory: memory.banks.get(name))


@router.patch("/banks/{name:path}", response_model=model_of(Bank), summary="Change a bank")
async def set_bank(request: ApiRequestDep, name: Name, body: BankChange) -> Response:
    """What it is like, how long sessions stay, what else it is called."""
    changes = BankChanges(
        body.preset,
        body.skepticism,
        body.literalism,
        body.empathy,
        body.background,
        body.retention,
        tuple(body.aliases),
        tuple(body.dropped),
    )
    if changes == BankChanges():
        raise InputError("There is nothing to change.", "Send at least one field.")
    return await request.run(lambda memory: memory.banks.change(changes, name, request.who))
