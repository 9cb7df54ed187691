"""Sessions: the list, and one of them as a conversation, window by window."""

from __future__ import annotations

import re
from typing import Annotated, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, RedirectResponse

from holdfast.app.memory import Holdfast
from holdfast.errors import NotFoundError
from holdfast.interfaces.http.pages.page_request import PageRequestDep
from holdfast.interfaces.ui.conversation import Nested, Said, conversation
from holdfast.interfaces.ui.formatting import session_link
from holdfast.model.accounts import Injection
from holdfast.model.bank import Bank
from holdfast.model.records import Digest, Exchange, Outcome, Session
from holdfast.recall.lookup.commits import SessionCommit, commits_of
from holdfast.store.protocol.sessions import (
    SessionExtent,
    SessionFacets,
    SessionFilter,
    SessionListing,
)

router = APIRouter(prefix="/sessions")
ON_A_PAGE = 50
# So many turns are shown at once, and so many before the one that was asked for.
WINDOW = 200
BEFORE = 20
# More exchanges than this are listed window by window.
_MANY = 60
_MOST = 10**9
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")

Place = Annotated[int, Query(ge=0, le=_MOST)]


class _List(NamedTuple):
    found: list[SessionListing]
    banks: list[Bank]
    facets: SessionFacets


@router.get("")
async def sessions(
    request: PageRequestDep,
    bank: str = "",
    agent: str = "",
    branch: str = "",
    outcome: str = "",
    since: str = "",
    until: str = "",
    page: Annotated[int, Query(ge=1, le=100_000)] = 1,
) -> HTMLResponse:
    """The latest sessions that pass the filters."""
    days = [day if _DAY.fullmatch(day) else "" for day in (since, until)]

    def look(memory: Holdfast) -> _List:
        id = memory.context.bank_id(bank or "all")
        sieve = SessionFilter(id, agent, branch, outcome, *days)
        reader = memory.reader
        found = reader.list_sessions(sieve, ON_A_PAGE + 1, (page - 1) * ON_A_PAGE)
        return _List(found, reader.banks(), reader.facets(id))

    told = await request.pool.read(look)
    chosen = {
        "bank": bank, "agent": agent, "branch": branch, "outcome": outcome,
        "since": days[0], "until": days[1],
    }  # fmt: skip
    asked = urlencode({name: value for name, value in chosen.items() if value})
    return request.render(
        "sessions.html",
        title="Sessions",
        sessions=told.found[:ON_A_PAGE],
        more=len(told.found) > ON_A_PAGE,
        banks=told.banks,
        names={known.id: known.name for known in told.banks},
        facets=told.facets,
        outcomes=[one.value for one in Outcome],
        chosen=chosen,
        asked=asked,
        page=page,
    )


class _Session(NamedTuple):
    session: Session
    bank: str
    digest: Digest | None
    exchanges: list[Exchange]
    near: list[Exchange]
    extent: SessionExtent
    said: list[Said]
    earlier: int | None
    later: int | None
    injections: list[Injection]
    redacted: dict[str, int]
    subagents: list[Nested]
    parent: Session | None
    commits: tuple[SessionCommit, ...]


@router.get("/{name}/msg")
async def message(name: str, n: Place = 1) -> RedirectResponse:
    """A message of a session, wherever it lies."""
    return RedirectResponse(session_link(name, n), 303)


@router.get("/{name}/msg/{n}")
async def at_message(name: str, n: int) -> RedirectResponse:
    """The same, by an address."""
    return RedirectResponse(session_link(name, min(max(n, 1), _MOST)), 303)


@router.get("/{name}")
async def session(
    request: PageRequestDep,
    name: str,
    first: Annotated[int, Query(alias="from", ge=0, le=_MOST)] = 0,
    at: Place = 0,
) -> HTMLResponse:
    """One session, from a place on or around a message."""
    told = await request.pool.read(lambda memory: _look(memory, name, first, at))
    title = told.session.title or (told.digest.request if told.digest else "") or name
    return request.render("session.html", title=title, at=at, name=name, **told._asdict())


def _look(memory: Holdfast, name: str, first: int, at: int) -> _Session:
    reader = memory.reader
    found = reader.sessions_named(name)
    if not found:
        raise NotFoundError("There is no such session.", "It may be forgotten, or not read yet.")
    session = found[0]
    bank, id = session.bank, session.id
    extent = reader.extent(bank, id)
    if at:
        before = reader.turn_window_before(bank, id, at, BEFORE)
        first = before if before is not None else at
    first = first if first <= extent.last else extent.first
    window = reader.turn_window(bank, id, first, WINDOW)
    turns = reader.turns(bank, id, *window) if window else []
    exchanges = reader.exchanges(bank, id)
    nested = [Nested(s, reader.digest_of(s.bank, s.id)) for s in reader.subagents(bank, id)]
    last = window[1] if window else 0
    return _Session(
        session=session,
        bank=memory.context.bank_name(bank),
        digest=reader.digest_of(bank, id),
        exchanges=exchanges,
        near=_near(exchanges, window),
        extent=extent,
        said=conversation(turns, exchanges, nested, at),
        earlier=reader.turn_window_before(bank, id, window[0], WINDOW) if window else None,
        later=last + 1 if last < extent.last else None,
        injections=_injected(memory, session),
        redacted=reader.redaction_counts(session.source),
        subagents=nested,
        parent=reader.session(bank, session.parent) if session.parent else None,
        commits=commits_of(reader, session),
    )


def _near(exchanges: list[Exchange], window: tuple[int, int] | None) -> list[Exchange]:
    """The exchanges to list: all of them, or those of the window where there are many."""
    if len(exchanges) <= _MANY or window is None:
        return exchanges
    return [one for one in exchanges if one.last_seq >= window[0] and one.first_seq <= window[1]]


def _injected(memory: Holdfast, session: Session) -> list[Injection]:
    """What the session was told, in order; a subagent is told nothing of its own."""
    if session.parent:
        return []
    return memory.store.injections(session.bank, session.host)[::-1]
