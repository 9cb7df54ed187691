"""A table, declared once by the record that a row of it is.

    FACT = Table("fact", Fact, nested={"validity": Validity})

    FACT.find(db, bank, "AND kind = ? ORDER BY learned DESC", (kind,))
    FACT.put(db, fact)

A column has the name of its field. What a value is in the database follows from the annotation of
the field: an enum is its value ("" for none), a tuple or a mapping is JSON, and a bool is a number.
SQL that says more than that stands where it is asked, with `columns` for what makes a record.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum

from holdfast.model.query import Passage
from holdfast.model.records import Exchange
from holdfast.model.team import Commit
from holdfast.store.sql.connection import Row
from holdfast.store.sql.database import Database
from holdfast.store.sql.rows import dumps, loads, text
from holdfast.store.sql.statements import insert, insert_missing, upsert

TYPE_CHECKING = False  # `typing` delays hooks: see `lazy_named_tuple`
if TYPE_CHECKING:
    from typing import Any, Generic, TypeVar

    Record = TypeVar("Record")
    Convert = Callable[[Any], Any]
else:

    class _Generic:
        def __class_getitem__(cls, item: object) -> type:
            return cls

    Generic, Record = {None: _Generic}, None

_RESERVED = frozenset({"by", "commit", "into", "merge", "offset"})
_NO_NAMES: Mapping[str, str] = {}
_NO_RECORDS: Mapping[str, type] = {}
_NO_CONVERSIONS: Mapping[str, tuple[Convert, Convert]] = {}


class Table(Generic[Record]):
    """One table. `renamed` gives the columns that are not called like their field, `nested` the
    fields that are records themselves, whose fields have columns of their own. `fields` are those
    that have a column, where not all do; the others have their defaults when a row is read.
    `beside` are columns that no field has, such as the bank of what is known to be of one;
    `visible` is the view of those rows that are not hidden. `convert` says of a field how a value
    is written and read, where that does not follow from its annotation."""

    def __init__(
        self,
        name: str,
        record: Callable[..., Record],
        key: str = "bank, id",
        *,
        renamed: Mapping[str, str] = _NO_NAMES,
        nested: Mapping[str, type] = _NO_RECORDS,
        fields: Sequence[str] = (),
        visible: str = "",
        beside: tuple[str, ...] = (),
        convert: Mapping[str, tuple[Convert, Convert]] = _NO_CONVERSIONS,
    ) -> None:
        self.name = name
        self.key = key
        self.visible = visible or name
        self._record = record
        self._renamed = renamed
        self._nested = nested
        self._only = fields
        self._beside = beside
        self._convert = convert

    # A table is described when it is first used: a question uses a few of them.

    def __getattr__(self, name: str) -> Any:
        if name not in _DESCRIBED:
            raise AttributeError(name)
        self._describe()
        return self.__dict__[name]

    if TYPE_CHECKING:
        # Its columns, as a list for a statement.
        columns: str
        names: tuple[str, ...]
        _write: tuple[tuple[str, str, Convert | None], ...]
        _read: tuple[tuple[int, Convert], ...]
        _groups: tuple[tuple[int, int, type, bool], ...]
        _keywords: tuple[str, ...]

    def _describe(self) -> None:
        write: list[tuple[str, str, Convert | None]] = []
        read: list[tuple[int, Convert]] = []
        groups: list[tuple[int, int, type, bool]] = []
        names: list[str] = []
        for field in self._only or field_annotations(self._record):
            inner = self._nested.get(field)
            if inner is not None:
                end = len(names) + len(field_annotations(inner))
                optional = field_annotations(self._record)[field].endswith("None")
                groups.append((len(names), end, inner, optional))
            for owner, part in _leaves(self._record, field, inner):
                column = self._renamed.get(part, part)
                to_cell, from_cell = self._convert.get(part) or _conversions(owner, part)
                if from_cell is not None:
                    read.append((len(names), from_cell))
                write.append((field if inner else "", part, to_cell))
                names.append(f'"{column}"' if column in _RESERVED else column)
        self.names = tuple(names)
        self.columns = ", ".join(names)
        self._write, self._read, self._groups = tuple(write), tuple(read), tuple(groups)
        self._keywords = tuple(self._only)

    def of(self, alias: str) -> str:
        """The columns, of a table that a statement calls by another name."""
        return ", ".join(f"{alias}.{name}" for name in self.names)

    def row(self, record: Record) -> Row:
        """A record as a row."""
        cells: list[Any] = []
        for outer, field, to_cell in self._write:
            owner = getattr(record, outer) if outer else record
            value = None if owner is None else getattr(owner, field)
            cells.append(value if to_cell is None or owner is None else to_cell(value))
        return tuple(cells)

    def record(self, row: Sequence[Any]) -> Record:
        """A row as a record."""
        cells = list(row)
        for place, from_cell in self._read:
            cells[place] = from_cell(cells[place])
        for first, end, inner, optional in reversed(self._groups):
            there = not optional or cells[first] is not None
            cells[first:end] = [inner(*cells[first:end]) if there else None]
        if self._keywords:
            return self._record(**dict(zip(self._keywords, cells, strict=True)))
        return self._record(*cells)

    def records(self, rows: Iterable[Sequence[Any]]) -> list[Record]:
        """Rows as records."""
        return [self.record(row) for row in rows]

    def find(
        self,
        db: Database,
        bank: str | None,
        rest: str = "",
        values: Sequence[Any] = (),
        *,
        hidden: bool = True,
    ) -> list[Record]:
        """The records of a bank, or of all that may be seen. `rest` are more conditions and the
        order. Those that are `hidden` are left out on demand."""
        sql, all_values = self._select(db, bank, rest, values, hidden)
        return self.records(db.all(sql, all_values))

    def first(
        self,
        db: Database,
        bank: str | None,
        rest: str = "",
        values: Sequence[Any] = (),
        *,
        hidden: bool = True,
    ) -> Record | None:
        """The first of them."""
        sql, all_values = self._select(db, bank, rest, values, hidden)
        row = db.one(sql, all_values)
        return self.record(row) if row else None

    def stream(
        self,
        db: Database,
        bank: str | None,
        rest: str = "",
        values: Sequence[Any] = (),
        *,
        hidden: bool = True,
    ) -> Iterator[Record]:
        """The records one by one, for results that may be large."""
        sql, all_values = self._select(db, bank, rest, values, hidden)
        return map(self.record, db.stream(sql, all_values))

    def _select(
        self, db: Database, bank: str | None, rest: str, values: Sequence[Any], hidden: bool
    ) -> tuple[str, tuple[Any, ...]]:
        of_banks = "bank" in self.names or "bank" in self._beside
        where, own = db.in_bank(bank) if of_banks else ("true", ())
        source = self.name if hidden else self.visible
        return f'SELECT {self.columns} FROM "{source}" WHERE {where} {rest}', (*own, *values)

    def add(self, db: Database, records: Iterable[Record], *beside: str) -> None:
        """Add records; `beside` are the values of the columns that a record does not have."""
        self._add(insert, db, records, beside)

    def add_missing(self, db: Database, records: Iterable[Record], *beside: str) -> None:
        """Add records, but those of whose key there is one."""
        self._add(insert_missing, db, records, beside)

    def put(self, db: Database, record: Record, *beside: str) -> None:
        """Add a record, in the place of one with the same key."""
        columns = ", ".join((*self._beside, self.columns))
        db.run(upsert(self.name, columns, self.key), (*beside, *self.row(record)))

    def _add(
        self,
        statement: Callable[[str, str], str],
        db: Database,
        records: Iterable[Record],
        beside: tuple[str, ...],
    ) -> None:
        sql = statement(self.name, ", ".join((*self._beside, self.columns)))
        db.run_many(sql, ((*beside, *self.row(record)) for record in records))

    def delete(self, db: Database, bank: str, rest: str = "", values: Sequence[Any] = ()) -> int:
        """Remove records of a bank; returns how many."""
        return db.run(f'DELETE FROM "{self.name}" WHERE bank = ? {rest}', (bank, *values))


_DESCRIBED = ("columns", "names", "_write", "_read", "_groups", "_keywords")


def field_annotations(record: object) -> Mapping[str, str]:
    """The fields of a record, or the arguments of what makes one, each with its annotation."""
    found: Mapping[str, str] = getattr(record, "__annotations__", {})
    return {name: found[name] for name in found if name != "return"}


def _leaves(record: object, field: str, inner: type | None) -> list[tuple[object, str]]:
    """The fields that have a column, each with the record that has it."""
    return [(inner, part) for part in field_annotations(inner)] if inner else [(record, field)]


def _conversions(record: object, field: str) -> tuple[Convert | None, Convert | None]:
    """How a value of a field becomes one of a column, and back; None for as it is."""
    annotation = field_annotations(record)[field]
    kind = annotation.removesuffix(" | None")
    optional = kind != annotation
    if kind == "str":
        return (None if optional else text), None
    if kind in ("int", "float"):
        return None, None
    if kind == "bool":
        return (_optional(int), _optional(bool)) if optional else (int, bool)
    if kind.startswith("tuple["):
        return _as_json, (lambda cell: _optional(tuple)(loads(cell))) if optional else _as_tuple
    if kind.startswith(("Mapping[", "dict[")):
        return _as_json, loads
    enum = getattr(sys.modules[getattr(record, "__module__", "")], kind, None)
    if not (isinstance(enum, type) and issubclass(enum, Enum)):
        raise TypeError(f"The field {field} is {annotation}, which no column holds.")
    by_value = {one.value: one for one in enum}

    def read(value: Any) -> Any:
        # Four times as fast as a call of the enum, which says what is wrong with any other value.
        found = by_value.get(value)
        return found if found is not None else None if optional and not value else enum(value)

    return (lambda one: one.value if one else "") if optional else lambda one: one.value, read


def _optional(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


def _as_json(value: object) -> str:
    return text(dumps(value))


def _as_tuple(value: str) -> tuple[Any, ...]:
    return tuple(loads(value))


# The tables that several subjects ask; the others are declared where they are read and written.
EXCHANGE = Table("exchange", Exchange)
COMMIT = Table("commit", Commit, visible="visible_commit")
PASSAGE = Table("passage", Passage, "number")
