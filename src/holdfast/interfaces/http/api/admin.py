"""Administration: imports, pulls, backups, plugins and the usage report."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path as Folder
from typing import Annotated, Any

from fastapi import Path, Query

from holdfast.app.core.context import utc_now
from holdfast.app.memory import Holdfast
from holdfast.app.search.plugin_search import Providers, providers_json
from holdfast.app.status.usage_report import UsageReport, gather_usage
from holdfast.app.transfer.backup import back_up, backup_json, list_backups
from holdfast.interfaces.http.api.requests import ApiRouter, Bank, Json, author
from holdfast.interfaces.http.api.schema import extend_model, model_of, open_model
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.model.curation import Curation
from holdfast.model.imports import ImportBatch
from holdfast.model.to_json import to_jsonable
from holdfast.store.records.shares import ShareImport

router = ApiRouter("machine")
UnitId = Annotated[str, Path(max_length=300, description="Its id, or the start of it.")]
Days = Annotated[int, Query(ge=1, le=3650)]
_Import = extend_model(model_of(ImportBatch), "ImportRecord", undone=bool)
_Pull = extend_model(model_of(ShareImport), "PullRecord", undone=bool)


@router.task("GET /imports", open_model("Imports", imports=list[_Import]), "List imports")
def imports(memory: Holdfast, bank: Bank = "all") -> Json:
    """Every import with new records, and whether it was undone."""
    return {"imports": _with_undone(memory.imports.list_batches(bank))}


def _with_undone(batches: Iterable[tuple[object, bool]]) -> list[Json]:
    return [{**to_jsonable(one), "undone": not is_active} for one, is_active in batches]


@router.task(
    "POST /imports/{id}/undo",
    open_model("ImportUndone", undone=list[Curation]),
    "Undo an import",
    MemoryPool.run_long,
)
def undo_import(memory: Holdfast, id: UnitId) -> Json:
    """Removes all its records, in all banks."""
    return {"undone": memory.imports.undo_import(id, author())}


@router.task("GET /pulls", open_model("Pulls", pulls=list[_Pull]), "List pulls")
def pulls(memory: Holdfast, bank: str) -> Json:
    """Every pull of shared records, and whether it was undone."""
    return {"pulls": _with_undone(memory.sharing.pulls(bank))}


@router.task(
    "POST /pulls/{id}/undo",
    open_model("PullUndone", undone=Curation),
    "Undo a pull",
    MemoryPool.run_long,
)
def undo_pull(memory: Holdfast, id: UnitId, bank: str) -> Json:
    """Also restores the records that it replaced."""
    return {"undone": memory.sharing.undo_pull(id, bank, author())}


@router.task("GET /backups", open_model("Backups", backups=list[dict[str, Any]]), "List backups")
def backups(memory: Holdfast) -> Json:
    """Those in the home, the latest first."""
    known = list_backups(memory.settings)
    return {"backups": [{**one._asdict(), "path": str(one.path)} for one in known]}


@router.task(
    "POST /backups",
    open_model("BackedUp", path=str, bytes=int, rows=dict[str, Any]),
    "Make a backup",
    MemoryPool.run_long,
    status=201,
)
def make_backup(memory: Holdfast) -> Json:
    """Writes one file into the home, while the server runs. Takes no path."""
    return backup_json(back_up(memory.settings))


@router.task(
    "GET /providers",
    open_model("Providers", use=str, providers=list[dict[str, Any]]),
    "List plugins",
)
def providers(memory: Holdfast) -> Json:
    """Those that can be queried, and how reliable each was. Starts nothing."""
    return providers_json(Providers(memory.settings, utc_now, Folder.home()), memory.settings)


@router.task("GET /worth", model_of(UsageReport), "Get the usage report")
def worth(memory: Holdfast, bank: Bank = "all", days: Days = 30) -> Json:
    """What was injected into sessions, and whether it was used, ignored or wrong."""
    return to_jsonable(gather_usage(memory, bank, days))
