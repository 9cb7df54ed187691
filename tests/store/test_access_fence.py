"""The access fence: every method of the protocol, and every SQL statement that it runs."""

from __future__ import annotations

import inspect
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from holdfast.errors import ForbiddenError, NotFoundError
from holdfast.model.query import RecordFilter, TimelinePosition
from holdfast.principal import Level, Principal
from holdfast.store.access_fence import PARTS, READER_PARTS, classify_methods, fence_store
from holdfast.store.across_tables.overview import CommitFilter
from holdfast.store.across_tables.parts import ReaderParts
from holdfast.store.index.passages import LayerLimit
from holdfast.store.postgres.read_only import PostgresReadStore
from holdfast.store.protocol import Store
from holdfast.store.sql import rows
from holdfast.store.sqlite.read_only import SqliteReadStore
from holdfast.store.sqlite.store import SqliteStore
from tests.store.conformance.samples import BANK, NOON, OTHER, prepared
from tests.support.empty_memory import put_empty_memory

ARGUMENTS: dict[str, Any] = {
    "kind": "",  # any
    "word": "pull",
    "str": "x",
    "int": 5,
    "Sequence[str]": ("turn",),
    "RecordFilter": RecordFilter(file="a.py"),
    "TimelinePosition": TimelinePosition(NOON, "turn", "t1", BANK),
    "CommitFilter": CommitFilter(),
    "Sequence[LayerLimit]": [LayerLimit((), 5), LayerLimit(("summaries",), 5)],
}
# It lists all banks; its result is filtered afterwards.
ALL_IDS = "SELECT id FROM bank ORDER BY id"


def methods_with_bank(annotation: str) -> list[str]:
    """The methods of all parts, as `facts.claims`, whose parameter `bank` is annotated so."""
    found: list[str] = []
    for part, one in PARTS.items():
        for name, method in inspect.getmembers(one, inspect.isfunction):
            bank = inspect.signature(method).parameters.get("bank")
            if bank is not None and bank.annotation == annotation and not name.startswith("_"):
                found.append(f"{part}.{name}")
    assert len(found) > 30
    return found


def arguments(key: str, bank: str | None) -> dict[str, Any]:
    given: dict[str, Any] = {"bank": bank}
    part, name = key.split(".")
    for parameter in inspect.signature(getattr(PARTS[part], name)).parameters.values():
        wanted = parameter.default is inspect.Parameter.empty and parameter.name != "self"
        if wanted and parameter.name != "bank":
            kind = parameter.name if parameter.name in ARGUMENTS else str(parameter.annotation)
            given[parameter.name] = ARGUMENTS.get(kind, ())
    return given


def method_of(store: Store, key: str) -> Any:
    part, name = key.split(".")
    return getattr(getattr(store, part), name)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    def make() -> Store:
        return SqliteStore(put_empty_memory(tmp_path / "home" / "memory.db"))

    with prepared(make) as made:
        yield made


@pytest.mark.parametrize("name", methods_with_bank("str | None"))
def test_a_statement_over_all_banks_is_limited_to_the_visible_ones(store: Store, name: str) -> None:
    statements: list[str] = []
    connection = cast("sqlite3.Connection", cast("Any", store)._raw)
    mine = fence_store(store, Principal("a", (BANK,), Level.ADMIN))
    with store.transaction():
        connection.set_trace_callback(statements.append)
        found = method_of(mine, name)(**arguments(name, None))
        list(found) if inspect.isgenerator(found) else None
        connection.set_trace_callback(None)
    # Statements of the full-text index itself are left out.
    own = [one for one in statements if ALL_IDS not in one and not one.startswith(("--", "PRAGMA"))]
    own = [one for one in own if "'main'." not in one]
    assert statements, "no statement was run"
    assert all(BANK in one or rows.bank_word(BANK) in one for one in own), own


@pytest.mark.parametrize("name", [*methods_with_bank("str | None"), *methods_with_bank("str")])
def test_no_method_reaches_another_bank(store: Store, name: str) -> None:
    mine = fence_store(store, Principal("a", (BANK,), Level.ADMIN))
    if name == "model_calls.total_spent":
        return  # numbers that keep models within their caps, of all that ask
    with store.transaction(), pytest.raises((NotFoundError, ForbiddenError)):
        method_of(mine, name)(**arguments(name, OTHER))


def test_an_unclassified_method_is_refused(store: Store) -> None:
    mine = fence_store(store, Principal("a", (BANK,), Level.ADMIN))
    shut = [name for name, rule in classify_methods().items() if not rule]
    assert {"erasure.scrub", "api_keys.all", "derived.drop_all"} <= set(shut)
    for name in shut:
        with pytest.raises(ForbiddenError):
            method_of(mine, name)


def test_a_store_is_unrestricted_again_after_its_access_fence(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "home" / "memory.db")) as whole:
        mine = fence_store(whole, Principal("a", (BANK,), Level.READ))
        other = mine.borrow_reader()
        assert other is not None and whole.database.within == (BANK,)
        mine.return_reader(other)
        cast("Any", mine).remove_restrictions()
        assert whole.database.within is None
        again = whole.borrow_reader()
        assert isinstance(again, SqliteStore) and again.database.within is None
        again.close()


def test_a_read_only_store_has_no_part_that_writes(tmp_path: Path) -> None:
    with closing(SqliteReadStore(tmp_path / "memory.db")) as store:
        parts: dict[str, type] = {
            name: getattr(store, name).__class__ for name in PARTS if hasattr(store, name)
        }
    assert parts == READER_PARTS
    assert not hasattr(READER_PARTS["turns"], "put") and hasattr(PARTS["turns"], "put")
    assert issubclass(PostgresReadStore, ReaderParts) and issubclass(SqliteReadStore, ReaderParts)
