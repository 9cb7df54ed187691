"""Administration: imports, pulls, backups, plugins, the digest of a period and the usage report."""

from __future__ import annotations

from pathlib import Path as Folder
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response

from holdfast.app.core.context import utc_now
from holdfast.app.memory import Holdfast
from holdfast.app.search.plugin_search import Providers, providers_json
from holdfast.app.status.period_digest import WEEK, Item, digest, read_period
from holdfast.app.status.period_digest import digest_json as digest_told
from holdfast.app.status.usage_report import gather_usage, usage_json
from holdfast.app.transfer.backup import back_up, backup_json, list_backups
from holdfast.errors import InputError
from holdfast.interfaces.http.api.requests import ApiRequestDep, Bank, JsonObject, Limit
from holdfast.interfaces.http.api.schema import extend_model, model_of, open_model
from holdfast.model.curation import Curation
from holdfast.model.imports import ImportBatch
from holdfast.model.to_json import to_jsonable
from holdfast.store.protocol.shares import ShareImport

router = APIRouter(tags=["machine"])
UnitId = Annotated[str, Path(max_length=300, description="Its id, or the start of it.")]
_Import = extend_model(model_of(ImportBatch), "ImportRecord", undone=bool)
_Part = open_model("DigestPart", items=list[Item], more=int)
_Pull = extend_model(model_of(ShareImport), "PullRecord", undone=bool)


@router.get(
    "/imports",
    response_model=open_model("Imports", imports=list[_Import]),
    summary="What was imported",
)
async def imports(request: ApiRequestDep, bank: Bank = "all") -> Response:
    """Every import that brought something, and whether it was taken back."""

    def load(memory: Holdfast) -> JsonObject:
        batches = memory.imports.list_batches(bank)
        return {
            "imports": [{**to_jsonable(one), "undone": not is_active} for one, is_active in batches]
        }

    return await request.read(load)


@router.post(
    "/imports/{id}/undo",
    response_model=open_model("ImportUndone", undone=list[Curation]),
    summary="Take an import back",
)
async def undo_import(request: ApiRequestDep, id: UnitId) -> Response:
    """All that it brought, into whatever banks."""
    return await request.run_long(
        lambda memory: {"undone": memory.imports.undo_import(id, request.who)}
    )


@router.get(
    "/pulls", response_model=open_model("Pulls", pulls=list[_Pull]), summary="What was pulled"
)
async def pulls(request: ApiRequestDep, bank: str) -> Response:
    """What others share, each time that it was taken in, and whether it was taken back."""

    def load(memory: Holdfast) -> JsonObject:
        batches = memory.sharing.pulls(bank)
        return {
            "pulls": [{**to_jsonable(one), "undone": not is_active} for one, is_active in batches]
        }

    return await request.read(load)


@router.post(
    "/pulls/{id}/undo",
    response_model=open_model("PullUndone", undone=Curation),
    summary="Take a pull back",
)
async def undo_pull(request: ApiRequestDep, id: UnitId, bank: str) -> Response:
    """What it replaced holds again."""
    return await request.run_long(
        lambda memory: {"undone": memory.sharing.undo_pull(id, bank, request.who)}
    )


@router.get(
    "/backups",
    response_model=open_model("Backups", backups=list[dict[str, Any]]),
    summary="The backups in the home",
)
async def backups(request: ApiRequestDep) -> Response:
    """The latest first."""

    def load(memory: Holdfast) -> JsonObject:
        known = list_backups(memory.settings)
        return {"backups": [{**one._asdict(), "path": str(one.path)} for one in known]}

    return await request.read(load)


@router.post(
    "/backups",
    status_code=201,
    response_model=open_model("BackedUp", path=str, bytes=int, rows=dict[str, Any]),
    summary="Copy the whole memory into one file",
)
async def make_backup(request: ApiRequestDep) -> Response:
    """In the home of the server, while others go on. No path is taken."""
    return await request.run_long(lambda memory: backup_json(back_up(memory.settings)), 201)


@router.get(
    "/providers",
    response_model=open_model("Providers", use=str, providers=list[dict[str, Any]]),
    summary="Plugins that can be asked too",
)
async def providers(request: ApiRequestDep) -> Response:
    """And how reliable each has been; nothing is started."""

    def load(memory: Holdfast) -> JsonObject:
        plugins = Providers(memory.settings, utc_now, Folder.home())
        return providers_json(plugins, memory.settings)

    return await request.read(load)


@router.get(
    "/worth",
    response_model=open_model("Worth", bank=str, days=int),
    summary="What the memory was worth",
)
async def worth(
    request: ApiRequestDep, bank: Bank = "all", days: Annotated[int, Query(ge=1, le=3650)] = 30
) -> Response:
    """By its own ledgers: what was put into sessions, and whether it was used, ignored or wrong."""
    return await request.read(lambda memory: usage_json(gather_usage(memory, bank, days)))


@router.get(
    "/digest",
    response_model=open_model(
        "PeriodDigest",
        bank=str,
        since=str,
        until=str,
        sessions=int,
        done=_Part,
        decided=_Part,
        learned=_Part,
        wrong=_Part,
        ignored_injections=int,
    ),
    summary="What a time came to",
)
async def time_digest(
    request: ApiRequestDep,
    bank: Bank = "all",
    days: Annotated[int, Query(ge=1, le=3650)] = WEEK,
    since: Annotated[str, Query(max_length=40)] = "",
    until: Annotated[str, Query(max_length=40)] = "",
    limit: Limit = 15,
) -> Response:
    """What was done, decided and learned in the last days, or from one date to the end of another,
    and what memory got wrong."""
    if until and not since:
        raise InputError("until says where since ends.", "Give since too.")
    span = read_period(utc_now(), days, since, until)
    return await request.read(lambda memory: digest_told(digest(memory, bank, *span, limit)))
