"""Moves that are killed half-way, and go on."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.app.transfer.store_move import move_memory
from holdfast.errors import InputError, StoreError
from holdfast.store.postgres.store import PostgresStore
from holdfast.store.sql.integrity import IntegrityReport
from tests.store.postgres.test_memory import settings_of
from tests.support.postgres_server import Server
from tests.support.transcripts import bug_hunt
from tests.support.warm_commands import warm_interpreter

# Kills itself after so many portions, each of a few rows, as if the power had gone.
KILLED = """
import os, signal, sys
from itertools import count
from holdfast.app.transfer.store_move import move_memory
from holdfast.settings import load_settings
from holdfast.store.postgres import move

move.BATCH_ROWS = 7
numbers = count(1)

def tick(done, total):
    if next(numbers) == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)

move_memory(load_settings(), sys.argv[1], sys.argv[2], tick)
"""


def kill_half_way(home: Path, source: str, target: str, after: int) -> None:
    env = {**os.environ, "HOME": str(home), "HOLDFAST_EMBEDDER": "none"}
    ended = warm_interpreter().run([source, target, str(after)], env, code=KILLED)
    assert ended.returncode == -9, ended.stderr


def read_in(home: Path, folder: Path) -> list[tuple[str, str, float]]:
    with Holdfast(settings_of(home)) as memory:
        memory.ingest(memory.ingestion.find([bug_hunt().write(folder)], "proj"))
        memory.remember("Imports pass an idempotency key, always. \x00", bank="proj")
        found = recalled_hits(memory)
    assert found
    return found


def recalled_hits(memory: Holdfast) -> list[tuple[str, str, float]]:
    asked = [memory.recall(query, "proj") for query in ("rows twice", "idempotency key", "load")]
    return [(hit.uri, hit.text, round(hit.score, 6)) for found in asked for hit in found.hits]


PARTITIONS = ("", "&partitions=16")


@pytest.mark.parametrize("partitions", PARTITIONS)
def test_a_complete_memory_is_moved_to_a_server_and_back(
    postgres: Server, tmp_path: Path, partitions: str
) -> None:
    home, back = settings_of(tmp_path), settings_of(tmp_path / "back")
    url = postgres.empty_database() + partitions
    before = read_in(tmp_path, tmp_path / "said")

    there = move_memory(home, "sqlite://", url)
    with Holdfast(replace(home, store=url)) as memory:
        assert recalled_hits(memory) == before
        assert memory.store.check_integrity() == IntegrityReport()
    again = move_memory(home, url, f"sqlite://{back.database}")

    assert there.rows == again.rows and there.tables == again.tables
    with Holdfast(back) as memory:
        assert recalled_hits(memory) == before
    cut = "SELECT count(*) FROM pg_class WHERE relname LIKE 'passage_p%' AND relispartition"
    assert postgres.run(url.replace(partitions, ""), f"{cut} AND relkind = 'r'") == [
        (16 if partitions else 0,)
    ]


@pytest.mark.parametrize("partitions", PARTITIONS)
def test_a_killed_move_to_a_server_continues_where_it_stopped(
    postgres: Server, tmp_path: Path, partitions: str
) -> None:
    home, plain = settings_of(tmp_path), postgres.empty_database()
    url = plain + partitions
    before = read_in(tmp_path, tmp_path / "said")
    for after in (30, 25):
        kill_half_way(tmp_path, "sqlite://", url, after)
        for opened in (lambda: PostgresStore(url), lambda: PostgresStore(url, as_it_is=True)):
            with pytest.raises(StoreError, match="not finished") as raised:
                opened()
            assert "resumes where it stopped" in raised.value.remedy

    moved = move_memory(home, "sqlite://", url)

    assert 10 < moved.before < moved.rows
    with Holdfast(replace(home, store=url)) as memory:
        assert recalled_hits(memory) == before
        assert memory.store.check_integrity() == IntegrityReport()
        memory.remember("Numbers go on after those that came along.", bank="proj")
    assert postgres.run(plain, "SELECT to_regclass('holdfast.move_progress')") == [(None,)]
    with pytest.raises(InputError, match="not empty"):
        move_memory(home, "sqlite://", url)


def test_a_killed_move_to_a_file_continues_where_it_stopped(
    postgres: Server, tmp_path: Path
) -> None:
    home, back, url = settings_of(tmp_path), settings_of(tmp_path / "back"), postgres.database()
    before = read_in(tmp_path, tmp_path / "said")
    move_memory(home, "sqlite://", url)
    there = f"sqlite://{back.database}"
    kill_half_way(tmp_path, url, there, 60)
    assert not back.database.exists()

    moved = move_memory(home, url, there)

    assert 10 < moved.before < moved.rows
    assert [path.name for path in back.home.glob("memory.db*")] == ["memory.db"]
    with Holdfast(back) as memory:
        assert recalled_hits(memory) == before
        assert memory.store.check_integrity() == IntegrityReport()


@pytest.mark.parametrize("partitions", PARTITIONS)
def test_a_move_restarts_if_the_source_changed_in_between(
    postgres: Server, tmp_path: Path, partitions: str
) -> None:
    home, url = settings_of(tmp_path), postgres.empty_database() + partitions
    read_in(tmp_path, tmp_path / "said")
    kill_half_way(tmp_path, "sqlite://", url, 40)
    with Holdfast(home) as memory:
        memory.remember("A bank of its own.", bank="another")
        after = sorted(uri for uri, _, _ in recalled_hits(memory))

    moved = move_memory(home, "sqlite://", url)

    assert moved.before == 0
    with Holdfast(replace(home, store=url)) as memory:
        # Both engines count words in their own way, so near neighbours may change places.
        assert sorted(uri for uri, _, _ in recalled_hits(memory)) == after
        assert memory.store.check_integrity() == IntegrityReport()
        assert len(memory.store.banks.all()) == 2


def test_a_move_restarts_if_it_was_started_from_another_memory(
    postgres: Server, tmp_path: Path
) -> None:
    url = postgres.empty_database()
    read_in(tmp_path / "one", tmp_path / "said")
    kill_half_way(tmp_path / "one", "sqlite://", url, 40)
    with Holdfast(settings_of(tmp_path / "two")) as memory:
        memory.remember("We deploy on Tuesdays.", bank="proj")

    move_memory(settings_of(tmp_path / "two"), "sqlite://", url)

    with closing(PostgresStore(url)) as store:
        assert (store.records.counts().memories, store.records.counts().turns) == (1, 0)
        assert store.check_integrity() == IntegrityReport()


def test_the_password_of_the_source_is_not_stored_in_the_target(
    postgres: Server, tmp_path: Path
) -> None:
    url = postgres.database().replace("postgres@", "postgres:secret@")
    read_in(tmp_path, tmp_path / "said")
    move_memory(settings_of(tmp_path), "sqlite://", url)
    back = tmp_path / "back" / "memory.db"
    kill_half_way(tmp_path, url, f"sqlite://{back}", 30)

    assert b"secret" not in b"".join(path.read_bytes() for path in back.parent.iterdir())
