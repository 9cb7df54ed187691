"""Turns of sessions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from holdfast.model.corrections import corrected_turn
from holdfast.model.records import Origin, ToolCall, Turn
from holdfast.store.records.curation import (
    CURATION_STATE,
    Curations,
)
from holdfast.store.records.sessions import SAID, mark_stale
from holdfast.store.sql.database import Database, Subject
from holdfast.store.sql.statements import (
    batches,
    insert,
    placeholders_for,
)
from holdfast.store.sql.table import Table

TURN = Table(
    "turn",
    Turn,
    nested={"tool": ToolCall, "origin": Origin},
    renamed={"name": "tool"},
    visible="visible_turn",
)


class Turns(Subject):
    """Reads turns without hidden ones and with corrections applied."""

    _curation: Curations

    def of_session(
        self, bank: str, session: str, first: int = 0, last: int | None = None
    ) -> list[Turn]:
        """The turns of a session in order, from place `first` to place `last`."""
        found = TURN.find(
            self._db,
            bank,
            f"AND session = ? AND seq >= ? AND seq <= ? AND {SAID} ORDER BY seq",
            (session, first, (1 << 62) if last is None else last),
            hidden=False,
        )
        return corrected_turns(self._db, found)

    def counts(self, bank: str, session: str) -> list[tuple[str, str, int]]:
        """How many turns of each role and tool ("" for none) a session has, the most first."""
        tool = "coalesce(tool, '')"
        found = self._db.all(
            f"SELECT role, {tool}, count(*) FROM visible_turn "
            f"WHERE bank = ? AND session = ? AND {SAID} GROUP BY role, {tool} "
            f"ORDER BY count(*) DESC, role, {tool}",
            (bank, session),
        )
        return [(role, tool, number) for role, tool, number in found]

    def summaries(self, bank: str, session: str) -> list[Turn]:
        """The agent's own summaries of a session, in order."""
        which = f"AND session = ? AND NOT {SAID} ORDER BY seq"
        found = TURN.find(self._db, bank, which, (session,), hidden=False)
        return corrected_turns(self._db, found)

    def stream(self, bank: str, session: str, first: int = 0) -> Iterator[Turn]:
        """The same one by one, for sessions that may not fit into memory."""
        corrected = {
            c.id: c
            for c in self._curation.states_in_session(bank, session)
            if c.kind == "turn" and c.text
        }
        for row in self._db.stream(
            f"SELECT {TURN.columns} FROM visible_turn WHERE bank = ? AND session = ? AND seq >= ? "
            f"AND {SAID} ORDER BY seq",
            (bank, session, first),
        ):
            turn = TURN.record(row)
            known = corrected.get(turn.id)
            yield corrected_turn(turn, known) if known else turn

    def before_line(self, bank: str, source: int, line: int) -> Turn | None:
        """The last turn of a bank that was read from a source's lines up to one."""
        row = self._db.one(
            f"SELECT {TURN.columns} FROM visible_turn WHERE {self._db.dialect.no_index}bank = ? "
            f"AND source = ? AND line <= ? AND line > 0 AND {SAID} "
            "ORDER BY line DESC, seq DESC LIMIT 1",
            (bank, source, line),
        )
        return TURN.record(row) if row else None

    def with_git_commit(self, bank: str) -> list[Turn]:
        """The turns that ran a commit and are not known to have failed, by time."""
        found = self._db.all(
            f"SELECT {TURN.columns} FROM visible_turn WHERE bank = ? AND lower(action) LIKE "
            "'%git%commit%' "
            "AND (ok IS NULL OR ok <> 0) ORDER BY time, session, seq",
            (bank,),
        )
        return TURN.records(found)

    def speakers(self, bank: str) -> list[str]:
        """The names of the agents and people who speak in a bank, as far as turns have them."""
        found = self._db.all(
            f"SELECT DISTINCT speaker FROM visible_turn WHERE bank = ? AND {SAID} "
            "AND speaker <> '' ORDER BY speaker",
            (bank,),
        )
        return [speaker for (speaker,) in found]

    def known(self, bank: str, ids: Sequence[str]) -> dict[str, Origin]:
        """Which of these turns are known, each with the line it was read from."""
        known: dict[str, Origin] = {}
        for some in batches(ids):
            found = self._db.all(
                'SELECT id, source, line, "offset", ref FROM turn '
                "WHERE bank = ? AND id IN "
                f"({placeholders_for(some)})",
                (bank, *some),
            )
            known.update((row[0], Origin(*row[1:])) for row in found)
        return known

    def of_tool_call(self, bank: str, session: str, call: str) -> Turn | None:
        """The turn of a tool call in a session."""
        row = call and self._db.one(
            f"SELECT {TURN.columns} FROM turn "
            "WHERE bank = ? AND call = ? AND session = ? AND call <> '' LIMIT 1",
            (bank, call, session),
        )
        return TURN.record(row) if row else None

    def has_tool_call(self, bank: str, call: str) -> bool:
        """Whether any session of the bank has this tool call."""
        return bool(
            call
            and self._db.one(
                "SELECT 1 FROM turn WHERE bank = ? AND call = ? AND call <> ''", (bank, call)
            )
        )

    def next_seq(self, bank: str, session: str) -> int:
        """The first free place in a session."""
        row = self._db.one(
            "SELECT max(seq) FROM turn WHERE bank = ? AND session = ?", (bank, session)
        )
        return 1 if row is None or row[0] is None else int(row[0]) + 1

    def put(self, turns: Iterable[Turn]) -> None:
        """Store turns; of a known one only the tool's result, the trust and the origin change.
        Their sessions become stale."""
        turns = list(turns)
        changeable = 'lines result ok duration_ms trust source line "offset" ref'.split()
        self._db.run_many(
            f"{insert('turn', TURN.columns)} ON CONFLICT (bank, id) DO UPDATE SET "
            + ", ".join(f"{name} = excluded.{name}" for name in changeable),
            map(TURN.row, turns),
        )
        mark_stale(self._db, [(turn.bank, turn.session, turn.seq) for turn in turns])

    def stream_uncurated(self, bank: str, session: str, first: int = 0) -> Iterator[Turn]:
        """The turns of a session as they were read, hidden or not, from place `first` on."""
        return TURN.stream(
            self._db, bank, "AND session = ? AND seq >= ? ORDER BY seq", (session, first)
        )

    def get_uncurated(self, bank: str, id: str) -> Turn | None:
        """One turn as it was read."""
        return TURN.first(self._db, bank, "AND id = ?", (id,))

    def tool_calls_matching(self, bank: str, words: Sequence[str]) -> Iterator[Turn]:
        """The tool calls of a bank whose target or action contains one of these words, without
        hidden ones, by time."""
        if not words:
            return
        at = self._db.dialect.position
        held = " OR ".join(f"{at}(action, ?) > 0 OR {at}(target, ?) > 0" for _ in words)
        for row in self._db.stream(
            f"SELECT {TURN.columns} FROM visible_turn WHERE bank = ? AND tool IS NOT NULL "
            f"AND ({held}) ORDER BY time, session, seq",
            (bank, *(word for word in words for _ in range(2))),
        ):
            yield TURN.record(row)


def corrected_turns(db: Database, turns: list[Turn]) -> list[Turn]:
    """Turns of one session, with the text of their corrections."""
    if not turns:
        return turns
    stated = "AND session = ? AND kind = 'turn' AND text <> ''"
    found = CURATION_STATE.find(db, turns[0].bank, stated, (turns[0].session,))
    corrections = {known.id: known for known in found}
    return [
        corrected_turn(turn, corrections[turn.id]) if turn.id in corrections else turn
        for turn in turns
    ]
