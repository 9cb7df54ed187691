"""Turns of sessions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from holdfast.model.corrections import corrected_turn
from holdfast.model.records import Origin, Role, ToolCall, Turn
from holdfast.model.trust import Trust
from holdfast.store.records.curation import (
    CURATION_STATE,
    CurationReader,
    curation_state_of,
)
from holdfast.store.records.sessions import SAID, mark_stale
from holdfast.store.sql import rows
from holdfast.store.sql.database import Database
from holdfast.store.sql.statements import (
    batches,
    placeholders,
    placeholders_for,
)

TURN = (
    "bank, id, session, seq, time, role, trust, text, speaker, branch, "
    "tool, target, lines, action, result, ok, duration_ms, call, source, line, "
    '"offset", ref'
)


def turn_of(row: rows.Row) -> Turn:
    """`TURN`."""
    tool = None
    if row[10] is not None:
        ok = None if row[15] is None else bool(row[15])
        tool = ToolCall(row[10], row[11], row[12], row[13], row[14], ok, row[16], row[17])
    return Turn(
        row[0], row[1], row[2], row[3], row[4], Role(row[5]), Trust(row[6]), row[7], row[8],
        row[9], tool, Origin(*row[18:22]),
    )  # fmt: skip


def turn_row(turn: Turn) -> rows.Row:
    """`TURN`."""
    tool = turn.tool
    done: rows.Row = (None,) * 8
    if tool is not None:
        ok = None if tool.ok is None else int(tool.ok)
        done = (
            tool.name, tool.target, tool.lines, tool.action, tool.result, ok, tool.duration_ms,
            tool.call,
        )  # fmt: skip
    at = turn.origin
    return (
        turn.bank, turn.id, turn.session, turn.seq, turn.time, turn.role.value, turn.trust.value,
        turn.text, turn.speaker, turn.branch, *done, at.source, at.line, at.offset, at.ref,
    )  # fmt: skip


class TurnReader:
    """Reads turns without hidden ones and with corrections applied."""

    def __init__(self, db: Database, curation: CurationReader) -> None:
        self._db = db
        self._curation = curation

    def of_session(
        self, bank: str, session: str, first: int = 0, last: int | None = None
    ) -> list[Turn]:
        """The turns of a session in order, from place `first` to place `last`."""
        found = self._db.all(
            f"SELECT {TURN} FROM visible_turn "
            f"WHERE bank = ? AND session = ? AND seq >= ? AND seq <= ? AND {SAID} ORDER BY seq",
            (bank, session, first, (1 << 62) if last is None else last),
        )
        return corrected_turns(self._db, [turn_of(row) for row in found])

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
        found = self._db.all(
            f"SELECT {TURN} FROM visible_turn "
            f"WHERE bank = ? AND session = ? AND NOT {SAID} ORDER BY seq",
            (bank, session),
        )
        return corrected_turns(self._db, [turn_of(row) for row in found])

    def stream(self, bank: str, session: str, first: int = 0) -> Iterator[Turn]:
        """The same one by one, for sessions that may not fit into memory."""
        corrected = {
            c.id: c
            for c in self._curation.states_in_session(bank, session)
            if c.kind == "turn" and c.text
        }
        for row in self._db.stream(
            f"SELECT {TURN} FROM visible_turn WHERE bank = ? AND session = ? AND seq >= ? "
            f"AND {SAID} ORDER BY seq",
            (bank, session, first),
        ):
            turn = turn_of(row)
            known = corrected.get(turn.id)
            yield corrected_turn(turn, known) if known else turn

    def before_line(self, bank: str, source: int, line: int) -> Turn | None:
        """The last turn of a bank that was read from a source's lines up to one."""
        row = self._db.one(
            f"SELECT {TURN} FROM visible_turn WHERE {self._db.dialect.no_index}bank = ? "
            f"AND source = ? AND line <= ? AND line > 0 AND {SAID} "
            "ORDER BY line DESC, seq DESC LIMIT 1",
            (bank, source, line),
        )
        return turn_of(row) if row else None

    def with_git_commit(self, bank: str) -> list[Turn]:
        """The turns that ran a commit and are not known to have failed, by time."""
        found = self._db.all(
            f"SELECT {TURN} FROM visible_turn WHERE bank = ? AND lower(action) LIKE "
            "'%git%commit%' "
            "AND (ok IS NULL OR ok <> 0) ORDER BY time, session, seq",
            (bank,),
        )
        return [turn_of(row) for row in found]

    def speakers(self, bank: str) -> list[str]:
        """The names of the agents and people who speak in a bank, as far as turns have them."""
        found = self._db.all(
            f"SELECT DISTINCT speaker FROM visible_turn WHERE bank = ? AND {SAID} "
            "AND speaker <> '' ORDER BY speaker",
            (bank,),
        )
        return [speaker for (speaker,) in found]


class TurnWriter(TurnReader):
    """Writes turns, and reads them as they were recorded."""

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
            f"SELECT {TURN} FROM turn "
            "WHERE bank = ? AND call = ? AND session = ? AND call <> '' LIMIT 1",
            (bank, call, session),
        )
        return turn_of(row) if row else None

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
            f"INSERT INTO turn ({TURN}) VALUES ({placeholders(TURN)}) "
            "ON CONFLICT (bank, id) DO UPDATE SET "
            + ", ".join(f"{name} = excluded.{name}" for name in changeable),
            [turn_row(turn) for turn in turns],
        )
        mark_stale(self._db, [(turn.bank, turn.session, turn.seq) for turn in turns])

    def stream_uncurated(self, bank: str, session: str, first: int = 0) -> Iterator[Turn]:
        """The turns of a session as they were read, hidden or not, from place `first` on."""
        for row in self._db.stream(
            f"SELECT {TURN} FROM turn WHERE bank = ? AND session = ? AND seq >= ? ORDER BY seq",
            (bank, session, first),
        ):
            yield turn_of(row)

    def get_uncurated(self, bank: str, id: str) -> Turn | None:
        """One turn as it was read."""
        row = self._db.one(f"SELECT {TURN} FROM turn WHERE bank = ? AND id = ?", (bank, id))
        return turn_of(row) if row else None

    def tool_calls_matching(self, bank: str, words: Sequence[str]) -> Iterator[Turn]:
        """The tool calls of a bank whose target or action contains one of these words, without
        hidden ones, by time."""
        if not words:
            return
        at = self._db.dialect.position
        held = " OR ".join(f"{at}(action, ?) > 0 OR {at}(target, ?) > 0" for _ in words)
        for row in self._db.stream(
            f"SELECT {TURN} FROM visible_turn WHERE bank = ? AND tool IS NOT NULL "
            f"AND ({held}) ORDER BY time, session, seq",
            (bank, *(word for word in words for _ in range(2))),
        ):
            yield turn_of(row)


def corrected_turns(db: Database, turns: list[Turn]) -> list[Turn]:
    """Turns of one session, with the text of their corrections."""
    if not turns:
        return turns
    found = db.all(
        f"SELECT {CURATION_STATE} FROM curation_state "
        "WHERE bank = ? AND session = ? AND kind = 'turn' AND text <> ''",
        (turns[0].bank, turns[0].session),
    )
    corrections = {known.id: known for known in map(curation_state_of, found)}
    return [
        corrected_turn(turn, corrections[turn.id]) if turn.id in corrections else turn
        for turn in turns
    ]
