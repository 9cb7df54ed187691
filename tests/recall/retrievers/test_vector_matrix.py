"""The matrix against a plain exact search, whatever happens to its file."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import stat
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from holdfast.errors import StoreCorruptError
from holdfast.model.bank import Bank
from holdfast.recall.retrievers.vector_matrix import (
    MAX_UNWRITTEN,
    ScanResult,
    VectorMatrix,
    remove_stale_files,
)
from holdfast.store.index.vectors import VectorSpan
from holdfast.store.sqlite.store import SqliteStore
from tests.support.empty_memory import put_empty_memory

Floats = npt.NDArray[np.float32]
BANK, OTHER, MODEL, DIMENSION = "b" * 16, "c" * 16, "made-up", 8
HEADER = struct.calcsize("<8sIQII")
SUM = DIMENSION * 8
MANY = MAX_UNWRITTEN + 1500


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(put_empty_memory(tmp_path / "home" / "memory.db"))) as opened:
        with opened.transaction():
            opened.banks.add(Bank(BANK, "harbour", "2026-01-01"))
        yield opened


@pytest.fixture(scope="module")
def full_memory(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A memory with so many vectors that their matrix is kept in a file."""
    path = put_empty_memory(tmp_path_factory.mktemp("full") / "memory.db")
    with closing(SqliteStore(path)) as opened:
        with opened.transaction():
            opened.banks.add(Bank(BANK, "harbour", "2026-01-01"))
        put(opened, MANY)
    return path.read_bytes()


@pytest.fixture
def full_store(tmp_path: Path, full_memory: bytes) -> Iterator[SqliteStore]:
    path = tmp_path / "home" / "memory.db"
    path.parent.mkdir()
    path.write_bytes(full_memory)
    with closing(SqliteStore(path)) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "home" / "vectors"


def made_up(count: int, seed: int = 0) -> Floats:
    rows = np.random.default_rng(seed).normal(size=(count, DIMENSION)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def put(store: SqliteStore, count: int, seed: int = 0, bank: str = BANK) -> None:
    with store.transaction():
        rows = [(f"{seed}-{n}", 0, row.tobytes()) for n, row in enumerate(made_up(count, seed))]
        store.vectors.put(bank, MODEL, rows)


def put_raw(store: SqliteStore, hash: str, data: bytes) -> None:
    with store.transaction():
        store.vectors.put(BANK, MODEL, [(hash, 0, data)])


def matrix(folder: Path, bank: str = BANK) -> VectorMatrix:
    return VectorMatrix(folder, bank, MODEL, DIMENSION)


def exact(store: SqliteStore, *queries: Floats, bank: str = BANK) -> list[dict[int, float]]:
    """The products of queries with every vector that is whole, straight from the store."""
    stored = store.vectors.after(bank, MODEL, 0, 1_000_000)
    whole = [v for v in stored if len(v.data) == DIMENSION * 4]
    rows = np.frombuffer(b"".join(v.data for v in whole), np.float32).astype(float)
    rows = rows.reshape(len(whole), DIMENSION)
    usable = np.linalg.norm(rows, axis=1) < 1.01
    numbers = [v.number for v, used in zip(whole, usable, strict=True) if used]
    return [dict(zip(numbers, (rows[usable] @ query).tolist(), strict=True)) for query in queries]


def agrees(scanned: ScanResult, wanted: dict[int, float], limit: int) -> bool:
    """The same scores in the same order, each for its own number, and the same span."""
    best = sorted(wanted.values(), reverse=True)[:limit]
    scores = [score for _, score in scanned.best]
    assert len({number for number, _ in scanned.best}) == len(scores) == len(best)
    assert np.allclose(scores, best, atol=1e-5)
    assert all(abs(wanted[number] - score) < 1e-5 for number, score in scanned.best)
    span = (min(wanted.values(), default=0.0), max(wanted.values(), default=0.0))
    assert np.allclose((scanned.lowest, scanned.highest), span, atol=1e-5)
    return True


def is_exact(
    store: SqliteStore, searched: VectorMatrix, bank: str = BANK, queries: int = 3
) -> bool:
    asked = made_up(queries, seed=99)
    for query, wanted in zip(asked, exact(store, *asked, bank=bank), strict=True):
        for limit in (1, 20):
            agrees(searched.scan(store, query, limit), wanted, limit)
    return True


def the_file(folder: Path) -> Path:
    (only,) = folder.iterdir()
    return only


@pytest.mark.slow
@pytest.mark.parametrize(
    "count", [0, 1, 2, MAX_UNWRITTEN - 1, MAX_UNWRITTEN, MAX_UNWRITTEN + 1, 5 * MAX_UNWRITTEN // 2]
)
def test_a_scan_is_an_exact_search(store: SqliteStore, folder: Path, count: int) -> None:
    put(store, count)
    searched = matrix(folder)
    assert is_exact(store, searched) and is_exact(store, searched)
    assert folder.exists() == (count > MAX_UNWRITTEN)


@pytest.mark.slow
def test_a_scan_stays_within_its_bank(store: SqliteStore, folder: Path) -> None:
    for bank, seed in ((BANK, 1), (OTHER, 2)):
        put(store, MAX_UNWRITTEN + 5, seed, bank)
    for bank in (BANK, OTHER):
        assert is_exact(store, matrix(folder, bank), bank)
    assert len(list(folder.iterdir())) == 2


@pytest.mark.slow
def test_new_vectors_are_found_without_rewriting_the_file(store: SqliteStore, folder: Path) -> None:
    put(store, MANY)
    searched = matrix(folder)
    is_exact(store, searched)
    before = the_file(folder).stat()
    put(store, 50, seed=1)
    assert is_exact(store, searched) and is_exact(store, matrix(folder))
    after = the_file(folder).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert not searched.refresh(store)
    put(store, MAX_UNWRITTEN, seed=2)
    assert is_exact(store, searched)
    assert the_file(folder).stat().st_ino != before.st_ino


def test_what_another_process_adds_is_seen_through_a_fresh_reader(
    store: SqliteStore, folder: Path
) -> None:
    put(store, 3)
    searched = matrix(folder)
    query = made_up(1, seed=99)[0]
    for seed in (1, 2):
        another = store.borrow_reader()
        assert another is not None
        with closing(another):
            (wanted,) = exact(store, query)
            agrees(searched.scan(another, query, 20), wanted, 20)
        put(store, 3, seed)


def test_refresh_writes_a_file_only_when_it_is_worthwhile(store: SqliteStore, folder: Path) -> None:
    put(store, MAX_UNWRITTEN)
    assert not matrix(folder).refresh(store) and not folder.exists()
    put(store, 1, seed=1)
    assert matrix(folder).refresh(store)
    assert is_exact(store, matrix(folder))


def flip(path: Path, at: int, to: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(to)


def lengthen(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"\0" * 40)


def shorten(path: Path, by: int) -> None:
    os.truncate(path, path.stat().st_size - by)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: path.unlink(),
    "empty": lambda path: os.truncate(path, 0),
    "half a header": lambda path: os.truncate(path, HEADER // 2),
    "a header alone": lambda path: os.truncate(path, HEADER),
    "one byte short": lambda path: shorten(path, 1),
    "one number short": lambda path: shorten(path, 8),
    "half of it": lambda path: os.truncate(path, path.stat().st_size // 2),
    "too long": lengthen,
    "wrong magic": lambda path: flip(path, 0, b"HOLDVEC0"),
    "wrong dimension": lambda path: flip(path, 8, struct.pack("<I", DIMENSION * 2)),
    "no dimension": lambda path: flip(path, 8, struct.pack("<I", 0)),
    "no rows": lambda path: flip(path, 12, struct.pack("<Q", 0)),
    "countless rows": lambda path: flip(path, 12, b"\xff" * 8),
    "other numbers": lambda path: flip(path, path.stat().st_size - SUM - 804, b"\xa5\x5a"),
    "other last number": lambda path: flip(path, path.stat().st_size - SUM - 8, b"\xff" * 8),
    "what is no number": lambda path: flip(path, HEADER + 320, struct.pack("<f", float("nan"))),
    "endless": lambda path: flip(path, HEADER + 320, struct.pack("<f", float("-inf"))),
    "huge": lambda path: flip(path, HEADER + 320, struct.pack("<f", 3e38)),
    "zeros": lambda path: flip(path, HEADER + 320, b"\0" * DIMENSION * 4 * 10),
    "other vectors": lambda path: flip(path, HEADER, made_up(10, 7).tobytes()),
    "another sum": lambda path: flip(path, path.stat().st_size - 8, struct.pack("<d", 1.0)),
    "noise": lambda path: path.write_bytes(os.urandom(path.stat().st_size)),
}


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_file_gives_no_wrong_result_and_is_rewritten(
    full_store: SqliteStore, folder: Path, damage: Callable[[Path], object]
) -> None:
    assert is_exact(full_store, matrix(folder), queries=1)
    whole = the_file(folder).read_bytes()
    damage(the_file(folder))
    assert is_exact(full_store, matrix(folder), queries=1)
    assert the_file(folder).read_bytes() == whole


@pytest.mark.slow
def test_rounding_over_many_rows_is_not_taken_for_damage(store: SqliteStore, folder: Path) -> None:
    put(store, 60_000)
    searched = matrix(folder)
    is_exact(store, searched, queries=1)
    before = the_file(folder).stat()
    for query in made_up(20, seed=5):
        searched.scan(store, query, 5)
    after = the_file(folder).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.slow
def test_a_file_of_another_memory_is_not_used(
    store: SqliteStore, folder: Path, tmp_path: Path
) -> None:
    put(store, MANY)
    with closing(SqliteStore(tmp_path / "other" / "memory.db")) as other:
        put(other, MANY, seed=1)
        is_exact(other, matrix(folder))
        foreign = the_file(folder).read_bytes()
    assert is_exact(store, matrix(folder))
    assert the_file(folder).read_bytes() != foreign


@pytest.mark.slow
@pytest.mark.parametrize("count", [5, MANY])
def test_a_truncated_vector_is_ignored(store: SqliteStore, folder: Path, count: int) -> None:
    broken = (b"", b"\0" * (DIMENSION * 4 - 1), b"\0" * (DIMENSION * 4 + 4))
    unsound = tuple(
        np.full(DIMENSION, value, np.float32).tobytes() for value in (np.nan, np.inf, 3e38, 5.0)
    )
    for n, data in enumerate((*broken, *unsound)):
        put_raw(store, f"early-{n}", data)
    put(store, count)
    for n, data in enumerate((*broken, *unsound)):
        put_raw(store, f"late-{n}", data)
    searched = matrix(folder)
    assert is_exact(store, searched) and is_exact(store, searched)
    assert is_exact(store, matrix(folder))


def test_only_truncated_vectors_find_nothing(store: SqliteStore, folder: Path) -> None:
    with store.transaction():
        store.vectors.put(BANK, MODEL, [(f"h{n}", 0, b"half") for n in range(MAX_UNWRITTEN + 1)])
    scanned = matrix(folder).scan(store, made_up(1)[0], 5)
    assert scanned == ScanResult([], 0.0, 0.0, skipped=MAX_UNWRITTEN + 1)


def test_damaged_vectors_are_counted_and_listed_by_hash(store: SqliteStore, folder: Path) -> None:
    for count in (5, MANY):
        put(store, count, seed=count)
        assert not matrix(folder).skips(store) and matrix(folder).damaged(store) == []
    put_raw(store, "half", b"\0" * DIMENSION)
    put_raw(store, "no number", np.full(DIMENSION, np.nan, np.float32).tobytes())
    for searched in (matrix(folder), matrix(folder)):
        assert searched.scan(store, made_up(1)[0], 5).skipped == 2 and searched.skips(store)
        assert searched.damaged(store) == ["half", "no number"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_search_works_without_a_writable_folder(store: SqliteStore, folder: Path) -> None:
    put(store, MANY)
    folder.mkdir()
    folder.chmod(0o500)
    searched = matrix(folder)
    assert is_exact(store, searched)
    put(store, 10, seed=1)
    assert is_exact(store, searched)
    assert list(folder.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("in_the_way", ["a file for the folder", "a folder for the file"])
def test_search_works_when_something_else_has_the_path_of_the_file(
    store: SqliteStore, folder: Path, in_the_way: str
) -> None:
    put(store, MANY)
    if in_the_way == "a file for the folder":
        folder.write_text("not a folder")
    else:
        is_exact(store, matrix(folder))
        path = the_file(folder)
        path.unlink()
        (path / "x").mkdir(parents=True)
    searched = matrix(folder)
    assert is_exact(store, searched)
    put(store, 10, seed=1)
    assert is_exact(store, searched)
    assert not searched.refresh(store)
    assert not folder.is_dir() or [p.name[0] for p in folder.iterdir()] != ["."]


def test_only_stale_files_are_removed(store: SqliteStore, folder: Path) -> None:
    put(store, MANY)
    kept, gone = matrix(folder), VectorMatrix(folder, BANK, "an older model", DIMENSION)
    assert kept.refresh(store)
    gone.path.write_bytes(b"old")
    left, young = folder / ".a.vectors.1-1", folder / ".b.vectors.2-2"
    for path in (left, young, folder / "note.txt"):
        path.write_bytes(b"half")
    os.utime(left, (0, 0))
    remove_stale_files(folder, [kept])
    assert {path.name for path in folder.iterdir()} == {kept.path.name, young.name, "note.txt"}
    remove_stale_files(folder / "not there", [kept])


def test_only_the_owner_may_read_the_file(store: SqliteStore, folder: Path) -> None:
    put(store, MANY)
    is_exact(store, matrix(folder))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(the_file(folder).stat().st_mode) == 0o600


def refresh(database: Path, folder: Path, times: int) -> None:
    """What a second process does."""
    with closing(SqliteStore(database)) as store:
        for _ in range(times):
            matrix(folder)._write_file(store)  # pyright: ignore[reportPrivateUsage]


def test_two_processes_may_write_the_file_at_once(
    store: SqliteStore, folder: Path, tmp_path: Path
) -> None:
    put(store, MANY)
    context = multiprocessing.get_context("spawn")
    given = (tmp_path / "home" / "memory.db", folder, 8)
    others = [context.Process(target=refresh, args=given) for _ in range(2)]
    for other in others:
        other.start()
    while any(other.is_alive() for other in others):
        assert is_exact(store, matrix(folder), queries=1)
    for other in others:
        other.join(60)
        assert other.exitcode == 0
    assert is_exact(store, matrix(folder))
    assert the_file(folder).suffix == ".vectors"


@pytest.mark.slow
def test_two_threads_may_write_the_file_at_once(
    store: SqliteStore, folder: Path, tmp_path: Path
) -> None:
    put(store, MANY)
    given = (tmp_path / "home" / "memory.db", folder, 5)
    threads = [threading.Thread(target=refresh, args=given) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert is_exact(store, matrix(folder))
    assert the_file(folder).suffix == ".vectors"


@pytest.mark.slow
def test_a_store_that_fails_midway_leaves_no_partial_file(
    store: SqliteStore, folder: Path, tmp_path: Path
) -> None:
    put(store, MANY)
    database = tmp_path / "home" / "memory.db"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        ((size,),) = connection.execute("PRAGMA page_size")
    last = database.read_bytes().index(made_up(MANY)[-1].tobytes()) // size * size
    with database.open("r+b") as file:
        file.seek(last)
        sound = file.read(size)
        file.seek(last)
        file.write(bytes(size))
        file.flush()
        with closing(SqliteStore(database)) as breaking, pytest.raises(StoreCorruptError):
            matrix(folder).scan(breaking, made_up(1)[0], 5)
        assert list(folder.iterdir()) == []
        file.seek(last)
        file.write(sound)
    assert is_exact(store, matrix(folder))
    assert the_file(folder).suffix == ".vectors"


@pytest.mark.slow
def test_a_file_with_many_deleted_rows_is_rewritten(store: SqliteStore, folder: Path) -> None:
    put(store, MANY, seed=1, bank=OTHER)
    put(store, 2 * MANY)
    searched = matrix(folder)
    is_exact(store, searched)
    size = the_file(folder).stat().st_size
    with store.transaction():
        assert store.vectors.prune(MODEL) == 3 * MANY
        assert store.vectors.span(BANK, MODEL) == VectorSpan(0, 0, 0)
    assert is_exact(store, searched)
    put(store, MANY, seed=3)
    assert is_exact(store, searched)
    assert the_file(folder).stat().st_size < size
