"""Banks: the list, one bank, and changing one; and the key of the request, which is for some."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from pydantic import Field

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.interfaces.http.api.requests import ApiRouter, Json, RequestBody, author
from holdfast.interfaces.http.api.schema import model_of, open_model
from holdfast.interfaces.http.core.request_principal import principal
from holdfast.learn.bank_settings import BankChanges
from holdfast.model.bank import Bank

router = ApiRouter("banks")
Name = Annotated[str, Path(max_length=200, description="Its name or its id.")]
_Trait = Annotated[int, Field(ge=1, le=5)] | None
_Alias = Annotated[str, Field(min_length=1, max_length=300)]


class BankChange(RequestBody):
    """The fields of a bank to change."""

    preset: str | None = Field(None, max_length=40)
    skepticism: _Trait = None
    literalism: _Trait = None
    empathy: _Trait = None
    background: str | None = Field(None, max_length=4000)
    retention: Annotated[int, Field(ge=0, le=1200)] | None = Field(
        None, description="Sessions older than so many months are hidden; 0 keeps all."
    )
    aliases: list[_Alias] = Field([], max_length=20)
    dropped: list[_Alias] = Field([], max_length=20)


@router.task("GET /banks", open_model("Banks", banks=list[Bank]), "List banks")
def banks(memory: Holdfast) -> Json:
    """By name."""
    return {"banks": memory.banks.all()}


@router.task("GET /banks/{name:path}", model_of(Bank), "Get a bank")
def bank(memory: Holdfast, name: Name) -> Bank:
    """Its settings, disposition and names."""
    return memory.banks.get(name)


@router.task("PATCH /banks/{name:path}", model_of(Bank), "Change a bank")
def set_bank(memory: Holdfast, name: Name, body: BankChange) -> Bank:
    """Its disposition, background, retention and aliases. Fields that are not sent stay."""
    settings = body.model_dump(exclude={"aliases", "dropped"})
    aliases, dropped = tuple(body.aliases), tuple(body.dropped)
    changes = BankChanges(**settings, aliases=aliases, dropped_aliases=dropped)
    if changes == BankChanges():
        raise InputError("There is nothing to change.", "Send at least one field.")
    return memory.banks.change(changes, name, author())


@router.task(
    "GET /me",
    open_model("Me", name=str, key=str, level=str, banks=list[str] | None),
    "Get your key",
)
def me(memory: Holdfast) -> Json:
    """Its name, level, and the names of its banks; null for all banks."""
    who = principal()
    banks = None if who.banks is None else [one.name for one in memory.reader.banks.all()]
    return {"name": who.name, "key": who.key, "level": who.level.value, "banks": banks}
