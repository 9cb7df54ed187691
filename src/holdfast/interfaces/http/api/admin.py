"""What is done on the machine of the memory, as far as it can be looked at or done from elsewhere:
imports, pulls, backups, plugins, what a time came to, and what the memory was worth."""

from __future__ import annotations

from pathlib import Path as Folder
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response

from holdfast.app.memory import Holdfast
from holdfast.app.search.old_recall import utc_now
from holdfast.app.search.plugin_search import Providers, all_told
from holdfast.app.status.period_digest import WEEK, Item, digest, span_of
from holdfast.app.status.period_digest import as_told as digest_told
from holdfast.app.status.usage_report import as_told, look_at_worth
from holdfast.app.transfer.backup import back_up, listed, made_told
from holdfast.errors import InputError
from holdfast.interfaces.http.api.handling import Asking, Bank, Limit, Told
from holdfast.interfaces.http.api.schema import extended, model_of, with_fields
from holdfast.model.curation import Curation
from holdfast.model.imports import Importing
from holdfast.model.to_json import plain
from holdfast.store.protocol.shares import Taking

router = APIRouter(tags=["machine"])
UnitId = Annotated[str, Path(max_length=300, description="Its id, or the start of it.")]
_Import = extended(model_of(Importing), "ImportTold", undone=bool)
_Part = with_fields("DigestPart", items=list[Item], more=int)
_Pull = extended(model_of(Taking), "PullTold", undone=bool)


@router.get(
    "/imports",
    response_model=with_fields("Imports", imports=list[_Import]),
    summary="What was imported",
)
async def imports(asked: Asking, bank: Bank = "all") -> Response:
    """Every import that brought something, and whether it was taken back."""

    def found(memory: Holdfast) -> Told:
        told = memory.importings(bank)
        return {"imports": [{**plain(one), "undone": not stands} for one, stands in told]}

    return await asked.read(found)


@router.post(
    "/imports/{id}/undo",
    response_model=with_fields("ImportUndone", undone=list[Curation]),
    summary="Take an import back",
)
async def undo_import(asked: Asking, id: UnitId) -> Response:
    """All that it brought, into whatever banks."""
    return await asked.run_errand(lambda memory: {"undone": memory.undo_import(id, asked.who)})


@router.get(
    "/pulls", response_model=with_fields("Pulls", pulls=list[_Pull]), summary="What was pulled"
)
async def pulls(asked: Asking, bank: str) -> Response:
    """What others share, each time that it was taken in, and whether it was taken back."""

    def found(memory: Holdfast) -> Told:
        told = memory.takings(bank)
        return {"pulls": [{**plain(one), "undone": not stands} for one, stands in told]}

    return await asked.read(found)


@router.post(
    "/pulls/{id}/undo",
    response_model=with_fields("PullUndone", undone=Curation),
    summary="Take a pull back",
)
async def undo_pull(asked: Asking, id: UnitId, bank: str) -> Response:
    """What it replaced holds again."""
    return await asked.run_errand(lambda memory: {"undone": memory.undo_pull(id, bank, asked.who)})


@router.get(
    "/backups",
    response_model=with_fields("Backups", backups=list[dict[str, Any]]),
    summary="The backups in the home",
)
async def backups(asked: Asking) -> Response:
    """The latest first."""

    def found(memory: Holdfast) -> Told:
        known = listed(memory.settings)
        return {"backups": [{**one._asdict(), "path": str(one.path)} for one in known]}

    return await asked.read(found)


@router.post(
    "/backups",
    status_code=201,
    response_model=with_fields("BackedUp", path=str, bytes=int, rows=dict[str, Any]),
    summary="Copy the whole memory into one file",
)
async def make_backup(asked: Asking) -> Response:
    """In the home of the server, while others go on. No path is taken."""
    return await asked.run_errand(lambda memory: made_told(back_up(memory.settings)), 201)


@router.get(
    "/providers",
    response_model=with_fields("ProvidersTold", use=str, providers=list[dict[str, Any]]),
    summary="Plugins that can be asked too",
)
async def providers(asked: Asking) -> Response:
    """And how reliable each has been; nothing is started."""

    def found(memory: Holdfast) -> Told:
        plugins = Providers(memory.settings, utc_now, Folder.home())
        return all_told(plugins, memory.settings)

    return await asked.read(found)


@router.get(
    "/worth",
    response_model=with_fields("WorthTold", bank=str, days=int),
    summary="What the memory was worth",
)
async def worth(
    asked: Asking, bank: Bank = "all", days: Annotated[int, Query(ge=1, le=3650)] = 30
) -> Response:
    """By its own ledgers: what was put into sessions, and whether it was used, ignored or wrong."""
    return await asked.read(lambda memory: as_told(look_at_worth(memory, bank, days)))


@router.get(
    "/digest",
    response_model=with_fields(
        "DigestTold",
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
    asked: Asking,
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
    span = span_of(utc_now(), days, since, until)
    return await asked.read(lambda memory: digest_told(digest(memory, bank, *span, limit)))
