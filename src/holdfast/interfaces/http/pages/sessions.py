"""The list of sessions, and one session as a conversation, page by page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, NamedTuple
from urllib.parse import urlencode

from fastapi import Query
from fastapi.responses import HTMLResponse, RedirectResponse

from holdfast.app.memory import Holdfast
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.pages.brief import find_session, session_title
from holdfast.interfaces.http.pages.page_request import PageRequestDep, Shown
from holdfast.interfaces.ui.formatting import bank_keys, session_link
from holdfast.model.records import Digest, Exchange, Outcome, Role, Session, Turn
from holdfast.recall.lookup.commits import commits_of
from holdfast.recall.lookup.endings import RecordEndings
from holdfast.recall.lookup.origins import names_of_listed, session_names
from holdfast.regex import regex
from holdfast.store.protocol import Reader
from holdfast.store.records.sessions import SessionFilter

router = CheckedRouter(prefix="/sessions")
_SESSIONS_PER_PAGE = 50
# Turns on one page of a session: a browser lays out a few hundred without delay; and those before
# the one that a link leads to, as context.
_TURNS_PER_PAGE, _TURNS_BEFORE = 200, 20
# Of a session with more exchanges only those of the shown turns are listed.
_MAX_LISTED_EXCHANGES = 60
# Messages that a search lists; whoever needs more narrows it down.
_MAX_FOUND = 500
_MAX_SEQ = 10**9
_DAY = regex(r"\d{4}-\d{2}-\d{2}")
_SUBAGENT_TOOLS = ("Agent", "Task")
_SPEAKERS = {
    Role.USER: "You",
    Role.ASSISTANT: "Agent",
    Role.TOOL: "Tool",
    Role.SUMMARY: "Agent's summary of the session so far",
}

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
    chosen = {
        "bank": bank, "agent": agent, "branch": branch, "outcome": outcome,
        "since": since if _DAY.fullmatch(since) else "",
        "until": until if _DAY.fullmatch(until) else "",
    }  # fmt: skip

    def load(memory: Holdfast) -> Shown:
        id, reader = memory.context.bank_id(bank or "all"), memory.reader
        sieve = SessionFilter(id, *(chosen[name] for name in chosen if name != "bank"))
        start = (page - 1) * _SESSIONS_PER_PAGE
        found = reader.sessions.page(sieve, _SESSIONS_PER_PAGE + 1, start)
        banks = reader.banks.all()
        return {
            "sessions": found[:_SESSIONS_PER_PAGE],
            "more": len(found) > _SESSIONS_PER_PAGE,
            "banks": banks,
            "names": {known.id: known.name for known in banks},
            "called": names_of_listed(reader, found),
            "facets": reader.sessions.facets(id),
        }

    return request.render(
        "sessions.html",
        title="Sessions",
        outcomes=list(Outcome),
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


class ShownTurn(NamedTuple):
    """One turn, the exchange that begins with it, the subagents that it started with their digests,
    and who speaks. It is `wanted` if the URL names it or a search found it: if it is folded, it is
    then open."""

    turn: Turn
    begins: Exchange | None
    nested: Sequence[tuple[Session, Digest | None]]
    who: str
    wanted: bool


def _load(memory: Holdfast, name: str, first: int, at: int, find: str) -> Shown:
    reader, session = memory.reader, find_session(memory, name)
    bank, id = session.bank, session.id
    words = tuple(dict.fromkeys(find.casefold().split()))
    found = _places_of(reader, session, words) if words else []
    if found and not at and not first:
        at = found[0]
    extent, digest = reader.sessions.extent(bank, id), reader.sessions.digest(bank, id)
    if at:
        before = reader.sessions.turn_window_before(bank, id, at, _TURNS_BEFORE)
        first = before if before is not None else at
    first = first if first <= extent.last else extent.first
    window = reader.sessions.turn_window(bank, id, first, _TURNS_PER_PAGE)
    turns = reader.turns.of_session(bank, id, *window) if window else []
    last = window[1] if window else 0
    # What the first and the last page show begins and ends with the session.
    until = last if last < extent.last else _MAX_SEQ
    since = first if first > extent.first else 0
    turns += [s for s in reader.turns.summaries(bank, id) if since <= s.seq <= until]
    turns.sort(key=lambda turn: turn.seq)
    exchanges = reader.sessions.exchanges(bank, id)
    begins = {exchange.first_seq: exchange for exchange in exchanges}
    endings = RecordEndings(reader)
    subagents = [
        (one, reader.sessions.digest(bank, one.id)) for one in reader.sessions.subagents(bank, id)
    ]
    nested = _by_turn(turns, subagents)
    parents = session_names(reader, bank, [session.parent])
    start, wanted = window[0] if window else 0, {at, *found}
    page = reader.sessions.turn_window_before
    return {
        "title": session_title(memory, session),
        "session": session,
        "bank": memory.context.bank_name(bank),
        "bank_key": bank_keys(reader.banks.all()).get(bank, bank),
        "digest": digest,
        "ended": _ended_lines(endings, digest, exchanges) if digest else {},
        "exchanges": exchanges,
        "near": _exchanges_near(exchanges, window),
        "ended_exchanges": {x.id: endings.label(x, x.title) for x in exchanges},
        "ended_turns": {t.id: endings.label(t, t.text) for t in turns if t.tool is None},
        "extent": extent,
        "said": [
            ShownTurn(
                turn,
                begins.get(turn.seq),
                nested.get(turn.seq, ()),
                turn.speaker or _SPEAKERS[turn.role],
                turn.seq in wanted,
            )
            for turn in turns
        ],
        "at": at,
        "words": words,
        "found": found,
        "previous": max((place for place in found if place < at), default=0),
        "next": min((place for place in found if place > at), default=0),
        "more_found": len(found) >= _MAX_FOUND,
        "earlier": page(bank, id, start, _TURNS_PER_PAGE) if window else None,
        "later": last + 1 if last < extent.last else None,
        # Subagents are told nothing.
        "injections": []
        if session.parent
        else memory.store.injections.latest(bank, session.host)[::-1],
        "redacted": reader.sources.redaction_counts(session.source),
        "subagents": subagents,
        "parent_name": parents[session.parent] or "its session"
        if session.parent in parents
        else "",
        "commits": commits_of(reader, session),
    }


def _places_of(reader: Reader, session: Session, words: Sequence[str]) -> list[int]:
    """The places of the messages that have all words: in what is said, or in what a tool was asked
    and answered."""
    places: list[int] = []
    for turn in reader.turns.stream(session.bank, session.id):
        tool = turn.tool
        said = (tool.name, tool.target, tool.action, tool.result) if tool else (turn.text,)
        text = "\n".join(said).casefold()
        if all(word in text for word in words):
            places.append(turn.seq)
            if len(places) == _MAX_FOUND:
                break
    return places


def _by_turn(
    turns: Sequence[Turn], subagents: Iterable[tuple[Session, Digest | None]]
) -> dict[int, list[tuple[Session, Digest | None]]]:
    """The subagents by the turn that started them: the last call before a subagent began, else the
    last turn before it. Subagents that began outside of these turns are left out."""
    found: dict[int, list[tuple[Session, Digest | None]]] = {}
    dated = [turn for turn in turns if turn.time]
    for one in subagents:
        began = one[0].started
        before = [turn for turn in dated if turn.time <= began]
        if before and began <= dated[-1].time:
            calls = [turn for turn in before if turn.tool and turn.tool.name in _SUBAGENT_TOOLS]
            found.setdefault((calls or before)[-1].seq, []).append(one)
    return found


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


def _exchanges_near(exchanges: list[Exchange], window: tuple[int, int] | None) -> list[Exchange]:
    """The exchanges to list: all, or those of the shown turns where there are many."""
    if len(exchanges) <= _MAX_LISTED_EXCHANGES or window is None:
        return exchanges
    return [one for one in exchanges if one.last_seq >= window[0] and one.first_seq <= window[1]]
