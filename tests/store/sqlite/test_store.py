from __future__ import annotations

import os
import random
import sqlite3
from contextlib import closing
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from holdfast.errors import StoreBusyError, StoreCorruptError, StoreError, StoreFullError
from holdfast.model.bank import Bank, Disposition
from holdfast.model.curation import Action, Curation
from holdfast.model.ledgers.lines import FailedLine, Source
from holdfast.model.query import Passage
from holdfast.model.records import (
    Digest,
    Exchange,
    Origin,
    Role,
    Session,
    ToolCall,
    Turn,
)
from holdfast.model.team import Commit
from holdfast.model.trust import Trust
from holdfast.store.sqlite.store import SqliteStore
from tests.support.open_files import open_files_in

NOON = "2026-03-01T12:00:00Z"


def connection_of(store: SqliteStore) -> sqlite3.Connection:
    return cast(sqlite3.Connection, store.__dict__["_raw"])


def filled_store(path: Path, turns: int) -> SqliteStore:
    store = SqliteStore(path)
    with store.transaction():
        store.banks.add(Bank("b1", "harbour", NOON))
        store.sessions.add(Session("b1", "s1", "h1", "claude-code"))
        store.turns.put(big_turn(seq) for seq in range(1, turns + 1))
    return store


def big_turn(seq: int) -> Turn:
    return Turn("b1", f"t{seq}", "s1", seq, NOON, Role.USER, Trust.USER, f"{seq} " * 1000)


def read_everything(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        for bank in store.banks.all():
            for session in store.sessions.latest(bank.id):
                store.turns.of_session(bank.id, session.id)
        store.records.counts()
        store.passages.search(None, ["anchor"])


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_home_and_files_are_private_whatever_the_umask(tmp_path: Path) -> None:
    path = tmp_path / "home" / "memory.db"
    before = os.umask(0)
    try:
        with closing(filled_store(path, 1)):
            modes = {file.name: mode_of(file) for file in path.parent.iterdir()}
    finally:
        os.umask(before)
    assert mode_of(path.parent) == 0o700
    assert modes == {"memory.db": 0o600, "memory.db-wal": 0o600, "memory.db-shm": 0o600}


def test_a_home_that_others_may_read_is_made_private(tmp_path: Path) -> None:
    home = tmp_path / "home"
    filled_store(home / "memory.db", 1).close()
    for folder in ("vectors", "backups"):
        (home / folder).mkdir()
    home.chmod(0o755)
    SqliteStore(home / "memory.db").close()
    assert mode_of(home) == 0o700


def test_a_file_that_others_may_read_is_made_private(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    filled_store(path, 1).close()
    path.chmod(0o644)
    with closing(SqliteStore(path)) as store:
        store.sources.set_state(1, "live", "")
        assert mode_of(path) == 0o600


def test_the_journal_is_in_wal_mode_and_foreign_keys_are_enforced(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "memory.db")) as store:
        connection = connection_of(store)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA foreign_keys").fetchone() == (1,)
        with pytest.raises(StoreError, match="FOREIGN KEY"):
            store.banks.add_alias("no such bank", "name:x")


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"Dear diary, this is no database.\n" * 300, id="text"),
        pytest.param(random.Random(1).randbytes(50_000), id="random bytes"),
        pytest.param(b"SQLite format 3\x00" + random.Random(2).randbytes(50_000), id="only a head"),
    ],
)
def test_a_file_that_is_not_a_database_is_refused_and_not_changed(
    content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(content)
    with pytest.raises(StoreCorruptError) as caught:
        SqliteStore(path)
    assert "doctor --fix" in caught.value.remedy
    assert str(path) in caught.value.message
    assert open_files_in(tmp_path) == []
    assert path.read_bytes() == content


def test_the_database_of_another_program_is_refused_and_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE users (name TEXT)")
    content = path.read_bytes()
    with pytest.raises(StoreCorruptError):
        SqliteStore(path).close()
    assert path.read_bytes() == content


@pytest.mark.parametrize("kept", [50, 100, 1000, 4096, 0.3, 0.9])
def test_a_truncated_database_is_reported_as_damaged(kept: float, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    filled_store(path, 200).close()
    content = path.read_bytes()
    path.write_bytes(content[: int(kept if kept > 1 else kept * len(content))])
    with pytest.raises(StoreCorruptError) as caught:
        read_everything(path)
    assert "doctor --fix" in caught.value.remedy


def test_a_database_with_damaged_pages_is_reported_as_damaged(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    filled_store(path, 200).close()
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    with pytest.raises(StoreCorruptError) as caught:
        read_everything(path)
    assert "doctor --fix" in caught.value.remedy


def test_a_store_locked_for_too_long_is_reported_as_busy(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(filled_store(path, 1)) as store, closing(sqlite3.connect(path)) as holder:
        connection_of(store).execute("PRAGMA busy_timeout = 50")
        holder.isolation_level = None
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusyError) as caught, store.transaction():
            store.turns.put([big_turn(2)])
        assert caught.value.remedy
        assert len(store.turns.of_session("b1", "s1")) == 1, "reading goes on meanwhile"
        holder.execute("ROLLBACK")
        with store.transaction():
            store.turns.put([big_turn(2)])
        assert len(store.turns.of_session("b1", "s1")) == 2


def test_a_full_disk_leaves_nothing_partially_written(tmp_path: Path) -> None:
    with closing(filled_store(tmp_path / "memory.db", 5)) as store:
        connection = connection_of(store)
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages + 20}")
        with pytest.raises(StoreFullError) as caught, store.transaction():
            store.banks.add(Bank("b2", "new", NOON))
            for seq in range(6, 500):
                store.turns.put([big_turn(seq)])
        assert caught.value.remedy
        assert store.turns.of_session("b1", "s1") == [big_turn(seq) for seq in range(1, 6)]
        assert store.banks.get("b2") is None
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.execute(f"PRAGMA max_page_count = {pages + 2000}")
        with store.transaction():
            store.turns.put([big_turn(6)])
        assert store.turns.next_seq("b1", "s1") == 7


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write into any folder")
def test_a_read_only_folder_is_reported(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    with pytest.raises(StoreError) as caught:
        SqliteStore(home / "memory.db")
    assert "HOLDFAST_HOME" in caught.value.remedy


def test_a_home_that_is_a_file_is_reported(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("not a folder")
    with pytest.raises(StoreError) as caught:
        SqliteStore(home / "memory.db")
    assert "HOLDFAST_HOME" in caught.value.remedy
    assert home.read_text() == "not a folder"


def test_a_folder_in_the_place_of_the_file_is_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.mkdir(mode=0o755)
    with pytest.raises(StoreError):
        SqliteStore(path)
    assert mode_of(path) == 0o755


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE curation SET text = 'other'",
        "DELETE FROM curation",
        "DELETE FROM curation WHERE seq = 1",
        pytest.param(
            "INSERT OR REPLACE INTO curation VALUES (1, 'b1', '', 'forget', 'turn/1', '', '')",
        ),
    ],
)
def test_a_logged_decision_cannot_be_changed_by_any_sql(sql: str, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(SqliteStore(path)) as store:
        kept = store.curation.append(
            Curation(0, "b1", NOON, Action.CORRECT, "turn/1", "right", "ada")
        )
        with closing(sqlite3.connect(path)) as raw:
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                raw.execute(sql)
            raw.rollback()
        assert store.curation.log("b1") == [kept]


def columns_of(path: Path, table: str) -> set[str]:
    with closing(sqlite3.connect(path)) as raw:
        return {row[1] for row in raw.execute(f'PRAGMA table_info("{table}")')}


@pytest.mark.parametrize(
    ("table", "record", "more"),
    [
        ("source", Source, ()),
        ("session", Session, ()),
        ("exchange", Exchange, ("features",)),
        ("digest", Digest, ()),
        ("commit", Commit, ()),
        ("passage", Passage, ("number", "scope")),
        ("failed_line", FailedLine, ()),
        ("curation", Curation, ()),
    ],
)
def test_a_table_has_the_columns_of_its_record(
    table: str, record: type[Any], more: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path).close()
    names = {field.name for field in fields(record)} if is_dataclass(record) else record._fields
    assert columns_of(path, table) == set(names) | set(more)


def test_nested_fields_of_turns_and_banks_have_their_own_columns(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path).close()
    turn = {field.name for field in fields(Turn)}
    tool, origin = set(ToolCall._fields), set(Origin._fields)
    assert columns_of(path, "turn") == (turn - {"origin"}) | (tool - {"name"}) | origin
    bank, disposition = ({f.name for f in fields(r)} for r in (Bank, Disposition))
    assert columns_of(path, "bank") == (bank - {"disposition", "aliases"}) | disposition


def test_tables_without_rowid_start_with_their_key_columns_in_order(tmp_path: Path) -> None:
    """SQLite 3.40's `quick_check` takes another order for damage."""
    SqliteStore(tmp_path / "memory.db").close()
    with closing(sqlite3.connect(tmp_path / "memory.db")) as raw:
        tables = raw.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%WITHOUT ROWID%'"
        )
        names = [name for (name,) in tables]
        assert len(names) > 3
        for name in names:
            keys = [row[5] for row in raw.execute(f'PRAGMA table_info("{name}")') if row[5]]
            assert keys and keys == sorted(keys), name


def test_a_reader_that_comes_back_after_its_store_was_closed_is_closed(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "memory.db")
    late = store.borrow_reader()
    assert late is not None and late.banks.all() == []
    store.close()
    store.return_reader(late)
    with pytest.raises(StoreError, match="closed"):
        late.banks.all()
