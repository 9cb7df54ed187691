from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from time import sleep

import pytest

from holdfast.errors import NewerSchemaError, StoreError, StoreFullError
from holdfast.store.protocol.git_history import Touch
from holdfast.store.sqlite.connection import open_database, translated
from holdfast.store.sqlite.migrate import APPLICATION_ID, KEPT, migrate, stand_in
from holdfast.store.sqlite.reader import SqliteReader
from holdfast.store.sqlite.schema import VERSION, steps
from holdfast.store.sqlite.store import SqliteStore

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


def test_a_fresh_database_takes_every_step_and_needs_no_backup(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path, [ONE]).close()
    assert version_and_log(path) == (1, ["one; or more"])
    assert not (tmp_path / "backups").exists()


def test_a_database_is_copied_aside_once_before_an_upgrade(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path, [ONE]).close()
    SqliteStore(path, [ONE, TWO, THREE]).close()
    done = (3, ["one; or more", "two", "trigger", "again", "three"])
    assert version_and_log(path) == done
    (copy,) = backups_of(path)
    assert copy.name == "memory-schema1-1.db" and copy.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "backups").stat().st_mode & 0o777 == 0o700
    assert version_and_log(copy) == (1, ["one; or more"])


def test_only_the_latest_copies_are_kept_and_those_of_people_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path, [ONE]).close()
    mine = tmp_path / "backups" / "memory-20261101T100000000Z.db"
    mine.parent.mkdir()
    mine.write_bytes(b"a person's own")
    for _ in range(KEPT + 2):
        with pytest.raises(StoreError):
            SqliteStore(path, [ONE, BROKEN])
    copies = [copy for copy in backups_of(path) if copy != mine]
    assert len(copies) == KEPT and mine.exists()
    assert [version_and_log(copy)[0] for copy in copies] == [1] * KEPT


UPGRADE = """
import sys
from pathlib import Path
from holdfast.store.sqlite.store import SqliteStore
print("go", flush=True)
SqliteStore(Path(sys.argv[1])).close()
"""


def test_a_kill_anywhere_in_an_upgrade_leaves_a_memory_that_the_next_one_finishes(
    tmp_path: Path,
) -> None:
    """A memory by the migrations of long ago, brought up to date by programs that are killed."""
    old = steps()[:9]
    path = tmp_path / "memory.db"
    SqliteStore(path, old).close()
    rows = [(f"b{n}", f"bank {n}", "2026-01-01", "", 3, 3, 3) for n in range(20_000)]
    with closing(sqlite3.connect(path)) as raw, raw:
        names = "id, name, created, background, skepticism, literalism, empathy"
        raw.executemany(f"INSERT INTO bank ({names}) VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    for wait in (0.0, 0.02, 0.05, 0.1, 0.2, 0.4):
        program = subprocess.Popen(
            [sys.executable, "-c", UPGRADE, str(path)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert program.stdout is not None and program.stdout.readline() == "go\n"
        sleep(wait)
        program.kill()
        program.wait()
        program.stdout.close()
        with closing(sqlite3.connect(path)) as raw:
            (version,) = raw.execute("PRAGMA user_version").fetchone()
            assert len(old) <= version <= VERSION
            assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert raw.execute("SELECT count(*) FROM bank").fetchone() == (len(rows),)
        for copy in backups_of(path):
            with closing(sqlite3.connect(copy)) as raw:
                assert raw.execute("SELECT count(*) FROM bank").fetchone() == (len(rows),)
    SqliteStore(path).close()
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (VERSION,)
        assert raw.execute("SELECT count(*) FROM bank").fetchone() == (len(rows),)
    assert 1 <= len(backups_of(path)) <= KEPT


def test_a_database_that_is_up_to_date_is_not_copied(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    for _ in range(2):
        SqliteStore(path).close()
    assert not (tmp_path / "backups").exists()
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (VERSION,)


def test_a_step_that_fails_leaves_the_database_as_it_was(tmp_path: Path) -> None:
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


def test_a_new_database_takes_all_steps_or_none(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with pytest.raises(StoreError, match="nowhere"):
        SqliteStore(path, [ONE, TWO, BROKEN])
    SqliteStore(path, [ONE, TWO]).close()
    assert version_and_log(path) == (2, ["one; or more", "two"])
    assert backups_of(path) == []


def test_backups_of_the_same_schema_do_not_replace_each_other(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path, [ONE]).close()
    for _ in range(3):
        with pytest.raises(StoreError):
            SqliteStore(path, [ONE, BROKEN])
    assert len(backups_of(path)) == 3


def test_a_newer_database_is_left_alone(tmp_path: Path) -> None:
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


def test_a_newer_database_with_another_journal_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("CREATE TABLE future (x)")
        raw.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        raw.execute("PRAGMA user_version = 99")
    content = path.read_bytes()
    with pytest.raises(NewerSchemaError):
        SqliteStore(path)
    assert path.read_bytes() == content


def test_a_disk_that_fills_up_in_a_step_is_said_to_be_full(tmp_path: Path) -> None:
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
def test_a_step_is_taken_to_its_last_word_or_not_at_all(script: str, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path, [ONE]).close()
    try:
        SqliteStore(path, [ONE, ("last", script)]).close()
    except StoreError:
        return
    with closing(sqlite3.connect(path)) as raw:
        tables = [name for (name,) in raw.execute("SELECT name FROM sqlite_master")]
    assert "last" in tables


def test_asked_for_as_it_is_an_older_memory_is_refused_and_left_alone(tmp_path: Path) -> None:
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


def test_a_backup_that_a_kill_cut_short_is_not_taken_for_one(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path, steps()[:1]).close()
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], env=env)
    assert done.returncode == 9 and backups_of(path) == []
    SqliteStore(path).close()
    assert [copy.name for copy in backups_of(path)] == ["memory-schema1-1.db"]


def test_an_older_memory_that_cannot_be_changed_can_still_be_asked(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path, steps()[:2]).close()
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as frozen:
        stand_in(frozen, steps()[2:])
        store = SqliteReader(frozen, path)
        assert (store.counts().turns, store.sessions(None), store.find(None, "", "a")) == (
            0,
            [],
            [],
        )
        assert store.put_away(None, "", "a") == []


def test_columns_that_an_older_memory_lacks_are_empty(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    older = ("older", "CREATE TABLE thing (name TEXT); INSERT INTO thing VALUES ('pen');")
    newer = ("newer", "ALTER TABLE thing ADD COLUMN owner TEXT NOT NULL DEFAULT 'nobody';")
    SqliteStore(path, [older]).close()
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as frozen:
        stand_in(frozen, [newer])
        assert frozen.execute("SELECT name, owner FROM thing").fetchall() == [("pen", "nobody")]


def test_what_commits_changed_becomes_known_by_file(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    before = [name for name, _ in steps()].index("014_anchors")
    SqliteStore(path, steps()[:before]).close()
    time = "2026-03-01T12:00:00.000Z"
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute(
            "INSERT INTO bank (id, name, created, background, skepticism, literalism, empathy) "
            "VALUES ('b', 'b', ?, '', 3, 3, 3)",
            (time,),
        )
        raw.execute(
            'INSERT INTO "commit" (bank, id, time, author, email, subject, body, files, parents, '
            "trust) VALUES ('b', 'c1', ?, 'Ann', '', 'Move it', '', '[\"new.py\"]', '[]', 'team')",
            (time,),
        )
        changes = '[["new.py","R","old.py",3,1,false]]'
        raw.execute("INSERT INTO patch VALUES ('b', 'c1', ?, '')", (changes,))
    with closing(SqliteStore(path)) as store:
        assert store.touches("b", "old.py", "", 9) == [Touch("old.py", time, "c1", "W", "new.py")]
        came = Touch("new.py", time, "c1", "R", "old.py", 3, 1)
        assert store.touched_before("b", "new.py", time) == came
