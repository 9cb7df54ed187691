from __future__ import annotations

import os
import random
import re
import sqlite3
import subprocess
import threading
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.app.background.runner import Step, Worker, WorkerOptions
from holdfast.app.background.worker import run_worker
from holdfast.app.core.lease import take_lease
from holdfast.app.memory import open_memory
from holdfast.app.transfer.backup import back_up, check_backup, latest_backup, list_backups, restore
from holdfast.capture.home_paths import HomePaths
from holdfast.errors import (
    InputError,
    NewerSchemaError,
    NotFoundError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
)
from holdfast.interfaces.mcp.engine import ToolEngine
from holdfast.settings import Settings, load_settings
from holdfast.store.sqlite.migrate import back_up as copy_before_a_step
from holdfast.store.sqlite.schema import VERSION, migrations
from tests.support.installed_home import environment
from tests.support.killed_processes import kill_after
from tests.support.memory_dump import dump
from tests.support.sample_memory import sample_session
from tests.support.seeds import seeded_random
from tests.support.transcripts import Script, bug_hunt
from tests.support.waiting import wait_until
from tests.support.warm_commands import warm_interpreter

KILLED_S = 1.0


def settings_of(folder: Path) -> Settings:
    return load_settings(
        {
            "HOLDFAST_HOME": str(folder / "home"),
            "CLAUDE_CONFIG_DIR": str(folder / "claude"),
            "HOME": str(folder),
            "HOLDFAST_EMBEDDER": "none",
        }
    )


def read_in(settings: Settings, *scripts: Script) -> None:
    for script in scripts:
        script.write(settings.claude_dir / "projects")
    with open_memory(settings) as memory:
        memory.ingest(memory.ingestion.find([]))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    made = settings_of(tmp_path)
    read_in(made, bug_hunt("22222222-0000-4000-8000-000000000001"))
    return made


def grow(settings: Settings) -> None:
    read_in(settings, sample_session())


def move_schema(database: Path, by: int = 1) -> None:
    """What an upgrade that runs beside us does to the file."""
    with closing(sqlite3.connect(database)) as other:
        other.execute(f"PRAGMA user_version = {VERSION + by}")
        other.execute("CREATE TABLE of_the_next_version (id)")


@pytest.mark.slow
def test_a_restored_backup_is_the_memory_at_the_time_of_the_backup(
    settings: Settings, tmp_path: Path
) -> None:
    (settings.home / "config.toml").write_text('bank = "work"\n')
    journal = HomePaths(settings.home).journal("s1")
    journal.parent.mkdir()
    journal.write_text('{"v":1,"id":"a"}\n')
    then = dump(settings.database)
    made = back_up(settings, tmp_path / "kept.db")
    assert Path(made.path).stat().st_mode & 0o777 == 0o600
    assert set(made.files) == {"config.toml", "events/s1.jsonl"}
    grow(settings)
    now = dump(settings.database)
    assert now != then
    journal.unlink()
    (settings.home / "config.toml").write_text('bank = "other"\n')
    done = restore(settings, made.path)
    assert dump(settings.database) == then
    assert done.files == ("events/s1.jsonl",) and journal.is_file()
    assert "other" in (settings.home / "config.toml").read_text()
    # And back again, by what was kept aside.
    restore(settings, done.aside)
    assert dump(settings.database) == now
    assert restore(settings, made.path, with_settings=True).files == ("config.toml",)
    assert "work" in (settings.home / "config.toml").read_text()
    with open_memory(settings) as memory:
        faults = memory.store.check_integrity()
        assert not faults.damaged and not faults.derived
    assert not list(settings.home.glob(".restoring-*"))


@pytest.mark.slow
def test_a_backup_can_be_restored_into_a_new_home(settings: Settings, tmp_path: Path) -> None:
    made = back_up(settings, tmp_path / "kept.db")
    other = settings_of(tmp_path / "elsewhere")
    assert restore(other, made.path).aside == ""
    assert dump(other.database) == dump(settings.database)


@pytest.mark.slow
def test_a_backup_taken_during_writes_is_consistent(settings: Settings, tmp_path: Path) -> None:
    over = threading.Event()

    def write() -> None:
        with closing(sqlite3.connect(settings.database, timeout=60)) as other:
            number = 0
            while not over.is_set():
                number += 1
                with other:
                    # Two rows that are always there together.
                    other.execute("INSERT INTO bank_alias VALUES (?, 'x')", (f"a{number}",))
                    other.execute("INSERT INTO bank_alias VALUES (?, 'x')", (f"b{number}",))

    with closing(sqlite3.connect(settings.database)) as other, other:
        other.execute("INSERT INTO bank VALUES ('x', 'x', '', '', 3, 3, 3, 0)")
    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(5):
            made = back_up(settings, tmp_path / f"{number}.db")
            with closing(sqlite3.connect(made.path)) as copy:
                counts = {
                    copy.execute(
                        f"SELECT count(*) FROM bank_alias WHERE alias LIKE '{a}%'"
                    ).fetchone()
                    for a in "ab"
                }
            assert len(counts) == 1
            assert check_backup(settings, made.path).copy.hash == made.hash
    finally:
        over.set()
        writer.join()


def test_a_backup_replaces_no_file_and_leaves_no_partial_one(
    settings: Settings, tmp_path: Path
) -> None:
    there = tmp_path / "there.db"
    there.write_text("mine")
    with pytest.raises(InputError, match="already exists"):
        back_up(settings, there)
    assert there.read_text() == "mine"
    with pytest.raises(InputError, match="no folder"):
        back_up(settings, tmp_path / "missing" / "x.db")
    with pytest.raises(NotFoundError):
        back_up(settings_of(tmp_path / "nobody"))
    in_folder = back_up(settings, tmp_path)
    assert Path(in_folder.path).parent == tmp_path
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    if os.getuid():
        with pytest.raises(StoreError, match="No backup can be made"):
            back_up(settings, closed / "x.db")


def test_a_full_disk_leaves_no_backup_and_does_not_change_the_memory(
    settings: Settings, tmp_path: Path
) -> None:
    then = dump(settings.database)
    done = run_limited(tmp_path, "backup", str(tmp_path / "full.db"))
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "No backup was made" in done.stderr
    assert not list(tmp_path.glob("*full*")) and not list(tmp_path.glob(".*full*"))
    assert dump(settings.database) == then


def run_limited(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return warm_interpreter().run(arguments, environment(tmp_path / "home"), file_size=200_000)


@pytest.mark.slow
def test_an_incomplete_backup_is_refused(settings: Settings, tmp_path: Path) -> None:
    then = dump(settings.database)
    made = Path(back_up(settings, tmp_path / "good.db").path)
    whole = made.read_bytes()
    with closing(sqlite3.connect(tmp_path / "foreign.db")) as other, other:
        other.execute("CREATE TABLE notes (text)")
    bad = {
        "cut.db": whole[: len(whole) // 2],
        "empty.db": b"",
        "text.db": b"not a database at all, but long enough to look like one" * 40,
        "flipped.db": whole[:30_000] + bytes(4096) + whole[34_096:],
    }
    for name, content in bad.items():
        (tmp_path / name).write_bytes(content)
    for name in (*bad, "foreign.db"):
        with pytest.raises(StoreCorruptError):
            restore(settings, tmp_path / name)
    # Whole as a database, but not what it says it is.
    (tmp_path / "less.db").write_bytes(whole)
    with closing(sqlite3.connect(tmp_path / "less.db")) as copy, copy:
        copy.execute("UPDATE turn SET text = 'something else'")
    with pytest.raises(StoreCorruptError, match="note says"):
        restore(settings, tmp_path / "less.db")
    (tmp_path / "newer.db").write_bytes(whole)
    move_schema(tmp_path / "newer.db")
    with pytest.raises(NewerSchemaError):
        restore(settings, tmp_path / "newer.db")
    with pytest.raises(NotFoundError):
        restore(settings, tmp_path / "nowhere.db")
    with pytest.raises(InputError, match="in use"):
        restore(settings, settings.database)
    assert dump(settings.database) == then
    assert list_backups(settings) == []


@pytest.mark.slow
def test_a_running_worker_is_not_disturbed(settings: Settings, tmp_path: Path) -> None:
    made = back_up(settings, tmp_path / "kept.db")
    with take_lease(HomePaths(settings.home)), pytest.raises(StoreBusyError):
        restore(settings, made.path, lease_wait_s=0.1)
    with closing(sqlite3.connect(settings.database)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusyError):
            restore(settings, made.path, busy_s=0.1)


@pytest.mark.slow
def test_an_open_memory_continues_with_the_restored_one(settings: Settings, tmp_path: Path) -> None:
    made = back_up(settings, tmp_path / "kept.db")
    grow(settings)
    with open_memory(settings) as memory:
        assert memory.inventory.counts("all").sessions == 2
        restore(settings, made.path)
        assert memory.inventory.counts("all").sessions == 1
        memory.ingest(memory.ingestion.find([]))
        assert memory.inventory.counts("all").sessions == 2


@pytest.mark.slow
def test_a_damaged_memory_is_kept_aside_and_replaced(settings: Settings, tmp_path: Path) -> None:
    then = dump(settings.database)
    made = back_up(settings, tmp_path / "kept.db")
    broken = b"SQLite format 3\0" + random.Random(7).randbytes(50_000)
    settings.database.write_bytes(broken)
    done = restore(settings, made.path)
    assert dump(settings.database) == then
    assert Path(done.aside).read_bytes() == broken


def test_a_kill_at_any_point_leaves_the_old_or_the_new_memory(
    settings: Settings, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(settings.database)) as other, other:
        other.execute("CREATE TABLE ballast AS SELECT randomblob(3000000) AS data")
    then = dump(settings.database)
    first = Path(back_up(settings, tmp_path / "first.db").path)
    grow(settings)
    now = dump(settings.database)
    second = Path(back_up(settings, tmp_path / "second.db").path)
    program = (
        "import sys; from pathlib import Path; from holdfast.app.transfer.backup import restore;"
        "from holdfast.settings import load_settings; settings = load_settings();"
        "Path(sys.argv[1]).touch();"
        f"[restore(settings, Path(p)) for _ in range(99) for p in {[str(first), str(second)]}]"
    )
    chance = seeded_random()
    for _ in range(5):
        go = tmp_path / "go"
        process = warm_interpreter().start([str(go)], environment(settings.home), code=program)
        wait_until(go.exists, "it begins", every_s=0.001)
        kill_after(process, chance.random() * KILLED_S)
        go.unlink()
        assert dump(settings.database) in (then, now)
        with open_memory(settings) as memory:
            assert not memory.store.check_integrity().damaged
    restore(settings, first)
    assert dump(settings.database) == then
    assert not list(settings.home.glob(".restoring-*"))


@pytest.mark.slow
def test_copies_made_before_an_upgrade_are_listed_and_can_be_restored(
    settings: Settings, tmp_path: Path
) -> None:
    then = dump(settings.database)
    with closing(sqlite3.connect(settings.database)) as connection:
        copy_before_a_step(connection, settings.database, VERSION)
    move_schema(settings.database)  # a newer program had it; ours is the older one again
    with pytest.raises(NewerSchemaError):
        open_memory(settings)
    (kept,) = list_backups(settings)
    assert kept.schema == VERSION and "before the upgrade from schema" in kept.why
    assert latest_backup(settings) == kept.path
    done = restore(settings, kept.path)
    assert dump(settings.database) == then
    assert {k.schema for k in list_backups(settings)} == {VERSION, VERSION + 1}
    with pytest.raises(NewerSchemaError):
        check_backup(settings, Path(done.aside))
    assert latest_backup(settings) == kept.path, "the one that was put aside is of a newer schema"
    Path(kept.path).unlink()
    with pytest.raises(NotFoundError):
        latest_backup(settings)


def test_a_running_older_program_never_writes_into_a_newer_schema(settings: Settings) -> None:
    with open_memory(settings) as memory:
        move_schema(settings.database)
        with pytest.raises(NewerSchemaError), memory.store.transaction():
            raise AssertionError("not reached")
        with pytest.raises(NewerSchemaError):
            memory.remember("The tide tables are in the blue folder.", bank="proj")
    with closing(sqlite3.connect(settings.database)) as other:
        assert other.execute("SELECT count(*) FROM remembered_memory").fetchone()[0] == 0
        other.execute(f"PRAGMA user_version = {VERSION}")
    with open_memory(settings) as memory:
        move_schema_back(settings.database)
        with pytest.raises(StoreError, match="older version"), memory.store.transaction():
            raise AssertionError("not reached")


def move_schema_back(database: Path) -> None:
    with closing(sqlite3.connect(database)) as other:
        other.execute(f"PRAGMA user_version = {VERSION - 1}")


def test_a_running_worker_exits_when_the_schema_is_upgraded(settings: Settings) -> None:
    ran: list[str] = []

    def upgrade(made: Worker) -> str:
        move_schema(settings.database)
        return "upgraded"

    def write(made: Worker) -> str:
        with made.memory.store.transaction():
            ran.append("wrote")
        return "wrote"

    steps = (Step("upgrade", upgrade), Step("write", write), Step("again", write))
    done = run_worker(
        settings, WorkerOptions(respect_retry_times=True, start_delay_s=0, linger_s=0), steps
    )
    assert ran == [] and done.passes == 0
    assert "schema" in HomePaths(settings.home).worker_log.read_text()


@pytest.mark.slow
def test_a_running_server_notices_an_upgrade_and_a_restored_backup(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(settings.home))
    made = back_up(settings, tmp_path / "kept.db")
    opened = ToolEngine()
    held = opened.memory()
    assert opened.memory() is held
    grow(settings)
    assert opened.memory() is held
    restore(settings, made.path)
    assert opened.memory() is not held
    move_schema(settings.database)
    with pytest.raises(NewerSchemaError):
        opened.memory()
    opened.close()


@pytest.mark.slow
def test_scrubbed_text_in_the_journals_of_a_backup_is_found(settings: Settings) -> None:
    journal = HomePaths(settings.home).journal("s1")
    journal.parent.mkdir()
    journal.write_text('{"v":1,"id":"a","text":"swordfish-7731"}\n')
    made = back_up(settings)
    with open_memory(settings) as memory:
        held = memory.store.erasure.backups_holding(lambda text: text.replace("swordfish-7731", ""))
    assert list(map(str, held)) == [made.path]


def test_backup_and_restore_refuse_a_memory_on_postgresql(
    settings: Settings, tmp_path: Path
) -> None:
    made = back_up(settings, tmp_path / "kept.db")
    team = replace(settings, store="postgresql://harbour/memory")
    with pytest.raises(InputError, match="PostgreSQL"):
        back_up(team, tmp_path / "other.db")
    with pytest.raises(InputError, match="PostgreSQL"):
        restore(team, made.path)


@pytest.mark.slow
def test_a_change_in_any_canonical_table_of_a_backup_is_detected(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    open_memory(settings).close()
    with closing(sqlite3.connect(settings.database, isolation_level=None)) as database:
        for (trigger,) in database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall():
            database.execute(f'DROP TRIGGER "{trigger}"')
        columns = {
            name: [(row[1], row[2]) for row in database.execute(f'PRAGMA table_info("{name}")')]
            for name in canonical_tables()
        }
        for name, types in columns.items():
            values = [{"TEXT": "a", "BLOB": b"a"}.get(type, 1) for _, type in types]
            database.execute(f'DELETE FROM "{name}"')
            database.execute(
                f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(values))})', values
            )
    unnoticed: list[str] = []
    for number, (name, types) in enumerate(columns.items()):
        path = Path(back_up(settings, tmp_path / f"{number}.db").path)
        with closing(sqlite3.connect(path, isolation_level=None)) as copy:
            column, type = types[-1]
            changed = {"TEXT": "b", "BLOB": b"b"}.get(type, 2)
            copy.execute(f'UPDATE "{name}" SET "{column}" = ?', (changed,))
        with suppress(StoreCorruptError):
            check_backup(settings, path)
            unnoticed.append(name)
    assert unnoticed == []


def canonical_tables() -> list[str]:
    script = "\n".join(step.script for step in migrations())
    mark = r"^-- (?:C\b|D, but).*\n(?:--.*\n)*CREATE TABLE (\w+)"
    dropped = re.findall(r"^DROP TABLE (\w+)", script, re.MULTILINE)
    return [name for name in re.findall(mark, script, re.MULTILINE) if name not in dropped]
