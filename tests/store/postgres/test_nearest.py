"""The nearest vectors as the server tells them, with the extension `vector` and without."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from holdfast.model.bank import Bank
from holdfast.model.query import Passage
from holdfast.model.trust import Status, Trust
from holdfast.recall.retrievers.vector_matrix import VectorMatrix, rank_stored_vectors
from holdfast.store.postgres.nearest import PgVectorLimits
from holdfast.store.postgres.store import PostgresStore
from holdfast.store.protocol import Store
from tests.store.conformance import checks_vector_search, checks_vectors
from tests.store.conformance.samples import MakeStore
from tests.support.postgres_server import Server
from tests.support.waiting import wait_until

NOON = "2026-03-01T12:00:00Z"
MODEL = "some-model"
SIZE = 64
_CHECKS = [
    check
    for checks in (checks_vectors, checks_vector_search)
    for name, check in vars(checks).items()
    if name.startswith("check_")
]
Floats = npt.NDArray[np.float32]


def some_vectors(count: int) -> Floats:
    """Vectors in a few clouds, as those of texts are."""
    some = np.random.default_rng(7)
    clouds = some.normal(size=(12, SIZE))
    made = clouds[some.integers(0, 12, count)] + some.normal(size=(count, SIZE))
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def a_passage(n: int) -> Passage:
    kind = "commit" if n % 50 == 0 else "turn"
    return Passage(
        "ours", kind, f"p{n}", "s", NOON, f"word{n}", "", Trust.USER, Status.OBSERVED, "user",
        n, f"h{n}",
    )  # fmt: skip


def fill(store: Store, vectors: Floats) -> None:
    with store.transaction():
        store.banks.add(Bank("ours", "ours", NOON))
        store.derived.put("ours", "s", [a_passage(n) for n in range(len(vectors))])
        put(store, vectors, range(len(vectors)))


def put(store: Store, vectors: Floats, which: Sequence[int]) -> None:
    store.vectors.put("ours", MODEL, [(f"h{n}", 0, vectors[n].tobytes()) for n in which])


def by_server(store: Store, asked: Floats, kinds: Sequence[str] = ()) -> list[int]:
    named = store.vectors.nearest("ours", MODEL, asked.tobytes(), 10, kinds)
    assert named is not None
    found = rank_stored_vectors(named, asked, 10)
    return [number for number, _ in found.best]


def by_matrix(store: Store, asked: Floats, folder: Path, kinds: Sequence[str] = ()) -> list[int]:
    among = store.vectors.numbers("ours", MODEL, kinds) if kinds else None
    found = VectorMatrix(folder, "ours", MODEL, SIZE).scan(store, asked, 10, among)
    return [number for number, _ in found.best]


@pytest.fixture
def plain(postgres: Server) -> str:
    """A database whose owner may not add an extension to it."""
    return postgres.plain_database()


@pytest.mark.parametrize("check", _CHECKS, ids=[check.__name__ for check in _CHECKS])
def test_a_store_without_the_extension_passes_every_conformance_check(
    check: Callable[[MakeStore], None], plain: str
) -> None:
    with ExitStack() as opened:

        def make_store() -> Store:
            store = PostgresStore(plain)
            opened.callback(store.close)
            return store

        check(make_store)


@pytest.mark.usefixtures("vectors_on_server")
def test_the_server_finds_exactly_what_the_matrix_finds(postgres: Server, tmp_path: Path) -> None:
    vectors = some_vectors(600)
    with closing(PostgresStore(postgres.database())) as store:
        fill(store, vectors[:500])
        for asked in vectors[500:540]:
            for kinds in ([], ["commit"], ["turn"]):
                found = by_matrix(store, asked, tmp_path, kinds)
                assert len(found) == 10 and by_server(store, asked, kinds) == found
        near, far = (
            rank_stored_vectors(store.vectors.nearest("ours", MODEL, v.tobytes(), 10) or [], v, 10)
            for v in (vectors[0], -vectors[0])
        )
        assert near.lowest == pytest.approx(float((vectors[:500] @ vectors[0]).min()))
        assert far.highest == pytest.approx(-near.lowest)


@pytest.mark.usefixtures("vectors_on_server")
def test_a_large_bank_is_searched_by_its_index(postgres: Server, tmp_path: Path) -> None:
    url = postgres.database()
    vectors = some_vectors(4100)
    limits = PgVectorLimits(exact_scan=3000)
    with closing(PostgresStore(url, vector_limits=limits)) as store:
        fill(store, vectors[:4000])
        assert store.vectors.index(MODEL)
        postgres.run(url, "ANALYZE")
        store.vectors.index(MODEL)
        ((index,),) = postgres.run(
            url, "SELECT relname FROM pg_class WHERE relam = (SELECT oid FROM pg_am "
            "WHERE amname = 'hnsw')"
        )  # fmt: skip
        for kinds in ([], ["commit"]):
            right = 0
            for asked in vectors[4000:4040]:
                exact = by_matrix(store, asked, tmp_path, kinds)
                right += len(set(by_server(store, asked, kinds)) & set(exact))
            assert right >= 0.95 * 400
    # A connection tells its counts a second late, or as it closes.
    used = f"SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = '{index}'"
    wait_until(lambda: postgres.run(url, used)[0][0] > 0, "the index was used", every_s=0.1)


@pytest.mark.usefixtures("vectors_on_server")
def test_an_extension_installed_later_indexes_existing_vectors(
    postgres: Server, plain: str, tmp_path: Path
) -> None:
    vectors = some_vectors(300)
    with closing(PostgresStore(plain)) as store:
        fill(store, vectors[:200])
        assert not store.vectors.index(MODEL)
        assert store.vectors.nearest("ours", MODEL, vectors[250].tobytes(), 10) is None
    role = plain.split("//")[1].split("@")[0]
    postgres.run(plain.replace(f"{role}@", "postgres@"), "CREATE EXTENSION vector SCHEMA public")
    with closing(PostgresStore(plain)) as store:
        assert store.vectors.unindexed("ours", MODEL) == 200
        expected = by_matrix(store, vectors[250], tmp_path)
        assert len(expected) == 10 and by_server(store, vectors[250]) == expected
        assert store.vectors.index(MODEL)
        assert store.vectors.unindexed("ours", MODEL) == 0
        assert by_server(store, vectors[250]) == expected
        ((walled,),) = store.database.all(
            "SELECT relrowsecurity FROM pg_class WHERE oid = to_regclass('half_vector')"
        )
        assert walled


@pytest.mark.usefixtures("vectors_on_server")
def test_with_many_unindexed_vectors_the_matrix_is_used(
    postgres: Server,
) -> None:
    url = postgres.database()
    vectors = some_vectors(60)
    with closing(PostgresStore(url)) as store:
        fill(store, vectors)
        postgres.run(url, "UPDATE holdfast.half_vector SET direction = NULL")
        assert len(by_server(store, vectors[5])) == 10
    for unplaced, named in ((60, True), (59, False)):
        limits = PgVectorLimits(unplaced=unplaced)
        with closing(PostgresStore(url, vector_limits=limits)) as store:
            lent = store.borrow_reader()
            assert lent is not None
            with closing(lent):
                for reader in (store, lent):
                    found = reader.vectors.nearest("ours", MODEL, vectors[5].tobytes(), 10)
                    assert (found is not None) == named
