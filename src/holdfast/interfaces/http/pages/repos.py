"""The repository page: the git histories that were read, their commits and experts; and the pages
of one commit, pull or issue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from holdfast.app.memory import Holdfast
from holdfast.errors import NotFoundError
from holdfast.interfaces.http.core.page_urls import page_url
from holdfast.interfaces.http.pages.page_request import PageRequestDep
from holdfast.model.bank import Bank
from holdfast.model.forge import Issue, Pull, Remark, Thread
from holdfast.model.team import Commit
from holdfast.model.uris import uri
from holdfast.recall.lookup.commit_links import names_above, records_below, threads_of_commit
from holdfast.recall.lookup.commits import CommitDetails, commit_details
from holdfast.research.history.expertise import Expert
from holdfast.store.protocol import Reader
from holdfast.store.protocol.git_history import Repository, Tag
from holdfast.store.protocol.overview import CommitAuthor, CommitFilter

router = APIRouter(prefix="/repos")

_COMMITS_PER_PAGE = 40
_MAX_EXPERTS = 8
# Lines of a diff; generated files can have many thousands.
_MAX_DIFF_LINES = 2000
_Page = Annotated[int, Query(ge=1, le=10_000)]
CHANGE_NAMES = {"A": "new", "D": "deleted", "R": "renamed", "C": "copied", "T": "another type"}


class RepositorySummary(NamedTuple):
    """A repository that was read, with its counts, tags and branches."""

    repository: Repository
    bank: str
    commits: int
    tags: list[Tag]
    branches: int


class CommitRow(NamedTuple):
    """A commit in a list."""

    commit: Commit
    astray: bool


class Link(NamedTuple):
    """A name and the page it leads to; "" where there is none."""

    name: str
    address: str
    note: str = ""


class ReposView(NamedTuple):
    """The histories, one page of commits, and the experts on a path."""

    banks: list[Bank]
    read: list[RepositorySummary]
    followed: list[tuple[str, str]]
    commits: list[CommitRow]
    more: bool
    authors: list[CommitAuthor]
    experts: list[tuple[Expert, list[Link]]]


class CommitView(NamedTuple):
    """A commit with its diff and related records."""

    commit: Commit
    bank: str
    story: CommitDetails
    diff: str
    cut: int
    parents: list[Link]
    reverts: list[Link]
    reverted_by: list[Link]
    makers: list[tuple[Link, Link, float]]
    threads: list[Link]


class ThreadView(NamedTuple):
    """A pull or an issue with its comments and related records."""

    thread: Thread
    kind: str
    bank: str
    remarks: list[Remark]
    commits: list[CommitRow]
    above: list[Link]


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
    wanted = CommitFilter(author.strip(), path.strip())
    seen = await request.pool.read(lambda memory: _load(memory, bank, wanted, who.strip(), page))
    return request.render(
        "repos.html",
        title="Repos",
        seen=seen,
        bank=bank,
        wanted=wanted,
        who=who.strip(),
        page=page,
    )


async def _record_page(request: PageRequestDep, bank: str, kind: str, name: str) -> HTMLResponse:
    def found(memory: Holdfast) -> CommitView | ThreadView | list[Link]:
        records = memory.reader.find(memory.context.bank_id(bank), kind, name, 10)
        if not records:
            raise NotFoundError(
                f"There is no {kind} {name[:80]!r} here.",
                "`holdfast ingest REPOSITORY` reads a history, `holdfast forge` its pulls.",
            )
        exact = [record for record in records if record.id == name] or records
        if len(exact) > 1:
            return [_choice(memory, kind, record.bank, record.id) for record in exact]
        record = exact[0]
        if isinstance(record, Commit):
            return _commit_view(memory, record)
        assert isinstance(record, Pull | Issue)
        return _thread_view(memory, kind, record)

    shown = await request.pool.read(found)
    if isinstance(shown, list):
        return request.render("choices.html", title=name[:80], choices=shown, kind=kind)
    if isinstance(shown, CommitView):
        title = f"{shown.commit.subject[:80]} · {shown.commit.id[:10]}"
        return request.render("commit.html", title=title, seen=shown, fates=CHANGE_NAMES)
    title = f"#{shown.thread.number} {shown.thread.title[:80]}"
    return request.render("thread.html", title=title, seen=shown)


def _choice(memory: Holdfast, kind: str, bank: str, id: str) -> Link:
    return Link(id, f"/repos?{kind}={id}&bank={bank}", memory.context.bank_name(bank))


def _load(memory: Holdfast, bank: str, wanted: CommitFilter, who: str, page: int) -> ReposView:
    reader, id = memory.reader, memory.context.bank_id(bank)
    names = reader.commit_ids(id, wanted, _COMMITS_PER_PAGE + 1, (page - 1) * _COMMITS_PER_PAGE)
    commits = _commits(reader, names[:_COMMITS_PER_PAGE])
    experts = memory.browse.who_knows(who, bank, _MAX_EXPERTS) if who else []
    return ReposView(
        banks=reader.banks(),
        read=_repositories(memory, id),
        followed=[(one.repo, one.read_at) for one in reader.forge_repositories(id)],
        commits=commits,
        more=len(names) > _COMMITS_PER_PAGE,
        authors=reader.authors(id, 12),
        experts=[(one, _evidence(memory, id, one)) for one in experts],
    )


def _repositories(memory: Holdfast, bank: str | None) -> list[RepositorySummary]:
    reader = memory.reader
    return [
        RepositorySummary(
            one,
            memory.context.bank_name(one.bank),
            reader.counts(one.bank).commits,
            reader.tags(one.bank)[-6:][::-1],
            len(reader.branches(one.bank)),
        )
        for one in reader.repositories(bank)
    ]


def _commits(reader: Reader, names: Sequence[tuple[str, str]]) -> list[CommitRow]:
    """Commits by bank and id, each with whether it is on an unmerged branch."""
    lost = {
        (bank, id)
        for bank in {bank for bank, _ in names}
        for id in reader.unmerged_commits(bank, [id for one, id in names if one == bank])
    }
    return [
        CommitRow(commit, (bank, id) in lost)
        for bank, id in names
        for commit in reader.find(bank, "commit", id, 1)
        if isinstance(commit, Commit)
    ]


def _evidence(memory: Holdfast, bank: str | None, expert: Expert) -> list[Link]:
    reader, links = memory.reader, list[Link]()
    for name in expert.evidence:
        kind, _, id = name.removeprefix("holdfast://").partition("/")
        for record in reader.find(bank, kind, id, 1):
            title = record.subject if isinstance(record, Commit) else getattr(record, "title", id)
            links.append(Link(str(title), page_url(reader, record.bank, name), id[:10]))
    return links


def _commit_view(memory: Holdfast, commit: Commit) -> CommitView:
    reader, commit_story = memory.reader, commit_details(memory.reader, commit)
    lines = commit_story.diff.split("\n") if commit_story.diff else []
    return CommitView(
        commit=commit,
        bank=memory.context.bank_name(commit.bank),
        story=commit_story,
        diff="\n".join(lines[:_MAX_DIFF_LINES]),
        cut=max(0, len(lines) - _MAX_DIFF_LINES),
        parents=[_commit_link(reader, commit.bank, id) for id in commit.parents],
        reverts=[_commit_link(reader, commit.bank, name) for name in commit_story.reverts],
        reverted_by=[_commit_link(reader, commit.bank, name) for name in commit_story.reverted_by],
        makers=[
            (
                Link(maker.host, page_url(reader, commit.bank, maker.session)),
                Link(maker.because, page_url(reader, commit.bank, maker.exchange)),
                maker.score,
            )
            for maker in commit_story.made_by
        ],
        threads=[_thread_link(reader, thread) for thread in threads_of_commit(reader, commit)],
    )


def _commit_link(reader: Reader, bank: str, name: str) -> Link:
    """A link to a commit by its URI or id, with its subject if it was read."""
    id = name.removeprefix("holdfast://commit/")
    for commit in reader.find(bank, "commit", id, 1):
        if isinstance(commit, Commit):
            return Link(id[:10], page_url(reader, bank, uri("commit", commit.id)), commit.subject)
    return Link(id[:10], "")


def _thread_link(reader: Reader, thread: Thread) -> Link:
    kind = "pull" if isinstance(thread, Pull) else "issue"
    address = page_url(reader, thread.bank, uri(kind, thread.id))
    return Link(f"{kind} #{thread.number}", address, f"{thread.title} ({thread.state.value})")


def _thread_view(memory: Holdfast, kind: str, thread: Thread) -> ThreadView:
    reader = memory.reader
    below = list(records_below(reader, thread))
    commits = [(one.bank, one.id) for one in below if isinstance(one, Commit)]
    above: list[Link] = []
    for name in names_above(reader, thread):
        above_kind, _, id = name.removeprefix("holdfast://").partition("/")
        if above_kind == "commit":
            above.append(_commit_link(reader, thread.bank, name))
            continue
        found = [one for one in reader.find(thread.bank, above_kind, id, 1) if one.id == id]
        above += [_thread_link(reader, one) for one in found if isinstance(one, Pull | Issue)]
    return ThreadView(
        thread=thread,
        kind=kind,
        bank=memory.context.bank_name(thread.bank),
        remarks=[one for one in below if isinstance(one, Remark)],
        commits=_commits(reader, commits),
        above=above,
    )
