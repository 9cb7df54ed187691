"""The list of sessions, and one session as a conversation, page by page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Query
from fastapi.responses import HTMLResponse, RedirectResponse

from holdfast.app.memory import Holdfast
from holdfast.app.views.brief_view import injected_texts
from holdfast.app.views.session_search import MAX_FOUND, FoundMessages, find_messages
from holdfast.errors import NotFoundError
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.pages.page_request import PageRequestDep, Shown
from holdfast.interfaces.ui.conversation import Nested, conversation
from holdfast.interfaces.ui.formatting import bank_keys, session_link
from holdfast.model.ledgers.injections import Injection
from holdfast.model.records import Digest, Exchange, Outcome, Session
from holdfast.recall.lookup.commits import commits_of
from holdfast.recall.lookup.endings import RecordEndings
from holdfast.recall.lookup.origins import names_of_listed, session_names
from holdfast.regex import regex
from holdfast.store.protocol import Reader
from holdfast.store.records.sessions import SessionFilter

router = CheckedRouter(prefix="/sessions")
SESSIONS_PER_PAGE = 50
# Turns on one page of a session: a browser lays out a few hundred without delay.
TURNS_PER_PAGE = 200
# Turns shown before the one that a link leads to, as context.
TURNS_BEFORE = 20
# Of a session with more exchanges only those of the shown turns are listed.
_MAX_LISTED_EXCHANGES = 60
_MAX_SEQ = 10**9
_DAY = regex(r"\d{4}-\d{2}-\d{2}")

Place = Annotated[int, Query(ge=0, le=_MAX_SEQ)]


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

    def load(memory: Holdfast) -> Shown:
        id, reader = memory.context.bank_id(bank or "all"), memory.reader
        sieve = SessionFilter(id, agent, branch, outcome, *days)
        found = reader.sessions.page(sieve, SESSIONS_PER_PAGE + 1, (page - 1) * SESSIONS_PER_PAGE)
        banks = reader.banks.all()
        return {
            "sessions": found[:SESSIONS_PER_PAGE],
            "more": len(found) > SESSIONS_PER_PAGE,
            "banks": banks,
            "names": {known.id: known.name for known in banks},
            "called": names_of_listed(reader, found),
            "facets": reader.sessions.facets(id),
        }

    chosen = {
        "bank": bank, "agent": agent, "branch": branch, "outcome": outcome,
        "since": days[0], "until": days[1],
    }  # fmt: skip
    return request.render(
        "sessions.html",
        title="Sessions",
        outcomes=[one.value for one in Outcome],
        chosen=chosen,
        filters=urlencode({name: value for name, value in chosen.items() if value}),
        page=page,
        **await request.pool.read(load),
    )


@router.get("/{name}/msg")
async def message(name: str, n: Place = 1) -> RedirectResponse:
    """Redirect to a message of a session, for a form."""
    return RedirectResponse(session_link(name, n), 303)


@router.get("/{name}/msg/{n}")
async def at_message(name: str, n: int) -> RedirectResponse:
    """The same, for a link."""
    return RedirectResponse(session_link(name, min(max(n, 1), _MAX_SEQ)), 303)


@router.get("/{name}/injected")
async def injected(request: PageRequestDep, name: str) -> HTMLResponse:
    """The context that was injected into a session, line by line, and whether it was used."""

    def load(memory: Holdfast) -> Shown:
        session = _find(memory, name)
        return {
            "title": _title(memory, session),
            "session": session,
            "texts": injected_texts(memory, session),
        }

    return request.render("injected.html", **await request.pool.run(load))


@router.get("/{name}")
async def session(
    request: PageRequestDep,
    name: str,
    first: Annotated[int, Query(alias="from", ge=0, le=_MAX_SEQ)] = 0,
    at: Place = 0,
    find: Annotated[str, Query(max_length=200)] = "",
) -> HTMLResponse:
    """One session, from a turn on or around a message; with `find`, at the first message that has
    these words, unless another is named."""
    shown = await request.pool.read(lambda memory: _load(memory, name, first, at, find))
    return request.render("session.html", find=find, **shown)


def _find(memory: Holdfast, name: str) -> Session:
    found = memory.reader.sessions.named(name)
    if not found:
        raise NotFoundError("There is no such session.", "It may be forgotten, or not read yet.")
    return found[0]


def _title(memory: Holdfast, session: Session) -> str:
    return session_names(memory.reader, session.bank, [session.id]).get(session.id) or session.id


def _ended_lines(
    endings: RecordEndings, digest: Digest, exchanges: Sequence[Exchange]
) -> dict[str, str]:
    """The lines of a digest that say what does not hold any more, each with why. A line that one of
    the `exchanges` has is read as a part of it, where fewer words refer to what ended."""
    lines = (digest.request, *digest.completed, *digest.learned, *digest.next_steps)
    found: dict[str, str] = {}
    for line in lines:
        own = [x for x in exchanges if line in x.facts]
        labels = (endings.label(record, line) for record in (digest, *own))
        if label := next(filter(None, labels), ""):
            found[line] = label
    return found


def _load(memory: Holdfast, name: str, first: int, at: int, find: str = "") -> Shown:
    reader = memory.reader
    session = _find(memory, name)
    found = find_messages(reader, session, find) if find else FoundMessages(())
    if found.places and not at and not first:
        at = found.places[0]
    bank, id = session.bank, session.id
    extent, digest = reader.sessions.extent(bank, id), reader.sessions.digest(bank, id)
    if at:
        before = reader.sessions.turn_window_before(bank, id, at, TURNS_BEFORE)
        first = before if before is not None else at
    first = first if first <= extent.last else extent.first
    window = reader.sessions.turn_window(bank, id, first, TURNS_PER_PAGE)
    turns = reader.turns.of_session(bank, id, *window) if window else []
    last = window[1] if window else 0
    # What the first and the last page show begins and ends with the session.
    until = last if last < extent.last else _MAX_SEQ
    since = first if first > extent.first else 0
    turns += [s for s in reader.turns.summaries(bank, id) if since <= s.seq <= until]
    turns.sort(key=lambda turn: turn.seq)
    exchanges = reader.sessions.exchanges(bank, id)
    endings = RecordEndings(reader)
    nested = [
        Nested(s, reader.sessions.digest(s.bank, s.id)) for s in reader.sessions.subagents(bank, id)
    ]
    return {
        "title": _title(memory, session),
        "ended": _ended_lines(endings, digest, exchanges) if digest else {},
        "session": session,
        "bank": memory.context.bank_name(bank),
        "bank_key": bank_keys(reader.banks.all()).get(bank, bank),
        "digest": digest,
        "exchanges": exchanges,
        "ended_exchanges": {x.id: endings.label(x, x.title) for x in exchanges},
        "ended_turns": {t.id: endings.label(t, t.text) for t in turns if t.tool is None},
        "near": _exchanges_near(exchanges, window),
        "extent": extent,
        "said": conversation(turns, exchanges, nested, {at, *found.places}),
        "at": at,
        "found": found,
        "more_found": len(found.places) >= MAX_FOUND,
        "earlier": (
            reader.sessions.turn_window_before(bank, id, window[0], TURNS_PER_PAGE)
            if window
            else None
        ),
        "later": last + 1 if last < extent.last else None,
        "injections": _injections(memory, session),
        "redacted": reader.sources.redaction_counts(session.source),
        "subagents": nested,
        "parent": session.parent,
        "parent_name": _parent_name(reader, session),
        "commits": commits_of(reader, session),
    }


def _parent_name(reader: Reader, session: Session) -> str:
    """What the session is called that started a subagent; empty if it is not in the memory."""
    names = session_names(reader, session.bank, [session.parent])
    return names[session.parent] or "its session" if session.parent in names else ""


def _exchanges_near(exchanges: list[Exchange], window: tuple[int, int] | None) -> list[Exchange]:
    """The exchanges to list: all, or those of the shown turns where there are many."""
    if len(exchanges) <= _MAX_LISTED_EXCHANGES or window is None:
        return exchanges
    return [one for one in exchanges if one.last_seq >= window[0] and one.first_seq <= window[1]]


def _injections(memory: Holdfast, session: Session) -> list[Injection]:
    """The context that was injected into a session, in order. Subagents get none."""
    if session.parent:
        return []
    return memory.store.injections.latest(session.bank, session.host)[::-1]
