"""Sessions, their exchanges and digests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.records import Digest, Exchange, Role, Session
from holdfast.store.sql import rows
from holdfast.store.sql.database import Database, Subject
from holdfast.store.sql.statements import (
    placeholders,
)
from holdfast.store.sql.table import EXCHANGE, Table

SESSION = Table("session", Session, visible="visible_session")
DIGEST = Table("digest", Digest)
# Which turns are a conversation: a summary repeats it and is no part of it.
SAID = f"role <> '{Role.SUMMARY.value}'"


class SessionFilter(NamedTuple):
    """Which sessions; "" sets no condition. They began on the day `since` or later, and on the day
    `until` or earlier."""

    bank: str | None = None
    agent: str = ""
    branch: str = ""
    outcome: str = ""
    since: str = ""
    until: str = ""


class SessionListing(NamedTuple):
    """A session in a list: its request and outcome from the digest, and how many exchanges, turns
    and subagents it has."""

    session: Session
    request: str
    outcome: str
    exchanges: int
    turns: int
    subagents: int


class SessionFacets(NamedTuple):
    """The values that sessions can be filtered by: agents and branches, by name."""

    agents: tuple[str, ...]
    branches: tuple[str, ...]


class SessionExtent(NamedTuple):
    """How many turns of a session are shown, and the places of the first and the last."""

    turns: int
    first: int
    last: int


class StaleSession(NamedTuple):
    """A session whose derived rows are older than its turns, from place `first` on."""

    bank: str
    session: str
    first: int


# After every turn: nothing of the session is to be derived again but its digest.
_AFTER_LAST_SEQ = 1 << 62


_OF = "s.bank = {0}.bank AND s.id = {0}.session"

_MAX_FACET_VALUES = 200

# A session without a parent, or whose parent was not read.
_IS_TOP_LEVEL = (
    "(s.parent = '' OR NOT EXISTS (SELECT 1 FROM session AS p WHERE p.bank = s.bank "
    "AND p.id = s.parent))"
)


def _condition(sieve: SessionFilter) -> tuple[str, list[str]]:
    asked = {
        "s.agent = ?": sieve.agent,
        "s.branch = ?": sieve.branch,
        "digest.outcome = ?": sieve.outcome,
        "s.started >= ?": sieve.since,
        # Whatever that day has, in any of its hours.
        "s.started <> '' AND substr(s.started, 1, 10) <= ?": sieve.until,
    }
    wanted = {what: rows.text(value) for what, value in asked.items() if value}
    return " AND ".join([_IS_TOP_LEVEL, *wanted]), [*wanted.values()]


class Sessions(Subject):
    """Reads sessions that are not hidden."""

    def latest(self, bank: str | None, limit: int = 20) -> list[Session]:
        """Sessions, the latest first."""
        latest = "ORDER BY ended DESC, id LIMIT ?"
        return SESSION.find(self._db, bank, latest, (limit,), hidden=False)

    def get(self, bank: str, id: str) -> Session | None:
        """One session."""
        return SESSION.first(self._db, bank, "AND id = ?", (id,), hidden=False)

    def page(self, filter: SessionFilter, limit: int, offset: int = 0) -> list[SessionListing]:
        """Sessions of people, not of subagents, the latest first."""
        where, values = _condition(filter)
        own, mine = self._db.in_bank(filter.bank or None, "s.bank")
        of_turn, its = self._db.in_bank(filter.bank or None, "t.bank")
        # The few of a page are picked first: to count turns is the dear part.
        found = self._db.all(
            f"SELECT {SESSION.of('s')}, coalesce(digest.request, ''), "
            "coalesce(digest.outcome, ''), coalesce(digest.exchanges, 0), "
            f"(SELECT count(*) FROM visible_turn AS t WHERE {_OF.format('t')} AND {of_turn} "
            f"AND {SAID}), "
            "(SELECT count(*) FROM visible_session AS c WHERE c.host = s.host AND c.bank = s.bank "
            "AND c.parent = s.id) "
            "FROM (SELECT s.* FROM visible_session AS s "
            f"LEFT JOIN digest ON {_OF.format('digest')} WHERE {where} AND {own} "
            "ORDER BY s.ended DESC, s.id LIMIT ? OFFSET ?) AS s "
            f"LEFT JOIN digest ON {_OF.format('digest')} ORDER BY s.ended DESC, s.id",
            (*its, *values, *mine, limit, offset),
        )
        return [SessionListing(SESSION.record(row[:-5]), *row[-5:]) for row in found]

    def facets(self, bank: str | None) -> SessionFacets:
        """The agents and branches of the sessions."""
        where, values = self._db.in_bank(bank)
        facets = [
            tuple(
                name
                for (name,) in self._db.all(
                    f"SELECT DISTINCT {column} FROM visible_session WHERE {where} AND {column} "
                    "<> '' "
                    f"ORDER BY {column} LIMIT {_MAX_FACET_VALUES}",
                    values,
                )
            )
            for column in ("agent", "branch")
        ]
        return SessionFacets(*facets)

    def named(self, name: str) -> list[Session]:
        """The session with an id, else those with this id of the agent that are no subagent's."""
        own, of_host = (
            self._db.all(
                f"SELECT {SESSION.columns} FROM visible_session WHERE {what} ORDER BY bank", (name,)
            )
            for what in ("bank IN (SELECT id FROM bank) AND id = ?", "host = ? AND parent = ''")
        )
        return [SESSION.record(row) for row in own or of_host]

    def subagents(self, bank: str, session: str) -> list[Session]:
        """The subagent sessions of a session, by time."""
        return SESSION.find(
            self._db,
            bank,
            "AND parent = ? AND id <> ? AND host IN (SELECT host FROM session WHERE bank = ? "
            "AND id = ?) ORDER BY started, id",
            (session, session, bank, session),
            hidden=False,
        )

    def extent(self, bank: str, session: str) -> SessionExtent:
        """How long a session is."""
        row = self._db.one(
            "SELECT count(*), coalesce(min(seq), 0), coalesce(max(seq), 0) FROM visible_turn "
            f"WHERE bank = ? AND session = ? AND {SAID}",
            (bank, session),
        )
        return SessionExtent(*(row or (0, 0, 0)))

    def turn_window(self, bank: str, session: str, first: int, most: int) -> tuple[int, int] | None:
        """The places of the first and the last of up to `most` turns from a place on; None if there
        are none."""
        row = self._db.one(
            "SELECT min(seq), max(seq) FROM (SELECT seq FROM visible_turn WHERE bank = ? "
            f"AND session = ? AND seq >= ? AND {SAID} ORDER BY seq LIMIT ?)",
            (bank, session, first, most),
        )
        return (row[0], row[1]) if row and row[0] is not None else None

    def turn_window_before(self, bank: str, session: str, first: int, most: int) -> int | None:
        """The place where a window of up to `most` turns before a place begins; None if nothing is
        before it."""
        row = self._db.one(
            "SELECT min(seq) FROM (SELECT seq FROM visible_turn WHERE bank = ? AND session = ? "
            f"AND seq < ? AND {SAID} ORDER BY seq DESC LIMIT ?)",
            (bank, session, first, most),
        )
        return row[0] if row else None

    def last_end(self, bank: str | None = None) -> str:
        """The latest time at which a session ended, or ""."""
        where, values = self._db.in_bank(bank)
        row = self._db.one(f"SELECT coalesce(max(ended), '') FROM session WHERE {where}", values)
        return row[0] if row else ""

    def stale(self, limit: int = 100) -> list[StaleSession]:
        """The sessions whose derived rows are to be made again."""
        found = self._db.all(
            "SELECT bank, session, first_seq FROM stale_session ORDER BY bank, session LIMIT ?",
            (limit,),
        )
        return [StaleSession(*row) for row in found]

    def exchanges(self, bank: str, session: str) -> list[Exchange]:
        """The exchanges of a session in order."""
        return EXCHANGE.find(self._db, bank, "AND session = ? ORDER BY first_seq", (session,))

    def digest(self, bank: str, session: str) -> Digest | None:
        """The digest of a session."""
        return DIGEST.first(self._db, bank, "AND session = ?", (session,))

    def exchange_at(self, bank: str, session: str, seq: int) -> Exchange | None:
        """The exchange that contains the turn at a place of a session."""
        row = self._db.one(
            f"SELECT {EXCHANGE.columns} FROM exchange WHERE bank = ? AND session = ? "
            "AND first_seq <= ? AND last_seq >= ? LIMIT 1",
            (bank, session, seq, seq),
        )
        return EXCHANGE.record(row) if row else None

    def add(self, session: Session) -> None:
        """Add a session, or fill in what was not known about it."""
        # What is known first stays, but for the title; the span only ever widens.
        self._db.run(
            f"INSERT INTO session ({SESSION.columns}) VALUES ({placeholders(SESSION.columns)}) "
            "ON CONFLICT (bank, id) DO UPDATE SET "
            "title = CASE excluded.title WHEN '' THEN session.title ELSE excluded.title END, "
            "parent = CASE session.parent WHEN '' THEN excluded.parent ELSE session.parent END, "
            "subagent = CASE session.subagent WHEN '' THEN excluded.subagent "
            "ELSE session.subagent END, "
            "cwd = CASE session.cwd WHEN '' THEN excluded.cwd ELSE session.cwd END, "
            "branch = CASE session.branch WHEN '' THEN excluded.branch ELSE session.branch END, "
            "version = CASE session.version WHEN '' THEN excluded.version "
            "ELSE session.version END, "
            "started = CASE WHEN session.started = '' OR (excluded.started <> '' "
            "AND excluded.started < session.started) THEN excluded.started "
            "ELSE session.started END, "
            "ended = CASE WHEN excluded.ended > session.ended THEN excluded.ended "
            "ELSE session.ended END, "
            # Another file may have told its title before its own was read.
            "source = CASE WHEN session.started = '' AND excluded.started <> '' "
            "THEN excluded.source ELSE session.source END",
            SESSION.row(session),
        )
        mark_stale(self._db, [(session.bank, session.id, _AFTER_LAST_SEQ)])

    def subagent_ids_uncurated(self, bank: str, session: str) -> list[str]:
        """The ids of a session's subagent sessions, hidden or not."""
        found = self._db.all(
            "SELECT id FROM session WHERE bank = ? AND parent = ? AND id <> ? ORDER BY id",
            (bank, session, session),
        )
        return [id for (id,) in found]

    def bank_exchanges(self, bank: str) -> Iterator[Exchange]:
        """All exchanges of a bank that are not hidden."""
        return EXCHANGE.stream(self._db, bank)


def mark_stale(db: Database, changed: Iterable[tuple[str, str, int]]) -> None:
    """Have the derived rows of sessions made again, each from a place on."""
    first: dict[tuple[str, str], int] = {}
    for bank, session, seq in changed:
        first[bank, session] = min(seq, first.get((bank, session), seq))
    db.run_many(
        "INSERT INTO stale_session VALUES (?, ?, ?) "
        "ON CONFLICT (bank, session) DO UPDATE SET first_seq = CASE WHEN "
        "excluded.first_seq < stale_session.first_seq THEN excluded.first_seq "
        "ELSE stale_session.first_seq END",
        [(*name, seq) for name, seq in first.items()],
    )
