"""Operations that list and open sessions: their messages, exchanges and digests."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, cast

from holdfast.app.core.context import ALL_BANKS
from holdfast.app.memory import Holdfast
from holdfast.errors import InputError, NotFoundError
from holdfast.framed_text import defang, one_line
from holdfast.language import cut
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.kinds import is_from_outside
from holdfast.model.records import Digest, Exchange, Session, Turn
from holdfast.model.trust import ENDED_STATUSES
from holdfast.model.uris import uri
from holdfast.operations.operation import Arg, operation
from holdfast.operations.output.records import (
    any_bank,
    excerpt_of,
    home_note,
    print_record_head,
    print_reference,
)
from holdfast.operations.paging import (
    Page,
    bank_names_of,
    invalid_cursor,
    latest_records,
    paginate,
    read_cursor,
    write_cursor,
)
from holdfast.operations.parameters import MAX_NAME, Agent, AnyBank, Bank, Cursor, Limit
from holdfast.operations.screen import Screen, day, minute, number
from holdfast.operations.shapes import record_from
from holdfast.principal import Level
from holdfast.refine.core.passages import turn_text

# More than any memory holds, and no store refuses it.
_ALL = 1 << 31
_INDENT = " " * 6
_MAX_TITLE = 200
# A message is printed up to this length; `show` opens all of it.
_MAX_MESSAGE = 2_000

SessionId = Annotated[
    str,
    Arg(
        "holdfast://session/ID, an id, the start of one, or the id that the agent uses",
        place="SESSION",
        most=200,
    ),
]


def find_session(memory: Holdfast, id: str, bank: str = ALL_BANKS) -> Session:
    """The session of an id: its URI, ours, the start of it, or the host's own."""
    bare = id.removeprefix("holdfast://").removeprefix("session/")
    within = memory.context.bank_id(bank)
    known = memory.reader.records.find(within, "session", bare, 2) if bare else []
    found = [one for one in known if isinstance(one, Session)]
    if len(found) > 1 and found[0].id != bare:
        raise InputError(f"Several sessions start with {id!r}.", "Give more of the id.")
    if found:
        return found[0]
    raise NotFoundError(f"There is no session {id!r}.", "`holdfast sessions` lists them.")


class SessionList(NamedTuple):
    """Sessions, the latest first. `banks` are the names of their banks, by id."""

    bank: str
    sessions: tuple[Session, ...]
    banks: dict[str, str]
    cursor: str | None


def _print_sessions(screen: Screen, found: SessionList, **_: object) -> None:
    for one in found.sessions:
        screen.line(excerpt_of(one, one.title or one.host, _MAX_TITLE), "bold")
        branch = f" · {one_line(one.branch)}" if one.branch else ""
        subagent = f" · {one_line(one.subagent)}" if one.subagent else ""
        screen.line(f"  {minute(one.started) or 'undated'} · {one.agent}{subagent}{branch}")
        bank = found.banks.get(one.bank, "") if found.bank == ALL_BANKS else ""
        print_reference(screen, uri("session", one.id), "  ", bank=bank)
    if not found.sessions:
        screen.line(f"No sessions in {any_bank(found.bank)}.")


@operation(
    "sessions",
    Level.READ,
    text=_print_sessions,
    examples="""\
  holdfast sessions
  holdfast sessions --branch main --limit 10
  holdfast sessions --agent codex --bank all""",
)
def sessions(
    memory: Holdfast,
    agent: Agent = "",
    branch: Annotated[str, Arg("only sessions on this branch", most=MAX_NAME, metavar="NAME")] = "",
    bank: Bank = "",
    limit: Limit = 50,
    cursor: Cursor = "",
) -> SessionList:
    """List sessions, those of subagents too

    The latest first. `session` shows one, `messages` what was said in it."""
    id = memory.context.bank_id(bank)
    known = [
        one
        for one in memory.reader.sessions.latest(id, _ALL)
        if agent in ("", one.agent) and branch in ("", one.branch)
    ]
    page, more = paginate(known, lambda one: (one.started, one.id, one.bank), limit, cursor)
    names = bank_names_of(memory, page)
    return SessionList(memory.context.bank_name(id), tuple(page), names, more)


class SessionDetails(NamedTuple):
    """A session with its digest, and the numbers of its exchanges and messages."""

    uri: str
    bank: str
    id: str
    host: str
    agent: str
    parent: str
    subagent: str
    title: str
    cwd: str
    branch: str
    version: str
    started: str
    ended: str
    source: int
    digest: Digest | None
    exchanges: int
    messages: int


def _print_session(screen: Screen, found: SessionDetails, **_: object) -> None:
    screen.line(excerpt_of(found, found.title or found.host, _MAX_TITLE), "bold")
    screen.line(found.uri, "cyan")
    agent = f"{found.agent} {found.version}".strip()
    for label, value in (
        ("agent", f"{agent}, subagent {found.subagent}" if found.subagent else agent),
        ("subagent of", found.parent),
        ("id of the agent", found.host),
        ("folder", found.cwd),
        ("branch", found.branch),
        ("time", f"{minute(found.started)} to {minute(found.ended)}"),
    ):
        if value:
            screen.item(f"{label}: {one_line(value)}", "  ")
    counts = f"{number(found.messages, 'message')}, {number(found.exchanges, 'exchange')}"
    screen.line(f"  {counts}")
    if found.digest is not None:
        screen.title("digest:")
        _print_digest(screen, found.digest)


@operation(
    "session",
    Level.READ,
    rest="GET /sessions/{id}",
    text=_print_session,
    examples="""\
  holdfast session 3f2a9c""",
)
def session(memory: Holdfast, id: SessionId, bank: AnyBank = ALL_BANKS) -> SessionDetails:
    """Show a session and its digest

    With the number of its messages and exchanges."""
    one, reader = find_session(memory, id, bank), memory.reader
    return record_from(
        SessionDetails,
        one,
        uri=uri("session", one.id),
        digest=reader.sessions.digest(one.bank, one.id),
        exchanges=len(reader.sessions.exchanges(one.bank, one.id)),
        messages=sum(count for *_, count in reader.turns.counts(one.bank, one.id)),
    )


class MessageList(NamedTuple):
    """Messages of a session, in order."""

    messages: tuple[Turn, ...]
    cursor: str | None


def _print_messages(screen: Screen, found: MessageList, **_: object) -> None:
    for turn in found.messages:
        head = f"{turn.seq}  {turn.role.value} · {minute(turn.time) or 'undated'}"
        print_record_head(screen, head, uri("turn", turn.id))
        text = cut(turn_text(turn), _MAX_MESSAGE)
        screen.wrap(defang(text, is_from_outside(turn)), _INDENT)
        screen.line()
    if not found.messages:
        screen.line("No messages from there on.")


@operation(
    "messages",
    Level.READ,
    rest="GET /sessions/{id}/messages",
    text=_print_messages,
    examples="""\
  holdfast messages 3f2a9c
  holdfast messages 3f2a9c --first 120 --limit 20""",
)
def messages(
    memory: Holdfast,
    id: SessionId,
    first: Annotated[
        int, Arg("start at this position (`seq`)", least=0, most=_ALL, metavar="N")
    ] = 0,
    bank: AnyBank = ALL_BANKS,
    limit: Limit = 100,
    cursor: Cursor = "",
) -> MessageList:
    """List the messages of a session

    In their order, from a position on: what people and the agent said, and the tools that it
    called."""
    start = _position(cursor) if cursor else first
    one = find_session(memory, id, bank)
    turns = list(islice(memory.reader.turns.stream(one.bank, one.id, start), limit + 1))
    more = write_cursor(turns[limit].seq) if len(turns) > limit else None
    return MessageList(tuple(turns[:limit]), more)


def _position(cursor: str) -> int:
    match read_cursor(cursor):
        case (int() as start,) if 0 <= start <= _ALL:
            return start
        case _:
            raise invalid_cursor()


class ExchangeList(NamedTuple):
    """Exchanges, each one request and its result. `banks` are the names of their banks, by id."""

    bank: str
    exchanges: tuple[Exchange, ...]
    banks: dict[str, str]
    cursor: str | None


def _print_exchanges(screen: Screen, found: ExchangeList, **_: object) -> None:
    for one in found.exchanges:
        head = f"{day(one.started)} · {one.type.value} · {one.outcome.value}"
        head += f" · {one.status.value}" if one.status in ENDED_STATUSES else ""
        head += home_note(found.bank, found.banks, one.bank)
        print_record_head(screen, head, uri("exchange", one.id))
        screen.wrap(excerpt_of(one, one.title, _MAX_TITLE), _INDENT)
    if not found.exchanges:
        screen.line(f"No exchanges in {any_bank(found.bank)}.")


@operation(
    "exchanges",
    Level.READ,
    text=_print_exchanges,
    examples="""\
  holdfast exchanges --limit 10""",
)
def exchanges(
    memory: Holdfast, bank: Bank = "", limit: Limit = 50, cursor: Cursor = ""
) -> ExchangeList:
    """List the exchanges of all sessions

    Each is a request and its result; the latest first. One that says mainly what does not hold any
    more has the status of that."""
    found = latest_records(memory, "exchange", bank, limit, cursor)
    page, more = cast(Page[Exchange], found)
    name = memory.context.bank_name(memory.context.bank_id(bank))
    return ExchangeList(name, tuple(page), bank_names_of(memory, page), more)


@operation(
    "session-exchanges",
    Level.READ,
    rest="GET /sessions/{id}/exchanges",
    text=_print_exchanges,
    examples="""\
  holdfast session-exchanges 3f2a9c""",
)
def session_exchanges(
    memory: Holdfast,
    id: SessionId,
    bank: AnyBank = ALL_BANKS,
    limit: Limit = 100,
    cursor: Cursor = "",
) -> ExchangeList:
    """List the exchanges of a session

    Each is a request and its result; in their order."""
    one = find_session(memory, id, bank)
    known = memory.reader.sessions.exchanges(one.bank, one.id)
    page, more = paginate(
        known, lambda made: (made.first_seq, made.id), limit, cursor, descending=False
    )
    name = memory.context.bank_name(one.bank)
    return ExchangeList(name, tuple(page), {one.bank: name}, more)


def _print_digest(screen: Screen, found: Digest | None, **_: object) -> None:
    if found is None:
        screen.line("This session has no digest.")
        return
    said = excerpt_of(found, found.request, len(found.request))
    screen.item(f"request: {said}", "  ")
    screen.line(f"  outcome: {found.outcome.value}")
    for label in ("investigated", "learned", "completed", "next_steps"):
        items: tuple[str, ...] = getattr(found, label)
        if items:
            screen.line(f"  {label.replace('_', ' ')}:")
        for item in items:
            screen.item(f"- {excerpt_of(found, item, len(item))}", "    ")
    if found.topics:
        screen.item(f"topics: {excerpt_of(found, ', '.join(found.topics), _MAX_MESSAGE)}", "  ")


@operation(
    "digest",
    Level.READ,
    rest="GET /sessions/{id}/digest",
    text=_print_digest,
    examples="""\
  holdfast digest 3f2a9c""",
)
def digest(memory: Holdfast, id: SessionId, bank: AnyBank = ALL_BANKS) -> Digest | None:
    """Show the summary of a session

    What was asked, learned and done, and what comes next; nothing for a session without a
    digest."""
    one = find_session(memory, id, bank)
    return memory.reader.sessions.digest(one.bank, one.id)
