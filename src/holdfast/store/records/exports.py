"""Canonical rows of a bank for an export, and putting them back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.store.index.progress import StageProgress
from holdfast.store.sql.database import Subject
from holdfast.store.sql.statements import placeholders_for

Row = dict[str, Any]


class ExportTable(NamedTuple):
    """An exported table: the `group` by which it is selected, its columns, and which of them
    contain JSON and which text. `first` and `last` are SQL for the time span of a row ("" for
    none), `where` for the condition under which it is exported, `order` its sort columns. The rows
    may be `stored_in` a table of another name."""

    name: str
    group: str
    columns: str
    json: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    first: str = "t.time"
    last: str = ""
    where: str = ""
    order: str = ""
    stored_in: str = ""

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of its columns without the bank, which an export states once."""
        return tuple(name for name in self.columns.split() if name != "bank")


class ExportSelection(NamedTuple):
    """What is exported: which groups (none: all), and of which time, both ends included."""

    groups: tuple[str, ...] = ()
    since: str = ""
    until: str = ""


_BATCH_ROWS = 500

_OF_THE_BANK = "t.source IN (SELECT id FROM source WHERE bank = ?)"

_DECISION = ("time", "action", "target", "text", "who")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f't."{name}"' for name in names)


def _bare(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _values(bank: str, table: ExportTable, names: Iterable[str], row: Row) -> tuple[Any, ...]:
    values = {**row, "bank": bank}
    values |= {
        name: json.dumps(row[name], ensure_ascii=False, separators=(",", ":"))
        for name in table.json
    }
    return tuple(values[name] for name in names)


class Exports(Subject):
    """Reads the rows of an export."""

    _progress: StageProgress

    def rows(self, bank: str, table: ExportTable, selection: ExportSelection) -> Iterator[Row]:
        """The rows of a table in a fixed order, without hidden content: of a hidden turn only its
        place is exported, of a decision about it only that there was one."""
        if table.name == "curation":
            yield from self._decisions(bank, table, selection)
            return
        blank = self._hidden_turns(bank) if table.name == "turn" else set[str]()
        for row in self._rows(bank, table, selection):
            if blank and row["id"] in blank:
                row |= {name: None if row[name] is None else "" for name in table.words}
            yield row

    def _hidden_turns(self, bank: str) -> set[str]:
        found = self._db.all(
            "SELECT id FROM hidden_record WHERE bank = ? AND kind = 'turn'", (bank,)
        )
        return {id for (id,) in found}

    def _rows(self, bank: str, table: ExportTable, chosen: ExportSelection) -> Iterator[Row]:
        names = table.columns.split()
        own = table.stored_in or table.name
        by_source = "source" in names and "bank" not in names
        mine = _OF_THE_BANK if by_source else "t.bank = ?"
        mine = "t.id = ?" if table.name == "bank" else mine
        where, values = [mine, *filter(None, (table.where,))], [bank]
        if table.first and chosen.since:
            where.append(f"{table.last or table.first} >= ?")
            values.append(chosen.since)
        if table.first and chosen.until:
            where.append(f"{table.first} <= ?")
            values.append(chosen.until)
        order = _listed((table.order or " ".join(names)).split())
        if by_source:  # whatever numbers they have here
            order = f"(SELECT s.path FROM source AS s WHERE s.id = t.source), {order}"
        sql = (
            f'SELECT {_listed(names)} FROM "{own}" AS t WHERE {" AND ".join(where)} '
            f"ORDER BY {order}"
        )
        for found in self._db.stream(sql, values):
            row = dict(zip(names, found, strict=True))
            row.pop("bank", None)
            yield row | {name: json.loads(row[name] or "null") for name in table.json}

    def _decisions(self, bank: str, table: ExportTable, chosen: ExportSelection) -> Iterator[Row]:
        """The log, numbered from 1, each decision with the session of its record; without the text
        of decisions about hidden records."""
        plain = table._replace(columns=table.columns.replace(" session", ""), json=())
        states = self._db.all(
            "SELECT kind, id, session FROM curation_state WHERE bank = ?", (bank,)
        )
        sessions = {f"holdfast://{kind}/{id}": session for kind, id, session in states}
        away = self._db.all("SELECT kind, id FROM hidden_record WHERE bank = ?", (bank,))
        hidden = {f"holdfast://{kind}/{id}" for kind, id in away}
        numbers: dict[str, int] = {}
        for number, row in enumerate(self._rows(bank, plain, ExportSelection()), 1):
            numbers[str(row["seq"])] = number
            row |= {"seq": number, "session": sessions.get(row["target"], "")}
            if row["action"] == "undo":
                row["target"] = str(numbers.get(row["target"], 0))
            if row["target"] in hidden:
                row["text"] = ""
            if (chosen.since or row["time"]) <= row["time"] <= (chosen.until or row["time"]):
                yield row

    def restore_rows(self, bank: str, table: ExportTable, rows: Iterable[Row]) -> int:
        """Add the rows that are missing; returns how many were added. Their sessions become stale.
        Sources and decisions have methods of their own, because they are numbered anew."""
        names = table.columns.split()
        own = table.stored_in or table.name
        more = (", kind", ", 'raw'") if table.name == "withheld_turn" else ("", "")
        sql = (
            f'INSERT INTO "{own}" ({_bare(names)}{more[0]}) '
            f"VALUES ({placeholders_for(names)}{more[1]}) ON CONFLICT DO NOTHING"
        )
        before = self._size(own)
        stream = iter(rows)
        while some := list(islice(stream, _BATCH_ROWS)):
            self._db.run_many(sql, [_values(bank, table, names, row) for row in some])
            if table.name == "session":
                self._db.run_many(
                    "INSERT INTO stale_session VALUES (?, ?, 0) "
                    "ON CONFLICT (bank, session) DO UPDATE SET first_seq = 0",
                    [(bank, row["id"]) for row in some],
                )
        self._progress.mark_changed(bank, "")
        return self._size(own) - before

    def restore_source(self, bank: str, table: ExportTable, row: Row) -> int:
        """Add a source under a new number, which is returned."""
        names = [name for name in table.columns.split() if name != "id"]
        self._db.run(
            f"INSERT INTO source ({_bare(names)}) VALUES ({placeholders_for(names)})",
            _values(bank, table, names, row),
        )
        found = self._db.one("SELECT id FROM source WHERE path = ?", (row["path"],))
        return int(found[0]) if found else 0

    def _size(self, table: str) -> int:
        row = self._db.one(f'SELECT count(*) FROM "{table}"')
        return int(row[0]) if row else 0

    def known_decisions(self, bank: str) -> dict[tuple[str, ...], int]:
        """The decisions of a bank by time, action, target, text and person, with their numbers."""
        found = self._db.all(
            f"SELECT seq, {', '.join(_DECISION)} FROM curation WHERE bank = ? ORDER BY seq", (bank,)
        )
        return {tuple(rest): int(seq) for seq, *rest in found}
