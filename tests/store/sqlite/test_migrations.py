from __future__ import annotations

import os
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.app.ingest.stages import add_missing_parts
from holdfast.errors import NewerSchemaError, StoreError, StoreFullError
from holdfast.model.bank import Bank
from holdfast.model.query import Passage
from holdfast.store.export_tables import DERIVED_TABLES, LOCAL_TABLES, TABLES
from holdfast.store.postgres.schema import MIGRATIONS as POSTGRES_MIGRATIONS
from holdfast.store.sql.migrations import read_migrations
from holdfast.store.sql.rows import index_scope
from holdfast.store.sql.table import PASSAGE
from holdfast.store.sqlite.connection import open_database, translated
from holdfast.store.sqlite.migrate import APPLICATION_ID, KEPT_COPIES, migrate
from holdfast.store.sqlite.read_only import SqliteReadStore
from holdfast.store.sqlite.schema import MIGRATIONS, VERSION
from holdfast.store.sqlite.store import SqliteStore
from tests.support.killed_processes import kill_after
from tests.support.waiting import wait_until
from tests.support.warm_commands import warm_interpreter

NOON = "2026-03-01T12:00:00.000Z"
ONE = ("one", "CREATE TABLE log (step TEXT); INSERT INTO log VALUES ('one; or more');")
TWO = (
    "two",
    """
    -- A comment; with a semicolon.
    CREATE TABLE two (x);
    CREATE TRIGGER two_added AFTER INSERT ON two BEGIN
        INSERT INTO log VALUES ('trigger'); INSERT INTO log VALUES ('again');
    END;
    INSERT INTO log VALUES ('two');
    """,
)
THREE = ("three", "INSERT INTO two VALUES (1); INSERT INTO log VALUES ('three')")
BROKEN = ("broken", "INSERT INTO log VALUES ('lost'); CREATE TABLE x (y); SELECT * FROM nowhere;")


def version_and_log(path: Path) -> tuple[int, list[str]]:
    with closing(sqlite3.connect(path)) as raw:
        (version,) = raw.execute("PRAGMA user_version").fetchone()
        return version, [step for (step,) in raw.execute("SELECT step FROM log ORDER BY rowid")]


def backups_of(path: Path) -> list[Path]:
    return sorted((path.parent / "backups").glob("*.db"))


def test_a_new_database_runs_every_step_and_makes_no_backup(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path, [ONE]).close()
    assert version_and_log(path) == (1, ["one; or more"])
    assert not (tmp_path / "backups").exists()


def test_a_database_is_backed_up_once_before_an_upgrade(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path, [ONE]).close()
    SqliteStore(path, [ONE, TWO, THREE]).close()
    done = (3, ["one; or more", "two", "trigger", "again", "three"])
    assert version_and_log(path) == done
    (copy,) = backups_of(path)
    assert copy.name == "memory-schema1-1.db" and copy.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "backups").stat().st_mode & 0o777 == 0o700
    assert version_and_log(copy) == (1, ["one; or more"])


def test_a_step_that_fails_repeatedly_makes_one_backup(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path, [ONE]).close()
    for _ in range(KEPT_COPIES + 2):
        with pytest.raises(StoreError):
            SqliteStore(path, [ONE, BROKEN])
    (copy,) = backups_of(path)
    assert version_and_log(copy) == (1, ["one; or more"])
    assert [part.name for part in copy.parent.iterdir()] == [copy.name]


def test_the_first_backup_before_an_upgrade_is_kept_however_often_it_fails(tmp_path: Path) -> None:
    """Between the tries an older program writes, so that every copy is another one."""
    path = tmp_path / "memory.db"
    SqliteStore(path, [ONE]).close()
    mine = tmp_path / "backups" / "memory-20261101T100000000Z.db"
    mine.parent.mkdir()
    mine.write_bytes(b"a person's own")
    for number in range(KEPT_COPIES + 3):
        with pytest.raises(StoreError):
            SqliteStore(path, [ONE, BROKEN])
        with closing(sqlite3.connect(path)) as raw, raw:
            raw.execute("INSERT INTO log VALUES (?)", (f"written {number}",))
    copies = [copy for copy in backups_of(path) if copy != mine]
    assert len(copies) == KEPT_COPIES + 1 and mine.exists()
    assert copies[0].name == "memory-schema1-1.db"
    assert version_and_log(copies[0]) == (1, ["one; or more"])
    assert version_and_log(max(copies, key=lambda c: c.stat().st_mtime_ns))[1][-1] == (
        f"written {KEPT_COPIES + 1}"
    )


def test_backups_of_earlier_upgrades_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    migrations: list[tuple[str, str]] = [ONE]
    SqliteStore(path, migrations).close()
    for number in range(2, KEPT_COPIES + 4):
        migrations.append((f"{number:03}", f"INSERT INTO log VALUES ('{number}');"))
        SqliteStore(path, migrations).close()
    versions = sorted(version_and_log(copy)[0] for copy in backups_of(path))
    assert versions == list(range(2, KEPT_COPIES + 3))


def test_an_error_names_the_step_and_suggests_no_command_that_would_fail_again(
    tmp_path: Path,
) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path, [ONE]).close()
    with pytest.raises(StoreError, match="broken") as caught:
        SqliteStore(path, [ONE, TWO, BROKEN])
    assert "nowhere" in caught.value.message
    assert "`holdfast" not in caught.value.remedy
    assert str(tmp_path / "backups" / "memory-schema1-1.db") in caught.value.remedy


def test_each_version_is_migrated_from_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(SqliteStore(path)) as store, store.transaction():
        store.banks.add(Bank("b", "b", NOON))
    folder = shutil.copytree(Path(MIGRATIONS), tmp_path / "migrations")
    (folder / f"{VERSION + 1:03}_colours.sql").write_text(
        "ALTER TABLE bank ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue';"
    )
    SqliteStore(path, read_migrations(folder)).close()
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (VERSION + 1,)
        assert raw.execute("SELECT id, colour FROM bank").fetchall() == [("b", "blue")]
    assert [copy.name for copy in backups_of(path)] == [f"memory-schema{VERSION}-1.db"]
    with pytest.raises(NewerSchemaError):
        SqliteStore(path)


def test_passages_of_an_older_version_are_found_at_once_and_by_their_parts_after_the_stages(
    tmp_path: Path,
) -> None:
    path = tmp_path / "memory.db"
    before = [step for step in read_migrations(Path(MIGRATIONS)) if step.name < "005"]
    SqliteStore(path, before).close()
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute(
            "INSERT INTO bank (id, name, created, background, skepticism, literalism, empathy) "
            "VALUES ('b', 'b', ?, '', 3, 3, 3)",
            (NOON,),
        )
        raw.executemany(
            f"INSERT INTO passage ({PASSAGE.columns}, scope) VALUES ({'?, ' * 12}?)",
            [
                (*PASSAGE.row(one), index_scope(one))
                for one in (
                    Passage("b", "turn", f"p{n}", "s", NOON, f"GradientLast 夜間 {n}")
                    for n in range(3)
                )
            ],
        )
    with closing(SqliteStore(path)) as store:
        assert len(store.passages.search("b", ["gradientlast"])) == 3
        assert store.passages.search("b", ["gradient"]) == []
        add_missing_parts(store)
        for term in ("gradient", "夜間"):
            assert len(store.passages.search("b", [term])) == 3
        assert store.check_integrity().damaged == ()


@pytest.mark.parametrize("names", [["002_late"], ["001_one", "003_three"], ["001_a", "001_b"]])
def test_migrations_are_numbered_from_one_without_a_gap(names: list[str], tmp_path: Path) -> None:
    for name in names:
        (tmp_path / f"{name}.sql").write_text("")
    with pytest.raises(ValueError, match="numbered"):
        read_migrations(tmp_path)


UPGRADE = """
import sys
from pathlib import Path
from holdfast.store.sqlite.store import SqliteStore
from holdfast.store.sql.migrations import read_migrations
migrations = read_migrations(Path(sys.argv[2]))
Path(sys.argv[3]).touch()
SqliteStore(Path(sys.argv[1]), migrations).close()
"""


def test_a_kill_during_an_upgrade_leaves_a_memory_that_the_next_one_completes(
    tmp_path: Path,
) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path).close()
    rows = [(f"b{n}", f"bank {n}", NOON, "", 3, 3, 3) for n in range(20_000)]
    with closing(sqlite3.connect(path)) as raw, raw:
        names = "id, name, created, background, skepticism, literalism, empathy"
        raw.executemany(f"INSERT INTO bank ({names}) VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    folder = shutil.copytree(Path(MIGRATIONS), tmp_path / "migrations")
    for number in range(VERSION + 1, VERSION + 9):
        (folder / f"{number:03}_more.sql").write_text(
            f"ALTER TABLE bank ADD COLUMN more{number} TEXT NOT NULL DEFAULT '';"
            f"UPDATE bank SET more{number} = name || '{number}';"
        )
    last = len(read_migrations(folder))
    for wait in (0.0, 0.02, 0.05, 0.1, 0.2, 0.4):
        arguments = [str(path), str(folder), str(tmp_path / "begun")]
        program = warm_interpreter().start(arguments, os.environ, code=UPGRADE)
        wait_until((tmp_path / "begun").exists, "it begins", every_s=0.001)
        kill_after(program, wait)
        (tmp_path / "begun").unlink()
        with closing(sqlite3.connect(path)) as raw:
            (version,) = raw.execute("PRAGMA user_version").fetchone()
            assert VERSION <= version <= last
            assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert raw.execute("SELECT count(*) FROM bank").fetchone() == (len(rows),)
        for copy in backups_of(path):
            with closing(sqlite3.connect(copy)) as raw:
                assert raw.execute("SELECT count(*) FROM bank").fetchone() == (len(rows),)
    SqliteStore(path, read_migrations(folder)).close()
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (last,)
        assert raw.execute("SELECT count(*) FROM bank").fetchone() == (len(rows),)
    assert 1 <= len(backups_of(path)) <= KEPT_COPIES + 1


def test_a_database_that_is_up_to_date_is_not_backed_up(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    for _ in range(2):
        SqliteStore(path).close()
    assert not (tmp_path / "backups").exists()
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (VERSION,)


def test_a_failed_step_does_not_change_the_database(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path, [ONE]).close()
    with pytest.raises(StoreError, match="nowhere"):
        SqliteStore(path, [ONE, BROKEN])
    assert version_and_log(path) == (1, ["one; or more"])
    with closing(sqlite3.connect(path)) as raw:
        tables = [name for (name,) in raw.execute("SELECT name FROM sqlite_master")]
    assert tables == ["log"]
    SqliteStore(path, [ONE, TWO]).close()
    assert version_and_log(path) == (2, ["one; or more", "two"])


def test_a_later_step_that_fails_keeps_the_earlier_ones(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path, [ONE]).close()
    with pytest.raises(StoreError, match="nowhere"):
        SqliteStore(path, [ONE, TWO, BROKEN])
    assert version_and_log(path) == (2, ["one; or more", "two"])


def test_a_new_database_runs_all_steps_or_none(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with pytest.raises(StoreError, match="nowhere"):
        SqliteStore(path, [ONE, TWO, BROKEN])
    SqliteStore(path, [ONE, TWO]).close()
    assert version_and_log(path) == (2, ["one; or more", "two"])
    assert backups_of(path) == []


def test_a_newer_database_is_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path).close()
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA user_version = 99")
    content = path.read_bytes()
    with pytest.raises(NewerSchemaError) as caught:
        SqliteStore(path)
    assert (caught.value.found, caught.value.known) == (99, VERSION)
    assert "Upgrade" in caught.value.remedy
    assert path.read_bytes() == content
    assert not (tmp_path / "backups").exists()


def test_a_newer_database_with_another_journal_mode_is_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("CREATE TABLE future (x)")
        raw.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        raw.execute("PRAGMA user_version = 99")
    content = path.read_bytes()
    with pytest.raises(NewerSchemaError):
        SqliteStore(path)
    assert path.read_bytes() == content


def test_a_disk_that_fills_up_during_a_step_is_reported_as_full(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(open_database(path)) as connection:
        migrate(connection, path, [ONE])
        connection.execute("PRAGMA max_page_count = 20")
        big = ("big", "INSERT INTO log VALUES ('half'); INSERT INTO log VALUES (zeroblob(500000));")
        with pytest.raises(StoreFullError), translated(path):
            migrate(connection, path, [ONE, big])
        assert not connection.in_transaction
    assert version_and_log(path) == (1, ["one; or more"])


def test_a_backup_that_cannot_be_made_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path, [ONE]).close()
    (tmp_path / "backups").write_text("not a folder")
    with pytest.raises(StoreError) as caught:
        SqliteStore(path, [ONE, TWO])
    assert caught.value.remedy
    assert version_and_log(path) == (1, ["one; or more"])


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE last (x) -- no semicolon",
        "CREATE TRIGGER last AFTER INSERT ON log BEGIN SELECT 1;",
        "INSERT INTO log VALUES ('open",
    ],
)
def test_a_step_runs_to_its_last_statement_or_not_at_all(script: str, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path, [ONE]).close()
    try:
        SqliteStore(path, [ONE, ("last", script)]).close()
    except StoreError:
        return
    with closing(sqlite3.connect(path)) as raw:
        tables = [name for (name,) in raw.execute("SELECT name FROM sqlite_master")]
    assert "last" in tables


def test_without_migrating_an_older_memory_is_refused_and_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path, [ONE]).close()
    with pytest.raises(StoreError, match="older version"):
        SqliteStore(path, [ONE, TWO], create=False, as_it_is=True)
    assert version_and_log(path) == (1, ["one; or more"]) and backups_of(path) == []
    SqliteStore(path, [ONE], create=False, as_it_is=True).close()
    SqliteStore(tmp_path / "none.db", create=False, as_it_is=True).close()


KILLED = """
import os, sqlite3, sys
from pathlib import Path
from holdfast.store.sqlite.migrate import back_up

class Dying(sqlite3.Connection):
    def backup(self, target, **more):
        super().backup(target, pages=1, progress=lambda *left: os._exit(9))

path = Path(sys.argv[1])
back_up(sqlite3.connect(path, factory=Dying), path, 1)
"""


def test_an_incomplete_backup_is_not_taken_for_a_complete_one(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path, [ONE]).close()
    done = warm_interpreter().run([str(path)], os.environ, code=KILLED)
    assert done.returncode == 9 and backups_of(path) == []
    SqliteStore(path, [ONE, TWO]).close()
    assert [copy.name for copy in backups_of(path)] == ["memory-schema1-1.db"]


def test_an_older_memory_is_not_read_without_upgrading_it(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    older = ("older", "CREATE TABLE thing (name TEXT);")
    SqliteStore(path, [older]).close()
    with closing(sqlite3.connect(path)) as raw:
        raw.execute(f"PRAGMA user_version = {VERSION}")
    SqliteReadStore(path).close()
    newer = [older] * (VERSION + 1)
    with pytest.raises(StoreError, match="older version"):
        SqliteStore(path, newer, create=False, as_it_is=True)


def test_a_memory_being_created_by_another_process_reads_as_empty(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(open_database(path)), closing(SqliteReadStore(path)) as store:
        assert store.banks.all() == []


@pytest.mark.parametrize("folder", [Path(MIGRATIONS), POSTGRES_MIGRATIONS])
def test_the_schema_says_for_each_table_whether_it_is_canonical_or_derived(folder: Path) -> None:
    script = "\n".join(step.script for step in read_migrations(folder))
    create = r'CREATE (?:VIRTUAL )?TABLE "?(\w+)'
    marked = re.findall(rf"^-- ([CD])\b.*\n(?:--.*\n)*{create}", script, re.MULTILINE)
    # The counter of changes holds nothing that could be lost.
    assert {name for _, name in marked} == set(re.findall(create, script)) - {"change_counter"}
    carried = {table.name for table in TABLES} | set(LOCAL_TABLES)
    dropped = set(re.findall(r"^DROP TABLE (\w+)", script, re.MULTILINE))
    canonical = {name for mark, name in marked if mark == "C"} - dropped
    assert canonical == carried - {"withheld_turn"}
    assert {name for mark, name in marked if mark == "D"} >= set(DERIVED_TABLES)
