"""Memories of earlier releases, recorded in `tests/recorded/memories`, opened by this program."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.app.background.worker import run_worker
from holdfast.app.core.backends import open_read_only
from holdfast.app.memory import Holdfast
from holdfast.app.transfer import backup
from holdfast.capture.home_paths import HomePaths
from holdfast.errors import StoreError
from holdfast.locks import open_locked
from holdfast.store.sqlite.old_tables import NOT_COPIED, OLD_TABLES
from holdfast.store.sqlite.schema import VERSION
from holdfast.store.sqlite.store import SqliteStore
from tests.support.recorded_memories import (
    contents,
    recorded_contents,
    recorded_names,
    settings_in,
    unpack,
)
from tests.support.waiting import wait_until
from tests.support.warm_commands import warm_interpreter

FIRST = "0.1.0-schema22"


def version_of(database: Path) -> int:
    with closing(sqlite3.connect(database)) as raw:
        return raw.execute("PRAGMA user_version").fetchone()[0]


def backups_of(database: Path) -> list[str]:
    return sorted(path.name for path in (database.parent / "backups").glob("*.db"))


def assert_says_the_same(database: Path, name: str) -> None:
    expected = recorded_contents(name)
    del expected["finds"]
    assert version_of(database) == VERSION and expected["turns"]
    assert contents(database) == expected


def test_every_release_has_a_recording() -> None:
    assert FIRST in recorded_names() and f"schema{VERSION}" in " ".join(recorded_names())


@pytest.mark.slow
@pytest.mark.parametrize("name", recorded_names())
def test_every_recorded_memory_opens_says_the_same_and_is_searched(
    name: str, tmp_path: Path
) -> None:
    database = unpack(name, tmp_path)
    with Holdfast(settings_in(tmp_path)) as memory:
        assert_says_the_same(database, name)
        memory.ingestion.update()
        assert memory.store.check_integrity() == ((), ())
        for question, uri in recorded_contents(name)["finds"].items():
            found = [hit.uri for hit in memory.recall(question, "tidewatch").hits]
            assert uri in found, (question, found)
        assert_says_the_same(database, name)


@pytest.mark.slow
def test_decisions_and_summaries_of_the_first_release_hold_after_everything_is_derived_again(
    tmp_path: Path,
) -> None:
    database = unpack(FIRST, tmp_path)
    with closing(sqlite3.connect(database)) as raw:
        gone = {
            row[0] for row in raw.execute("SELECT 'holdfast://' || kind || '/' || id FROM hidden")
        }
        titles = dict(raw.execute("SELECT id, text FROM curated WHERE text <> ''").fetchall())
        ((paid,),) = raw.execute("SELECT record FROM summary").fetchall()
    assert len(gone) > 3 and len(titles) > 3
    with Holdfast(settings_in(tmp_path)) as memory:
        memory.ingestion.update()
        shown = memory.recall(
            "The gauges report the tide in one SQLite file", "all", limit=1000
        ).hits
        assert shown and not gone & {hit.uri for hit in shown}
    with closing(sqlite3.connect(database)) as raw:
        assert dict(raw.execute("SELECT id, text FROM curation_state WHERE text <> ''")) == titles
        written = "SELECT title, author FROM exchange WHERE id = ?"
        assert raw.execute(written, (paid,)).fetchall() == [
            ("A summary that was paid for", "claude-haiku")
        ]


@pytest.mark.slow
def test_the_upgrade_says_where_the_backup_is_and_the_worker_logs_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = unpack(FIRST, tmp_path / "one")
    before = database.read_bytes()
    SqliteStore(database).close()
    copy = database.parent / "backups" / "memory-schema22-1.db"
    told = capsys.readouterr()
    assert told.out == "" and told.err.count("\n") == 1 and str(copy) in told.err
    assert backups_of(database) == [copy.name] and copy.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in copy.parent.iterdir() if path.suffix == ".part"] == []
    shutil.copy(copy, tmp_path / "again.db")
    with closing(sqlite3.connect(tmp_path / "again.db")) as raw:
        raw.execute("PRAGMA journal_mode = DELETE")
    assert contents(tmp_path / "again.db", "remembered", "summary")["turns"]
    assert len(copy.read_bytes()) == len(before)
    SqliteStore(database).close()
    assert capsys.readouterr().err == ""

    unpack(FIRST, tmp_path / "two")
    run_worker(settings_in(tmp_path / "two"))
    assert capsys.readouterr().err == ""
    log = HomePaths(settings_in(tmp_path / "two").home).worker_log.read_text()
    assert "memory-schema22-1.db" in log


def test_every_table_of_the_first_release_is_copied_or_known_not_to_be(tmp_path: Path) -> None:
    with closing(sqlite3.connect(unpack(FIRST, tmp_path))) as raw:
        tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        names = {row[0] for row in raw.execute(tables) if not row[0].startswith("fts_")}
    copied = {table.name for table in OLD_TABLES}
    assert names == copied | NOT_COPIED and not copied & NOT_COPIED


OPEN = """
import os, signal, sys
from pathlib import Path
from holdfast.store.sqlite.store import SqliteStore
import holdfast.store.sqlite.upgrade

left = int(sys.argv[2])
calls = 0

def count(frame, event, argument):
    global calls
    calls += 1
    if calls == left:
        os.kill(os.getpid(), signal.SIGKILL)

sys.setprofile(count)
SqliteStore(Path(sys.argv[1])).close()
sys.setprofile(None)
print(calls)
"""


@pytest.mark.process
def test_a_kill_at_any_point_of_the_upgrade_loses_nothing(tmp_path: Path) -> None:
    def run(database: Path, kill_at: int) -> tuple[int, str]:
        done = warm_interpreter().run([str(database), str(kill_at)], os.environ, code=OPEN)
        return done.returncode, done.stdout

    whole, calls = run(unpack(FIRST, tmp_path / "whole"), 0)
    assert whole == 0
    said = recorded_contents(FIRST)
    versions: set[int] = set()
    last = int(calls)
    for call in sorted({*range(1, last, last // 12), last - 30, last - 10}):
        database = unpack(FIRST, tmp_path / str(call))
        assert run(database, call)[0] != 0
        versions.add(version_of(database))
        if version_of(database) == VERSION:
            assert contents(database)["turns"] == said["turns"]
        else:
            assert contents(database, "remembered", "summary")["notes"] == said["notes"]
        SqliteStore(database).close()
        assert_says_the_same(database, FIRST)
        assert backups_of(database) in ([], ["memory-schema22-1.db"])
        assert list((database.parent / "backups").glob("*upgrade.part*")) == []
    assert versions == {22, VERSION}


@pytest.mark.process
def test_of_programs_that_open_it_at_once_one_upgrades_and_the_others_wait(tmp_path: Path) -> None:
    database = unpack(FIRST, tmp_path)
    programs = [
        warm_interpreter().start([str(database), "0"], os.environ, code=OPEN) for _ in range(3)
    ]
    assert [program.wait(timeout=60) for program in programs] == [0, 0, 0]
    assert_says_the_same(database, FIRST)
    assert backups_of(database) == ["memory-schema22-1.db"]


@pytest.mark.process
def test_a_program_that_waits_for_the_upgrade_of_another_says_so(tmp_path: Path) -> None:
    database, said = unpack(FIRST, tmp_path), tmp_path / "said"
    backups = database.parent / "backups"
    backups.mkdir()
    code = f"import sys\nsys.stderr = open({str(said)!r}, 'w', buffering=1)\n{OPEN}"
    with open_locked(backups / ".memory-upgrade.lock", os.O_CREAT | os.O_RDWR):
        program = warm_interpreter().start([str(database), "0"], os.environ, code=code)
        wait_until(lambda: said.exists() and "waiting for it" in said.read_text(), "it says so")
        assert version_of(database) == 22
    assert program.wait(timeout=60) == 0
    assert_says_the_same(database, FIRST)


WRITES_MEANWHILE = """
import sqlite3, sys
from pathlib import Path
from holdfast.store.sqlite.store import SqliteStore
import holdfast.store.sqlite.upgrade

written = False

def write(frame, event, argument):
    global written
    if frame.f_code.co_name == "put_back" and not written:
        written = True
        with sqlite3.connect(sys.argv[1]) as raw:
            raw.execute("INSERT INTO remembered SELECT bank, 'late', time, who, 'late words', "
                        "trust FROM remembered LIMIT 1")

sys.setprofile(write)
SqliteStore(Path(sys.argv[1])).close()
"""


@pytest.mark.process
def test_what_another_program_writes_during_the_upgrade_is_not_lost(tmp_path: Path) -> None:
    database = unpack(FIRST, tmp_path)
    done = warm_interpreter().run([str(database)], os.environ, code=WRITES_MEANWHILE)
    assert done.returncode == 0, done.stderr
    with closing(sqlite3.connect(database)) as raw:
        late = raw.execute("SELECT text FROM remembered_memory WHERE id = 'late'").fetchall()
    assert late == [("late words",)] and version_of(database) == VERSION


WITHOUT_ROOM = """
import resource, signal, sys
from pathlib import Path
from holdfast.errors import StoreError
from holdfast.store.sqlite.store import SqliteStore
import holdfast.store.sqlite.upgrade

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    SqliteStore(Path(sys.argv[1]))
except StoreError as error:
    print(error.full_text)
"""


@pytest.mark.process
def test_without_room_for_the_upgrade_the_memory_stays_as_it_was(tmp_path: Path) -> None:
    database = unpack(FIRST, tmp_path)
    for room in (400_000, database.stat().st_size // 4 * 3):
        arguments = [str(database), str(room)]
        done = warm_interpreter().run(arguments, os.environ, code=WITHOUT_ROOM)
        assert done.returncode == 0 and str(database.parent) in done.stdout, done.stderr
        assert version_of(database) == 22
        assert list((database.parent / "backups").iterdir()) == [
            database.parent / "backups" / ".memory-upgrade.lock"
        ]
    SqliteStore(database).close()
    assert_says_the_same(database, FIRST)


def test_a_memory_of_the_first_release_is_refused_where_it_may_not_be_upgraded(
    tmp_path: Path,
) -> None:
    database = unpack(FIRST, tmp_path)
    before = database.read_bytes()
    with pytest.raises(StoreError, match="older version") as refused:
        SqliteStore(database, create=False, as_it_is=True)
    assert "`holdfast worker`" in refused.value.remedy
    with pytest.raises(StoreError, match="older version"):
        open_read_only(settings_in(tmp_path))
    with closing(sqlite3.connect(database)) as raw:
        raw.execute("PRAGMA user_version = 21")
    with pytest.raises(StoreError, match="schema 21 of a Holdfast from before") as refused:
        SqliteStore(database)
    assert "Open it once with Holdfast 0.1.0" in refused.value.remedy
    with closing(sqlite3.connect(database)) as raw:
        raw.execute("PRAGMA user_version = 22")
    assert not (database.parent / "backups").exists() and len(before) == database.stat().st_size
    (database.parent / "backups").write_text("not a folder")
    with pytest.raises(StoreError, match="cannot be upgraded"):
        SqliteStore(database)
    assert version_of(database) == 22


def test_an_error_during_the_upgrade_leaves_the_memory_as_it_was(tmp_path: Path) -> None:
    database = unpack(FIRST, tmp_path)
    with closing(sqlite3.connect(database)) as raw:
        raw.execute("ALTER TABLE tag ADD COLUMN colour TEXT")
    with pytest.raises(StoreError, match=r"from 0\.1\.0 failed: .*colour") as failed:
        SqliteStore(database)
    assert "memory-schema22-1.db" in failed.value.remedy
    assert contents(database, "remembered", "summary")["keys"] == recorded_contents(FIRST)["keys"]
    assert [path.suffix for path in (database.parent / "backups").iterdir()] != [".part"]


def test_a_backup_of_the_first_release_is_restored(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    copy = unpack(FIRST, tmp_path / "copy")
    SqliteStore(settings.database).close()
    backup.restore(settings, copy)
    assert_says_the_same(settings.database, FIRST)
