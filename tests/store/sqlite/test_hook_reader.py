from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.errors import StoreError
from holdfast.model.bank import Bank
from holdfast.store.sqlite.hook_reader import HookReader
from holdfast.store.sqlite.store import SqliteStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "50% of #1, it's a home?" / "memory.db"
    with closing(SqliteStore(path)) as store, store.transaction():
        store.banks.add(Bank("b1", "harbour", "2026-03-01T12:00:00Z"))
    return path


def test_a_hook_reads_what_is_stored_also_while_it_is_written(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        with store.transaction():
            store.banks.add(Bank("b2", "quay", "2026-03-02T12:00:00Z"))
        with closing(HookReader(str(path))) as reader:
            assert [bank.id for bank in reader.banks.all()] == ["b1", "b2"]


def test_a_hook_can_write_nothing(path: Path) -> None:
    with closing(HookReader(str(path))) as reader, pytest.raises(StoreError):
        reader.database.run("DELETE FROM bank")


@pytest.mark.parametrize("version", [1, 99])
def test_a_memory_of_another_version_is_refused(path: Path, version: int) -> None:
    with closing(sqlite3.connect(path)) as raw:
        raw.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(StoreError):
        HookReader(str(path))


def test_a_file_that_is_no_database_and_a_missing_one_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    other.write_bytes(b"no database" * 100)
    for path in (other, tmp_path / "missing.db"):
        with pytest.raises(StoreError):
            HookReader(str(path))
    assert not (tmp_path / "missing.db").exists()
