"""The repository page: the git histories that were read, their commits and experts; and the pages
of one commit, pull or issue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Query
from fastapi.responses import HTMLResponse

from holdfast.app.memory import Holdfast
from holdfast.errors import NotFoundError
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.pages.page_request import PageRequest, PageRequestDep, Shown, ask
from holdfast.interfaces.http.pages.record import load_record
from holdfast.interfaces.ui.formatting import bank_keys
from holdfast.model.uris import uri
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.recall.lookup.path import describe_record
from holdfast.store.across_tables.overview import CommitFilter
from holdfast.store.protocol import Reader

router = CheckedRouter(prefix="/repos")

_COMMITS_PER_PAGE = 40
_MAX_EXPERTS = 8
_Page = Annotated[int, Query(ge=1, le=10_000)]


@router.get("")
async def repos(
    request: PageRequestDep,
    bank: str = "all",
    commit: str = "",
    pull: str = "",
    issue: str = "",
    author: str = "",
    path: str = "",
    who: str = "",
    page: _Page = 1,
) -> HTMLResponse:
    """The histories; or one commit, pull or issue."""
    for kind, name in (("commit", commit), ("pull", pull), ("issue", issue)):
        if name.strip():
            return await _record_page(request, bank, kind, name.strip())
    wanted, who, call = CommitFilter(author.strip(), path.strip()), who.strip(), request.call

    def load(memory: Holdfast) -> Shown:
        reader, id = memory.reader, memory.context.bank_id(bank)
        at = (page - 1) * _COMMITS_PER_PAGE
        names = reader.overview.commit_ids(id, wanted, _COMMITS_PER_PAGE + 1, at)
        asked = {"about": who, "bank": bank, "limit": _MAX_EXPERTS}
        experts = ask(memory, call, "who", **asked).experts if who else ()
        banks = reader.banks.all()
        return {
            "banks": banks,
            "bank_keys": bank_keys(banks),
            "read": [
                {
                    "repository": one,
                    "bank": memory.context.bank_name(one.bank),
                    "commits": reader.records.counts(one.bank).commits,
                    "tags": reader.git.tags(one.bank)[-6:][::-1],
                    "branches": len(reader.git.branches(one.bank)),
                }
                for one in reader.git.repositories(id)
            ],
            "followed": [(one.repo, one.read_at) for one in reader.forge.repositories(id)],
            "commits": _commits(reader, names[:_COMMITS_PER_PAGE]),
            "more": len(names) > _COMMITS_PER_PAGE,
            "authors": reader.overview.authors(id, 12),
            "experts": [
                (one, [(name, _title(reader, id, name)) for name in one.evidence])
                for one in experts
            ],
        }

    seen = await request.pool.read(load)
    return request.render(
        "repos.html", title="Repos", seen=seen, bank=bank, wanted=wanted, who=who, page=page
    )


async def _record_page(request: PageRequest, bank: str, kind: str, name: str) -> HTMLResponse:
    call = request.call

    def load(memory: Holdfast) -> tuple[str, Shown]:
        reader = memory.reader
        records = reader.records.find(memory.context.bank_id(bank), kind, name, 10)
        if not records:
            raise NotFoundError(
                f"There is no {kind} {name[:80]!r} here.",
                "`holdfast ingest REPOSITORY` reads a history, `holdfast forge` its pulls.",
            )
        exact = [record for record in records if record.id == name] or records
        if len(exact) > 1:
            keys = bank_keys(reader.banks.all())
            choices = [(one.id, keys[one.bank], describe_record(one)[0]) for one in exact]
            return "choices.html", {"title": name[:80], "choices": choices, "kind": kind}
        return "record.html", load_record(memory, uri(kind, exact[0].id), call)

    template, shown = await request.pool.read(load)
    return request.render(template, **shown)


def _commits(reader: Reader, names: Sequence[tuple[str, str]]) -> list[tuple[Any, bool]]:
    """Commits by bank and id, each with whether it is on an unmerged branch."""
    astray = {
        (bank, id)
        for bank in {bank for bank, _ in names}
        for id in reader.git.unmerged_commits(bank, [id for one, id in names if one == bank])
    }
    found = (
        (bank, id, commit)
        for bank, id in names
        for commit in reader.records.find(bank, "commit", id, 1)
    )
    return [(commit, (bank, id) in astray) for bank, id, commit in found]


def _title(reader: Reader, bank: str | None, name: str) -> str:
    record = find_by_uri(reader, bank, name)
    return describe_record(record)[0] if record is not None else name
