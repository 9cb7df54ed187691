from __future__ import annotations

import fcntl
import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from pathlib import Path

from holdfast.model.bank import Bank
from holdfast.model.records import Session
from holdfast.store.sqlite.schema import migrations
from holdfast.store.sqlite.store import SqliteStore
from tests.support.waiting import wait_until
from tests.support.warm_commands import warm_interpreter

NOON = "2026-03-01T12:00:00Z"
STEPS = [("one", "CREATE TABLE log (step); INSERT INTO log VALUES ('one')")] + [
    (step, f"CREATE TABLE {step} (x); INSERT INTO log VALUES ('{step}')")
    for step in ("two", "three", "four")
]
# Each process says that it is ready and waits for a lock that is let go of when all are, so that
# they start at once.
START = """
import fcntl, os, sys
from pathlib import Path
(Path(sys.argv.pop()) / f"ready {os.getpid()}").touch()
with open(sys.argv.pop()) as held:
    fcntl.flock(held, fcntl.LOCK_SH)
"""
OPENER = f"""
from holdfast.store.sqlite.store import SqliteStore
{START}
SqliteStore(Path(sys.argv[1]), eval(sys.argv[2])).close()
"""
WRITER = f"""
from holdfast.model.records import Origin, Role, Turn
from holdfast.model.trust import Trust
from holdfast.store.records.sources import SourceChange
from holdfast.store.sqlite.store import SqliteStore
{START}
path, name = Path(sys.argv[1]), sys.argv[2]
store = SqliteStore(path)
with store.transaction():
    source = store.sources.add(f"/{{name}}.jsonl", "claude-code", "b1").id
for n in range(200):
    with store.transaction():
        seq = store.turns.next_seq("b1", "shared")
        turn = Turn("b1", f"{{name}}-{{n}}", "shared", seq, "", Role.USER, Trust.USER, "hello",
                    origin=Origin(source, n + 1))
        store.turns.put([turn])
        done = SourceChange(source, n, n + 1, "", "", 1, 1, 1, {{}}, (), {{"jwt": 1}}, "")
        assert store.sources.advance(done)
store.close()
"""


def run_at_once(folder: Path, script: str, arguments: list[list[str]]) -> None:
    folder.mkdir()
    lock, errors = folder / "lock", folder / "errors"
    with lock.open("w") as held, errors.open("w") as told:
        fcntl.flock(held, fcntl.LOCK_EX)
        processes = [
            warm_interpreter().start(
                [*words, str(lock), str(folder)], os.environ, files=(told, told), code=script
            )
            for words in arguments
        ]
        wait_until(lambda: len([*folder.glob("ready *")]) == len(processes), "all are ready")
        fcntl.flock(held, fcntl.LOCK_UN)
        ended = [process.wait(60) for process in processes]
    assert ended == [0] * len(processes), errors.read_text()


def test_a_store_being_created_by_another_process_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with (
        closing(sqlite3.connect(path, isolation_level=None)) as maker,
        ThreadPoolExecutor() as pool,
    ):
        maker.execute("BEGIN IMMEDIATE")
        opened = pool.submit(lambda: SqliteStore(path).close())
        early, _ = wait([opened], timeout=0.3)
        maker.execute("ROLLBACK")
        assert not early, "another process holds the file still"
        assert opened.exception(timeout=60) is None


# Not strict: whether the processes meet in the moment between two locks is chance.
def test_processes_that_create_a_store_at_once_create_one_complete_store(tmp_path: Path) -> None:
    for attempt in range(3):
        path = tmp_path / str(attempt) / "memory.db"
        run_at_once(
            tmp_path / f"run {attempt}",
            OPENER,
            [[str(path), repr([tuple(one) for one in migrations()])]] * 4,
        )
        with closing(SqliteStore(path)) as store:
            assert store.banks.all() == []
        assert not (path.parent / "backups").exists()


def test_processes_that_migrate_at_once_run_each_step_once(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path, STEPS[:1]).close()
    run_at_once(tmp_path / "run", OPENER, [[str(path), repr(STEPS)]] * 4)
    with closing(sqlite3.connect(path)) as raw:
        steps = [step for (step,) in raw.execute("SELECT step FROM log")]
        assert steps == ["one", "two", "three", "four"]
        assert raw.execute("PRAGMA user_version").fetchone() == (4,)
        assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    copies = list((tmp_path / "backups").glob("*.db"))
    assert copies
    for copy in copies:
        with closing(sqlite3.connect(copy)) as raw:
            assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert raw.execute("SELECT step FROM log").fetchone() == ("one",)


def test_many_processes_write_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    names = ["ada", "bob", "cyd", "dee"]
    with closing(SqliteStore(path)) as store:
        with store.transaction():
            store.banks.add(Bank("b1", "harbour", NOON))
            store.sessions.add(Session("b1", "shared", "h1", "claude-code"))
        run_at_once(tmp_path / "run", WRITER, [[str(path), name] for name in names])
        turns = store.turns.of_session("b1", "shared")
        assert [turn.seq for turn in turns] == list(range(1, 801))
        assert {turn.id for turn in turns} == {f"{name}-{n}" for name in names for n in range(200)}
        balance = store.sources.balance("b1")
        assert (balance.files, balance.lines, balance.accounted) == (4, 800, 800)
        assert balance.redacted == {"jwt": 800}
