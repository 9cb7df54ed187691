"""Lists of sessions, and parts of one."""

from __future__ import annotations

from holdfast.model.records import Session
from holdfast.store.protocol.sessions import (
    SessionExtent,
    SessionFacets,
    SessionFilter,
    SessionListing,
)
from holdfast.store.sql.rows import records as rows
from holdfast.store.sql.runner import StatementRunner

_SESSION = ", ".join(f"s.{name}" for name in rows.SESSION.split(", "))
_OF = "s.bank = {0}.bank AND s.id = {0}.session"
_MAX_FACET_VALUES = 200
# A session without a parent, or whose parent was not read.
_IS_TOP_LEVEL = (
    "(s.parent = '' OR NOT EXISTS (SELECT 1 FROM session AS p WHERE p.bank = s.bank "
    "AND p.id = s.parent))"
)


class SessionReader(StatementRunner):
    """Reads them."""

    def list_sessions(
        self, filter: SessionFilter, limit: int, offset: int = 0
    ) -> list[SessionListing]:
        where, values = _condition(filter)
        if not filter.bank and self.within is not None:
            own, mine = self._in_bank(None)
            where, values = f"{where} AND s.{own}", [*values, *mine]
        # The few of a page are picked first: to count turns is the dear part.
        found = self._all(
            f"SELECT {_SESSION}, coalesce(digest.request, ''), coalesce(digest.outcome, ''), "
            "coalesce(digest.exchanges, 0), "
            f"(SELECT count(*) FROM visible_turn AS t WHERE {_OF.format('t')}), "
            "(SELECT count(*) FROM visible_session AS c WHERE c.host = s.host AND c.bank = s.bank "
            "AND c.parent = s.id) "
            "FROM (SELECT s.* FROM visible_session AS s "
            f"LEFT JOIN digest ON {_OF.format('digest')} WHERE {where} "
            "ORDER BY s.ended DESC, s.id LIMIT ? OFFSET ?) AS s "
            f"LEFT JOIN digest ON {_OF.format('digest')} ORDER BY s.ended DESC, s.id",
            *values,
            limit,
            offset,
        )
        return [SessionListing(rows.session_of(row[:-5]), *row[-5:]) for row in found]

    def facets(self, bank: str | None) -> SessionFacets:
        where, values = self._in_bank(bank)
        facets = [
            tuple(
                name
                for (name,) in self._all(
                    f"SELECT DISTINCT {column} FROM visible_session WHERE {where} AND {column} "
                    "<> '' "
                    f"ORDER BY {column} LIMIT {_MAX_FACET_VALUES}",
                    *values,
                )
            )
            for column in ("agent", "branch")
        ]
        return SessionFacets(*facets)

    def sessions_named(self, name: str) -> list[Session]:
        own, of_host = (
            self._all(
                f"SELECT {rows.SESSION} FROM visible_session WHERE {what} ORDER BY bank", name
            )
            for what in ("bank IN (SELECT id FROM bank) AND id = ?", "host = ? AND parent = ''")
        )
        return [rows.session_of(row) for row in own or of_host]

    def subagents(self, bank: str, session: str) -> list[Session]:
        found = self._all(
            f"SELECT {rows.SESSION} FROM visible_session WHERE bank = ? AND parent = ? AND id <> ? "
            "AND host IN (SELECT host FROM session WHERE bank = ? AND id = ?) "
            "ORDER BY started, id",
            *(bank, session, session, bank, session),
        )
        return [rows.session_of(row) for row in found]

    def extent(self, bank: str, session: str) -> SessionExtent:
        row = self._one(
            "SELECT count(*), coalesce(min(seq), 0), coalesce(max(seq), 0) FROM visible_turn "
            "WHERE bank = ? AND session = ?",
            *(bank, session),
        )
        return SessionExtent(*(row or (0, 0, 0)))

    def turn_window(self, bank: str, session: str, first: int, most: int) -> tuple[int, int] | None:
        row = self._one(
            "SELECT min(seq), max(seq) FROM (SELECT seq FROM visible_turn WHERE bank = ? "
            "AND session = ? AND seq >= ? ORDER BY seq LIMIT ?)",
            *(bank, session, first, most),
        )
        return (row[0], row[1]) if row and row[0] is not None else None

    def turn_window_before(self, bank: str, session: str, first: int, most: int) -> int | None:
        row = self._one(
            "SELECT min(seq) FROM (SELECT seq FROM visible_turn WHERE bank = ? AND session = ? "
            "AND seq < ? ORDER BY seq DESC LIMIT ?)",
            *(bank, session, first, most),
        )
        return row[0] if row else None

    def redaction_counts(self, source: int) -> dict[str, int]:
        found = self._all(
            "SELECT kind, count FROM redaction WHERE source = ? ORDER BY count DESC, kind", source
        )
        return dict(found)


def _condition(sieve: SessionFilter) -> tuple[str, list[str]]:
    asked = {
        "s.bank = ?": sieve.bank or "",
        "s.agent = ?": sieve.agent,
        "s.branch = ?": sieve.branch,
        "digest.outcome = ?": sieve.outcome,
        "s.started >= ?": sieve.since,
        # Whatever that day has, in any of its hours.
        "s.started <> '' AND substr(s.started, 1, 10) <= ?": sieve.until,
    }
    wanted = {what: rows.text(value) for what, value in asked.items() if value}
    return " AND ".join([_IS_TOP_LEVEL, *wanted]), [*wanted.values()]
