from __future__ import annotations

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, closing
from pathlib import Path

from holdfast.model.bank import Bank
from holdfast.model.records import Session
from holdfast.store.sqlite.schema import migrations
from holdfast.store.sqlite.store import SqliteStore

NOON = "2026-03-01T12:00:00Z"
STEPS = [("one", "CREATE TABLE log (step); INSERT INTO log VALUES ('one')")] + [
    (step, f"CREATE TABLE {step} (x); INSERT INTO log VALUES ('{step}')")
    for step in ("two", "three", "four")
]
# Each process says when it is ready and waits for the word, so that all start at once.
OPENER = """
import sys
from pathlib import Path
from holdfast.store.sqlite.store import SqliteStore
print("ready", flush=True)
sys.stdin.readline()
SqliteStore(Path(sys.argv[1]), eval(sys.argv[2])).close()
"""
WRITER = """
import sys
from pathlib import Path
from holdfast.model.records import Origin, Role, Turn
from holdfast.model.trust import Trust
from holdfast.store.records.sources import SourceChange
from holdfast.store.sqlite.store import SqliteStore
path, name = Path(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
store = SqliteStore(path)
with store.transaction():
    source = store.sources.add(f"/{name}.jsonl", "claude-code", "b1").id
for n in range(200):
    with store.transaction():
        seq = store.turns.next_seq("b1", "shared")
        turn = Turn("b1", f"{name}-{n}", "shared", seq, "", Role.USER, Trust.USER, "hello",
                    origin=Origin(source, n + 1))
        store.turns.put([turn])
        done = SourceChange(source, n, n + 1, "", "", 1, 1, 1, {}, (), {"jwt": 1}, "")
        assert store.sources.advance(done)
store.close()
"""


def run_at_once(script: str, arguments: list[list[str]]) -> None:
    with ExitStack() as ended:
        processes: list[subprocess.Popen[str]] = []
        for words in arguments:
            process = subprocess.Popen(
                [sys.executable, "-c", script, *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            ended.enter_context(process)
            ended.callback(process.kill)
            processes.append(process)
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        for process in processes:
            _, errors = process.communicate(timeout=60)
            assert process.returncode == 0, errors


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
        run_at_once(OPENER, [[str(path), repr([tuple(one) for one in migrations()])]] * 4)
        with closing(SqliteStore(path)) as store:
            assert store.banks.all() == []
        assert not (path.parent / "backups").exists()


def test_processes_that_migrate_at_once_run_each_step_once(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path, STEPS[:1]).close()
    run_at_once(OPENER, [[str(path), repr(STEPS)]] * 4)
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
        run_at_once(WRITER, [[str(path), name] for name in names])
        turns = store.turns.of_session("b1", "shared")
        assert [turn.seq for turn in turns] == list(range(1, 801))
        assert {turn.id for turn in turns} == {f"{name}-{n}" for name in names for n in range(200)}
        balance = store.sources.balance("b1")
        assert (balance.files, balance.lines, balance.accounted) == (4, 800, 800)
        assert balance.redacted == {"jwt": 800}
