"""The access fence: every method of the protocol, and every SQL statement that it runs."""

from __future__ import annotations

import inspect
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest
from tests.store.conformance.samples import BANK, NOON, OTHER, prepared

from holdfast.errors import ForbiddenError, NotFoundError
from holdfast.model.query import RecordFilter, TimelinePosition
from holdfast.principal import Level, Principal
from holdfast.store.access_fence import classify_methods, fence_store
from holdfast.store.postgres.read_only import PostgresReadStore
from holdfast.store.protocol import ReadStore, Store
from holdfast.store.protocol.overview import CommitFilter
from holdfast.store.sql.rows import records
from holdfast.store.sqlite.read_only import SqliteReadStore
from holdfast.store.sqlite.store import SqliteStore

ARGUMENTS: dict[str, Any] = {
    "kind": "",  # any
    "str": "x",
    "int": 5,
    "Sequence[str]": ("turn",),
    "RecordFilter": RecordFilter(file="a.py"),
    "TimelinePosition": TimelinePosition(NOON, "turn", "t1", BANK),
    "CommitFilter": CommitFilter(),
}
# It lists all banks; its result is filtered afterwards.
ALL_IDS = "SELECT id FROM bank ORDER BY id"


def methods_with_bank(annotation: str) -> list[str]:
    """The methods of the protocol whose parameter `bank` is annotated so."""
    found: list[str] = []
    for name, method in inspect.getmembers(Store, inspect.isfunction):
        bank = inspect.signature(method).parameters.get("bank")
        if bank is not None and bank.annotation == annotation:
            found.append(name)
    return found


def arguments(name: str, bank: str | None) -> dict[str, Any]:
    given: dict[str, Any] = {"bank": bank}
    for parameter in inspect.signature(getattr(Store, name)).parameters.values():
        wanted = parameter.default is inspect.Parameter.empty and parameter.name != "self"
        if wanted and parameter.name != "bank":
            kind = parameter.name if parameter.name in ARGUMENTS else str(parameter.annotation)
            given[parameter.name] = ARGUMENTS.get(kind, ())
    return given


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    def make() -> Store:
        return SqliteStore(tmp_path / "home" / "memory.db")

    with prepared(make) as made:
        yield made


@pytest.mark.parametrize("name", methods_with_bank("str | None"))
def test_all_banks_are_those_that_are_seen_in_every_statement(store: Store, name: str) -> None:
    statements: list[str] = []
    connection = cast("sqlite3.Connection", cast("Any", store).connection.raw)
    mine = fence_store(store, Principal("a", (BANK,), Level.ADMIN))
    with store.transaction():
        connection.set_trace_callback(statements.append)
        found = getattr(mine, name)(**arguments(name, None))
        list(found) if inspect.isgenerator(found) else None
        connection.set_trace_callback(None)
    # Statements of the full-text index itself are left out.
    own = [one for one in statements if ALL_IDS not in one and not one.startswith(("--", "PRAGMA"))]
    own = [one for one in own if "'main'." not in one]
    assert statements, "no statement was run"
    assert all(BANK in one or records.bank_word(BANK) in one for one in own), own


@pytest.mark.parametrize("name", [*methods_with_bank("str | None"), *methods_with_bank("str")])
def test_another_bank_is_not_reached_by_any_method(store: Store, name: str) -> None:
    mine = fence_store(store, Principal("a", (BANK,), Level.ADMIN))
    if name == "total_spent":
        return  # numbers that keep models within their caps, of all that ask
    with store.transaction(), pytest.raises((NotFoundError, ForbiddenError)):
        getattr(mine, name)(**arguments(name, OTHER))


def test_an_unclassified_method_is_refused(store: Store) -> None:
    mine = fence_store(store, Principal("a", (BANK,), Level.ADMIN))
    shut = [name for name, rule in classify_methods().items() if not rule]
    assert "scrub" in shut and "api_keys" in shut
    for name in shut:
        with pytest.raises(ForbiddenError):
            getattr(mine, name)


def test_a_store_is_unrestricted_again_after_its_fence(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "home" / "memory.db")) as whole:
        mine = fence_store(whole, Principal("a", (BANK,), Level.READ))
        other = mine.borrow_reader()
        assert other is not None and whole.within == (BANK,)
        mine.return_reader(other)
        cast("Any", mine).remove_restrictions()
        assert whole.within is None
        again = whole.borrow_reader()
        assert isinstance(again, SqliteStore) and again.within is None
        again.close()


@pytest.mark.parametrize("store", [SqliteReadStore, PostgresReadStore])
def test_a_store_for_reading_has_no_method_that_writes(store: type) -> None:
    writes = {name for name in dir(Store) if not name.startswith("_")} - set(dir(ReadStore))
    assert "put_turns" in writes and not writes & set(dir(store))
