"""The repository page: the git histories that were read, their commits and experts; and the pages
of one commit, pull or issue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from fastapi import Query
from fastapi.responses import HTMLResponse

from holdfast.app.memory import Holdfast
from holdfast.errors import NotFoundError
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.core.page_urls import PageUrls
from holdfast.interfaces.http.pages.page_request import PageRequestDep, Shown
from holdfast.interfaces.ui.formatting import bank_keys
from holdfast.model.forge import Issue, Pull, Remark, Thread
from holdfast.model.team import Commit
from holdfast.model.uris import parse_uri, uri
from holdfast.recall.lookup.commits import (
    commit_details,
    names_above,
    records_below,
    threads_of_commit,
)
from holdfast.research.history.expertise import Expert
from holdfast.store.across_tables.overview import CommitFilter
from holdfast.store.protocol import Reader

router = CheckedRouter(prefix="/repos")

_COMMITS_PER_PAGE = 40
_MAX_EXPERTS = 8
# Lines of a diff; generated files can have many thousands.
_MAX_DIFF_LINES = 2000
_Page = Annotated[int, Query(ge=1, le=10_000)]
CHANGE_NAMES = {"A": "new", "D": "deleted", "R": "renamed", "C": "copied", "T": "another type"}


class Link(NamedTuple):
    """A name and the page it leads to; "" where there is none."""

    name: str
    address: str
    note: str = ""


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
    wanted, who = CommitFilter(author.strip(), path.strip()), who.strip()
    seen = await request.pool.read(lambda memory: _load(memory, bank, wanted, who, page))
    return request.render(
        "repos.html", title="Repos", seen=seen, bank=bank, wanted=wanted, who=who, page=page
    )


async def _record_page(request: PageRequestDep, bank: str, kind: str, name: str) -> HTMLResponse:
    def load(memory: Holdfast) -> tuple[str, Shown]:
        records = memory.reader.records.find(memory.context.bank_id(bank), kind, name, 10)
        if not records:
            raise NotFoundError(
                f"There is no {kind} {name[:80]!r} here.",
                "`holdfast ingest REPOSITORY` reads a history, `holdfast forge` its pulls.",
            )
        exact = [record for record in records if record.id == name] or records
        if len(exact) > 1:
            choices = [_choice(memory, kind, record.bank, record.id) for record in exact]
            return "choices.html", {"title": name[:80], "choices": choices, "kind": kind}
        record = exact[0]
        if isinstance(record, Commit):
            title = f"{record.subject[:80]} · {record.id[:10]}"
            seen = _commit_view(memory, record)
            return "commit.html", {"title": title, "seen": seen, "fates": CHANGE_NAMES}
        assert isinstance(record, Pull | Issue)
        title = f"#{record.number} {record.title[:80]}"
        return "thread.html", {"title": title, "seen": _thread_view(memory, kind, record)}

    template, shown = await request.pool.read(load)
    return request.render(template, **shown)


def _choice(memory: Holdfast, kind: str, bank: str, id: str) -> Link:
    address = PageUrls(memory.reader).of(bank, uri(kind, id))
    return Link(id, address, memory.context.bank_name(bank))


def _load(memory: Holdfast, bank: str, wanted: CommitFilter, who: str, page: int) -> Shown:
    """The histories, one page of commits, and the experts on a path."""
    reader, id = memory.reader, memory.context.bank_id(bank)
    names = reader.overview.commit_ids(
        id, wanted, _COMMITS_PER_PAGE + 1, (page - 1) * _COMMITS_PER_PAGE
    )
    experts = memory.browse.who_knows(who, bank, _MAX_EXPERTS) if who else []
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
        "experts": [(one, _evidence(memory, id, one)) for one in experts],
    }


def _commits(reader: Reader, names: Sequence[tuple[str, str]]) -> list[Shown]:
    """Commits by bank and id, each with whether it is on an unmerged branch."""
    lost = {
        (bank, id)
        for bank in {bank for bank, _ in names}
        for id in reader.git.unmerged_commits(bank, [id for one, id in names if one == bank])
    }
    return [
        {"commit": commit, "astray": (bank, id) in lost}
        for bank, id in names
        for commit in reader.records.find(bank, "commit", id, 1)
        if isinstance(commit, Commit)
    ]


def _evidence(memory: Holdfast, bank: str | None, expert: Expert) -> list[Link]:
    reader, links, urls = memory.reader, list[Link](), PageUrls(memory.reader)
    for named in filter(None, map(parse_uri, expert.evidence)):
        for record in reader.records.find(bank, named.kind, named.id, 1):
            field = "subject" if isinstance(record, Commit) else "title"
            title = str(getattr(record, field, named.id))
            links.append(Link(title, urls.of(record.bank, str(named)), named.id[:10]))
    return links


def _commit_view(memory: Holdfast, commit: Commit) -> Shown:
    """A commit with its diff and related records."""
    reader, bank, story = memory.reader, commit.bank, commit_details(memory.reader, commit)
    lines, urls = story.diff.split("\n") if story.diff else [], PageUrls(reader)
    return {
        "commit": commit,
        "bank": memory.context.bank_name(bank),
        "bank_key": urls.bank_keys[bank],
        "story": story,
        "diff": "\n".join(lines[:_MAX_DIFF_LINES]),
        "cut": max(0, len(lines) - _MAX_DIFF_LINES),
        "parents": [_commit_link(reader, urls, bank, id) for id in commit.parents],
        "reverts": [_commit_link(reader, urls, bank, name) for name in story.reverts],
        "reverted_by": [_commit_link(reader, urls, bank, name) for name in story.reverted_by],
        "makers": [
            (
                Link(maker.host, urls.of(bank, maker.session)),
                Link(maker.because, urls.of(bank, maker.exchange)),
                maker.score,
            )
            for maker in story.made_by
        ],
        "threads": [_thread_link(urls, thread) for thread in threads_of_commit(reader, commit)],
    }


def _commit_link(reader: Reader, urls: PageUrls, bank: str, name: str) -> Link:
    """A link to a commit by its URI or id, with its subject if it was read."""
    id = name.removeprefix("holdfast://commit/")
    for commit in reader.records.find(bank, "commit", id, 1):
        if isinstance(commit, Commit):
            return Link(id[:10], urls.of(bank, uri("commit", commit.id)), commit.subject)
    return Link(id[:10], "")


def _thread_link(urls: PageUrls, thread: Thread) -> Link:
    kind = "pull" if isinstance(thread, Pull) else "issue"
    address = urls.of(thread.bank, uri(kind, thread.id))
    return Link(f"{kind} #{thread.number}", address, f"{thread.title} ({thread.state.value})")


def _thread_view(memory: Holdfast, kind: str, thread: Thread) -> Shown:
    """A pull or an issue with its comments and related records."""
    reader, urls = memory.reader, PageUrls(memory.reader)
    below = list(records_below(reader, thread))
    commits = [(one.bank, one.id) for one in below if isinstance(one, Commit)]
    above: list[Link] = []
    for named in filter(None, map(parse_uri, names_above(reader, thread))):
        if named.kind == "commit":
            above.append(_commit_link(reader, urls, thread.bank, named.id))
            continue
        found = reader.records.find(thread.bank, named.kind, named.id, 1)
        above += [
            _thread_link(urls, one)
            for one in found
            if one.id == named.id and isinstance(one, Pull | Issue)
        ]
    return {
        "thread": thread,
        "kind": kind,
        "bank": memory.context.bank_name(thread.bank),
        "bank_key": urls.bank_keys[thread.bank],
        "remarks": [one for one in below if isinstance(one, Remark)],
        "commits": _commits(reader, commits),
        "above": above,
    }
