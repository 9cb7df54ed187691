"""The key of the request: its name, level and banks."""

from __future__ import annotations

from fastapi import APIRouter, Response

from holdfast.app.memory import Holdfast
from holdfast.interfaces.http.api.requests import ApiRequestDep, JsonObject
from holdfast.interfaces.http.api.schema import open_model
from holdfast.interfaces.http.core.request_principal import principal

router = APIRouter(tags=["banks"])


@router.get(
    "/me",
    response_model=open_model("Me", name=str, key=str, level=str, banks=list[str] | None),
    summary="What your key is for",
)
async def me(request: ApiRequestDep) -> Response:
    """Its name, its level, and the names of its banks; null for every one."""
    who = principal()

    def load(memory: Holdfast) -> JsonObject:
        banks = None if who.banks is None else [one.name for one in memory.reader.banks()]
        return {"name": who.name, "key": who.key, "level": who.level.value, "banks": banks}

    return await request.read(load)
