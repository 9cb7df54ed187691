"""Repos: the histories that were read, one commit of them, who knows what, and what the forge
says."""

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

_PAGE = 40
_EXPERTS = 8
_LINES = 2000
_Page = Annotated[int, Query(ge=1, le=10_000)]
FATES = {"A": "new", "D": "deleted", "R": "renamed", "C": "copied", "T": "another type"}


class Read(NamedTuple):
    """A repository that was read, with what is known of it."""

    repository: Repository
    bank: str
    commits: int
    tags: list[Tag]
    branches: int


class Listed(NamedTuple):
    """A commit in a list."""

    commit: Commit
    astray: bool


class Link(NamedTuple):
    """A name and the page it leads to; "" where there is none."""

    name: str
    address: str
    told: str = ""


class Seen(NamedTuple):
    """The histories, one page of their commits, and who knows what was asked."""

    banks: list[Bank]
    read: list[Read]
    followed: list[tuple[str, str]]
    commits: list[Listed]
    more: bool
    authors: list[CommitAuthor]
    experts: list[tuple[Expert, list[Link]]]


class Whole(NamedTuple):
    """A commit with everything around it."""

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


class Opened(NamedTuple):
    """A pull or an issue, what was said under it, and what it belongs to."""

    thread: Thread
    word: str
    bank: str
    remarks: list[Remark]
    commits: list[Listed]
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
    for word, name in (("commit", commit), ("pull", pull), ("issue", issue)):
        if name.strip():
            return await _one(request, bank, word, name.strip())
    wanted = CommitFilter(author.strip(), path.strip())
    seen = await request.pool.read(lambda memory: _look(memory, bank, wanted, who.strip(), page))
    return request.render(
        "repos.html",
        title="Repos",
        seen=seen,
        bank=bank,
        wanted=wanted,
        who=who.strip(),
        page=page,
    )


async def _one(request: PageRequestDep, bank: str, word: str, name: str) -> HTMLResponse:
    def found(memory: Holdfast) -> Whole | Opened | list[Link]:
        records = memory.reader.find(memory.context.bank_id(bank), word, name, 10)
        if not records:
            raise NotFoundError(
                f"There is no {word} {name[:80]!r} here.",
                "`holdfast ingest REPOSITORY` reads a history, `holdfast forge` its pulls.",
            )
        exact = [record for record in records if record.id == name] or records
        if len(exact) > 1:
            return [_choice(memory, word, record.bank, record.id) for record in exact]
        record = exact[0]
        if isinstance(record, Commit):
            return _whole(memory, record)
        assert isinstance(record, Pull | Issue)
        return _opened(memory, word, record)

    shown = await request.pool.read(found)
    if isinstance(shown, list):
        return request.render("choices.html", title=name[:80], choices=shown, word=word)
    if isinstance(shown, Whole):
        title = f"{shown.commit.subject[:80]} · {shown.commit.id[:10]}"
        return request.render("commit.html", title=title, seen=shown, fates=FATES)
    title = f"#{shown.thread.number} {shown.thread.title[:80]}"
    return request.render("thread.html", title=title, seen=shown)


def _choice(memory: Holdfast, word: str, bank: str, id: str) -> Link:
    return Link(id, f"/repos?{word}={id}&bank={bank}", memory.context.bank_name(bank))


def _look(memory: Holdfast, bank: str, wanted: CommitFilter, who: str, page: int) -> Seen:
    reader, id = memory.reader, memory.context.bank_id(bank)
    names = reader.commit_ids(id, wanted, _PAGE + 1, (page - 1) * _PAGE)
    commits = _commits(reader, names[:_PAGE])
    experts = memory.browse.who_knows(who, bank, _EXPERTS) if who else []
    return Seen(
        banks=reader.banks(),
        read=_read(memory, id),
        followed=[(one.repo, one.read_at) for one in reader.forge_repositories(id)],
        commits=commits,
        more=len(names) > _PAGE,
        authors=reader.authors(id, 12),
        experts=[(one, _evidence(memory, id, one)) for one in experts],
    )


def _read(memory: Holdfast, bank: str | None) -> list[Read]:
    reader = memory.reader
    return [
        Read(
            one,
            memory.context.bank_name(one.bank),
            reader.counts(one.bank).commits,
            reader.tags(one.bank)[-6:][::-1],
            len(reader.branches(one.bank)),
        )
        for one in reader.repositories(bank)
    ]


def _commits(reader: Reader, names: Sequence[tuple[str, str]]) -> list[Listed]:
    """Commits in the words that are shown of them, each with whether it is astray."""
    lost = {
        (bank, id)
        for bank in {bank for bank, _ in names}
        for id in reader.unmerged_commits(bank, [id for one, id in names if one == bank])
    }
    return [
        Listed(commit, (bank, id) in lost)
        for bank, id in names
        for commit in reader.find(bank, "commit", id, 1)
        if isinstance(commit, Commit)
    ]


def _evidence(memory: Holdfast, bank: str | None, expert: Expert) -> list[Link]:
    reader, told = memory.reader, list[Link]()
    for name in expert.evidence:
        word, _, id = name.removeprefix("holdfast://").partition("/")
        for record in reader.find(bank, word, id, 1):
            title = record.subject if isinstance(record, Commit) else getattr(record, "title", id)
            told.append(Link(str(title), page_url(reader, record.bank, name), id[:10]))
    return told


def _whole(memory: Holdfast, commit: Commit) -> Whole:
    reader, told = memory.reader, commit_details(memory.reader, commit)
    lines = told.diff.split("\n") if told.diff else []
    return Whole(
        commit=commit,
        bank=memory.context.bank_name(commit.bank),
        story=told,
        diff="\n".join(lines[:_LINES]),
        cut=max(0, len(lines) - _LINES),
        parents=[_named(reader, commit.bank, id) for id in commit.parents],
        reverts=[_named(reader, commit.bank, name) for name in told.reverts],
        reverted_by=[_named(reader, commit.bank, name) for name in told.reverted_by],
        makers=[
            (
                Link(maker.host, page_url(reader, commit.bank, maker.session)),
                Link(maker.because, page_url(reader, commit.bank, maker.exchange)),
                maker.score,
            )
            for maker in told.made_by
        ],
        threads=[_thread(reader, thread) for thread in threads_of_commit(reader, commit)],
    )


def _named(reader: Reader, bank: str, name: str) -> Link:
    """A commit by its name, with its subject if it was read."""
    id = name.removeprefix("holdfast://commit/")
    for commit in reader.find(bank, "commit", id, 1):
        if isinstance(commit, Commit):
            return Link(id[:10], page_url(reader, bank, uri("commit", commit.id)), commit.subject)
    return Link(id[:10], "")


def _thread(reader: Reader, thread: Thread) -> Link:
    word = "pull" if isinstance(thread, Pull) else "issue"
    address = page_url(reader, thread.bank, uri(word, thread.id))
    return Link(f"{word} #{thread.number}", address, f"{thread.title} ({thread.state.value})")


def _opened(memory: Holdfast, word: str, thread: Thread) -> Opened:
    reader = memory.reader
    below = list(records_below(reader, thread))
    commits = [(one.bank, one.id) for one in below if isinstance(one, Commit)]
    above: list[Link] = []
    for name in names_above(reader, thread):
        kind, _, id = name.removeprefix("holdfast://").partition("/")
        if kind == "commit":
            above.append(_named(reader, thread.bank, name))
            continue
        found = [one for one in reader.find(thread.bank, kind, id, 1) if one.id == id]
        above += [_thread(reader, one) for one in found if isinstance(one, Pull | Issue)]
    return Opened(
        thread=thread,
        word=word,
        bank=memory.context.bank_name(thread.bank),
        remarks=[one for one in below if isinstance(one, Remark)],
        commits=_commits(reader, commits),
        above=above,
    )
