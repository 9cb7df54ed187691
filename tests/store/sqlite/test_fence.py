"""What a principal of some banks can see and change, over every table and every method."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import ForbiddenError, HoldfastError, NotFoundError
from holdfast.principal import Level, Principal
from holdfast.store.protocol import SUBJECTS, Store
from holdfast.store.sqlite.store import SqliteStore
from tests.store.conformance.samples import BANK, OTHER, a_passage, prepared
from tests.support.empty_memory import put_empty_memory

OPEN, NO_BANK = {"model_call"}, "9999ffff9999ffff"
REFUSED = "NotFoundError: There is no such bank."
EXAMPLES: dict[str, Any] = {"word": "pull", "kind": "pull", "terms": ("lantern",)}
VALUES = {"INTEGER": 1, "REAL": 1.0, "BLOB": b"", "TEXT": "[]"}


def tables(store: Store) -> dict[str, dict[str, str]]:
    """The tables with a bank, each with the types of its columns."""
    names = store.database.all(
        "SELECT name FROM main.sqlite_master WHERE type = 'table' AND sql LIKE '%bank TEXT%' "
        "ORDER BY name"
    )
    return {
        name: dict(store.database.all("SELECT name, type FROM pragma_table_info(?)", (name,)))
        for (name,) in names
        if name not in OPEN
    }


def put_a_row(store: Store, table: str, columns: dict[str, str], bank: str) -> None:
    values = {name: VALUES[kind] for name, kind in columns.items()} | {"bank": bank}
    for name in ("alias", "path", "id", "number", "seq"):
        if name in values:
            values[name] = f"{bank} {name}" if columns[name] == "TEXT" else int(bank[:3], 16)
    given = ", ".join(f'"{name}"' for name in values)
    store.database.run(
        f'INSERT OR IGNORE INTO "{table}" ({given}) VALUES ({", ".join("?" * len(values))})',
        tuple(values.values()),
    )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    def make() -> Store:
        return SqliteStore(put_empty_memory(tmp_path / "home" / "memory.db"))

    with prepared(make) as made:
        made.database.run("PRAGMA foreign_keys = OFF")
        with made.transaction():
            for table, columns in tables(made).items():
                for bank in (BANK, OTHER):
                    put_a_row(made, table, columns, bank)
            made.passages.add([a_passage("t9", "a lantern", bank) for bank in (BANK, OTHER)])
        yield made


def only(level: Level, *banks: str) -> Principal:
    return Principal("a", banks, level)


def test_every_table_and_view_shows_the_visible_banks_alone(store: Store) -> None:
    views = store.database.all("SELECT name FROM main.sqlite_master WHERE type = 'view'")
    wanted = [*tables(store), *(name for (name,) in views)]
    assert len(wanted) > 60
    full = [
        name
        for name in wanted
        if store.database.all(f'SELECT 1 FROM "{name}" WHERE bank = ?', (OTHER,))
    ]
    assert len(full) > 50
    store.database.restrict(only(Level.ADMIN, BANK))
    for name in wanted:
        assert {bank for (bank,) in store.database.all(f'SELECT bank FROM "{name}"')} <= {BANK}
    assert store.database.all("SELECT id FROM bank") == [(BANK,)]
    assert not store.database.all("SELECT * FROM api_key")
    store.database.restrict(None)
    for name in full:
        assert store.database.all(f'SELECT 1 FROM "{name}" WHERE bank = ?', (OTHER,))


def test_no_row_of_another_bank_can_be_changed(store: Store) -> None:
    before = {name: store.database.all(f'SELECT * FROM "{name}"') for name in tables(store)}
    described = tables(store)
    store.database.restrict(only(Level.ADMIN, BANK))
    for name, columns in described.items():
        column = next(one for one in columns if one != "bank")
        for change in (
            f"UPDATE \"{name}\" SET bank = '{OTHER}'",
            f'UPDATE "{name}" SET "{column}" = "{column}"',
            f'DELETE FROM "{name}"',
        ):
            try:
                with store.transaction():
                    store.database.run(change)
            except HoldfastError:
                continue
            pytest.fail(change)
        with pytest.raises(NotFoundError), store.transaction():
            put_a_row(store, name, columns, OTHER)
    with pytest.raises(NotFoundError), store.transaction():
        store.database.run(
            "INSERT INTO api_key SELECT * FROM main.api_key UNION SELECT "
            "'1', '', '', '', '', '', '', '', '', ''"
        )
    store.database.restrict(None)
    assert {name: store.database.all(f'SELECT * FROM "{name}"') for name in before} == before


def test_a_principal_that_reads_changes_nothing(store: Store) -> None:
    described = tables(store)
    for banks in ((BANK,), None):
        store.database.restrict(Principal("a", banks, Level.READ))
        for name, columns in described.items():
            with pytest.raises(ForbiddenError), store.transaction():
                put_a_row(store, name, columns, BANK)


class Done(Exception):
    """Undoes what a transaction wrote."""


def methods() -> Iterator[tuple[str, str, inspect.Signature]]:
    for subject, place in SUBJECTS.items():
        module, _, name = place.rpartition(".")
        made = getattr(import_module(f"holdfast.store.{module}"), name)
        for method, function in inspect.getmembers(made, inspect.isfunction):
            signature = inspect.signature(function)
            if "bank" in signature.parameters and not method.startswith("_"):
                yield subject, method, signature


def test_no_method_reaches_another_bank(store: Store) -> None:
    asked = list(methods())
    assert len(asked) > 150
    store.database.restrict(only(Level.ADMIN, BANK))
    for subject, method, signature in asked:
        given: dict[str, Any] = {
            name: EXAMPLES.get(name) or {"int": 5, "str": "x"}.get(one.annotation, ())
            for name, one in signature.parameters.items()
            if name not in ("self", "bank") and one.default is inspect.Parameter.empty
        }
        ask = partial(outcome, store, getattr(getattr(store, subject), method), given)
        assert ask(OTHER) in (ask(NO_BANK), REFUSED), f"{subject}.{method} tells of another bank"


def outcome(store: Store, method: Callable[..., Any], given: dict[str, Any], bank: str) -> str:
    """What a method returns or raises for a bank, without its name. What it wrote is undone."""
    try:
        with store.transaction():
            found = method(**given, bank=bank)
            raise Done(repr(list(found) if inspect.isgenerator(found) else found))
    except (HoldfastError, AttributeError, KeyError, TypeError, ValueError, Done) as error:
        return f"{type(error).__name__}: {error}".replace(bank, "")


def test_a_store_is_whole_again_afterwards_and_lends_readers_as_it_is(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "home" / "memory.db")) as store:
        store.database.restrict(only(Level.READ, BANK))
        other = store.borrow_reader()
        assert other is not None and other.database.within == (BANK,)
        store.return_reader(other)
        store.database.restrict(None)
        assert store.borrow_reader() is other
        assert other.database.within is None
