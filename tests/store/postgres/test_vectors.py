"""The nearest vectors as the server tells them: with pgvector, without it, and with one that
crashes its server, which is not used any more."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import numpy as np
import numpy.typing as npt
import psycopg
import pytest

from holdfast.app.doctor.check import Check, Grade
from holdfast.app.doctor.examine import run_checks, run_fixes
from holdfast.app.memory import Holdfast
from holdfast.errors import ForbiddenError
from holdfast.model.bank import Bank
from holdfast.model.query import Passage
from holdfast.model.trust import Status, Trust
from holdfast.principal import Level, Principal
from holdfast.recall.retrievers.vector_matrix import VectorMatrix, rank_stored_vectors
from holdfast.settings import Settings, load_settings
from holdfast.store.postgres.store import PostgresStore
from holdfast.store.protocol import ReadStore, Store
from tests.store.conformance import checks_vector_search, checks_vectors
from tests.store.conformance.samples import MakeStore, restricted
from tests.support.postgres_server import AS_IT_IS, CRASHING, Server
from tests.support.transcripts import bug_hunt
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
def test_with_many_unindexed_vectors_the_matrix_is_used(postgres: Server) -> None:
    url, vectors = postgres.database(), some_vectors(2001)
    unplace = "UPDATE holdfast.half_vector SET direction = NULL"
    with closing(PostgresStore(url)) as store:
        fill(store, vectors)
        postgres.run(url, f"{unplace} WHERE number % 2 = 0")
        assert len(by_server(store, vectors[5])) == 10
        postgres.run(url, unplace)
        assert nearest(store, vectors[5]) is None


# A pgvector that crashes its server.

PROBLEM = "pgvector is not used: the server crashed when it compared vectors with it"
VECTORS = some_vectors(40)
_TRIED = "SELECT problem FROM holdfast.extension_trial"
# The functions of the crashing extension, mended.
_MENDED = """
    CREATE OR REPLACE FUNCTION public.halfvec_negative_inner_product(public.halfvec, public.halfvec)
        RETURNS double precision LANGUAGE sql STRICT AS 'SELECT -1.0::double precision'
"""


@pytest.fixture(scope="module")
def crashing() -> Generator[Server]:
    """A server whose pgvector crashes it."""
    with closing(Server(vector=CRASHING)) as server:
        yield server


@pytest.fixture
def worked(crashing: Server) -> str:
    """A memory whose server compared vectors when that was tried, and has crashed at it since."""
    crashing.wait_until_it_answers()
    url = crashing.empty_database()
    broken = crashing.run(url, "CREATE EXTENSION vector") or crashing.run(
        url, "SELECT pg_get_functiondef('halfvec_negative_inner_product'::regproc)"
    )
    crashing.run(url, _MENDED)
    with closing(PostgresStore(url)) as store:
        fill(store, VECTORS[:20])
        assert store.vectors.unindexed("ours", MODEL) == 0
    crashing.run(url, broken[0][0])
    return url


def wait_for_crashes(server: Server, count: int) -> None:
    """Wait until the server noticed this many crashes; one more would be noticed soon after."""
    wait_until(lambda: server.crashes >= count, "the server noticed the crash")
    server.wait_until_it_answers()
    assert server.crashes == count


def nearest(store: ReadStore, asked: Floats = VECTORS[30]) -> object:
    return store.vectors.nearest("ours", MODEL, asked.tobytes(), 10)


def test_opening_a_memory_tries_the_extension_once_and_never_again(
    crashing: Server, tmp_path: Path
) -> None:
    url, before = crashing.empty_database(), crashing.crashes
    crashing.run(url, "CREATE EXTENSION vector")
    for _ in range(2):
        with closing(PostgresStore(url)) as store:
            assert store.vectors.problem() == PROBLEM
    with closing(PostgresStore(url)) as store:
        fill(store, VECTORS[:20])
        assert nearest(store) is None
        assert not store.vectors.index(MODEL)
        assert store.vectors.unindexed("ours", MODEL) is None
        assert len(by_matrix(store, VECTORS[30], tmp_path)) == 10
    wait_for_crashes(crashing, before + 1)


@pytest.mark.slow
def test_the_extension_of_this_machine_is_tried_at_most_once() -> None:
    with closing(Server(vector=AS_IT_IS)) as server:
        if not server.vector_problem or "crashes" not in server.vector_problem:
            pytest.skip("the extension `vector` of this PostgreSQL works on this machine")
        url, before = server.empty_database(), server.crashes
        server.run(url, "CREATE EXTENSION vector")
        for _ in range(2):
            with closing(PostgresStore(url)) as store:
                assert (store.vectors.problem(), server.crashes) == (PROBLEM, before + 1)


def test_a_search_that_crashes_the_server_is_tried_once_more_and_then_by_nobody(
    crashing: Server, worked: str, tmp_path: Path
) -> None:
    before = crashing.crashes
    with closing(PostgresStore(worked)) as store, closing(PostgresStore(worked)) as other:
        assert other.vectors.problem() == ""
        assert nearest(store) is None
        assert len(by_matrix(store, VECTORS[30], tmp_path)) == 10
        assert (nearest(store), nearest(other)) == (None, None)
        assert store.vectors.problem() == other.vectors.problem() == PROBLEM
        fill_more = [(f"h{n}", 0, VECTORS[n].tobytes()) for n in range(20, 30)]
        with store.transaction():
            store.vectors.put("ours", MODEL, fill_more)
        store.erasure.overwrite_deleted()
        mine = restricted(store, Principal("a", ("ours",), Level.READ))
        assert (nearest(mine), mine.vectors.problem()) == (None, PROBLEM)
        with pytest.raises(ForbiddenError):
            mine.vectors.try_again()
    with closing(PostgresStore(f"{worked}&connections=5")) as store:
        assert (nearest(store), store.vectors.problem()) == (None, PROBLEM)
    wait_for_crashes(crashing, before + 2)


def test_searches_at_once_crash_the_server_a_few_times_at_most(
    crashing: Server, worked: str
) -> None:
    before = crashing.crashes
    with closing(PostgresStore(worked)) as store:
        readers = [reader for _ in range(6) if (reader := store.borrow_reader())]
        with ThreadPoolExecutor(6) as threads:
            assert list(threads.map(nearest, readers)) == [None] * 6
        for reader in readers:
            reader.close()
        after = crashing.crashes
        assert after <= before + 7  # once for each, and the trial
        assert nearest(store) is None and crashing.crashes == after


@pytest.mark.slow
def test_reader_and_member_roles_record_that_the_server_crashed(
    crashing: Server, worked: str
) -> None:
    member = crashing.member(worked)
    for read_only in (True, False):
        before = crashing.crashes
        crashing.wait_until_it_answers()
        crashing.run(worked, "UPDATE holdfast.extension_trial SET problem = ''")
        with closing(PostgresStore(member, banks=["ours"], read_only=read_only)) as store:
            assert nearest(store) is None
        wait_for_crashes(crashing, before + 2)
        assert crashing.run(worked, _TRIED) != [("",)]


def test_a_connection_ended_by_the_server_is_not_taken_for_a_crash(
    postgres: Server, vectors_on_server: None
) -> None:
    """A question waits for a table that another has locked, and an administrator ends it."""
    url, answers = postgres.database(), list[object]()
    waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    with closing(PostgresStore(url)) as store, psycopg.connect(url) as locking:
        fill(store, VECTORS[:20])
        locking.execute("LOCK TABLE holdfast.vector")
        asking = threading.Thread(target=lambda: answers.append(nearest(store)))
        asking.start()
        wait_until(lambda: postgres.run(url, waiting), "the question waits")
        postgres.run(url, f"SELECT pg_terminate_backend(pid) FROM ({waiting})")
        asking.join()
        locking.rollback()
        assert answers == [None] and nearest(store)
        assert (store.vectors.problem(), postgres.run(url, _TRIED)) == ("", [("",)])


def settings_of(home: Path, url: str) -> Settings:
    return load_settings({"HOME": str(home), "HOLDFAST_STORE": url})


@pytest.mark.slow
def test_recall_answers_and_reports_that_the_server_does_not_compare_vectors(
    worked: str, tmp_path: Path
) -> None:
    session = bug_hunt().write(tmp_path / "said")
    with Holdfast(settings_of(tmp_path, worked), now=lambda: "2026-09-02T12:00:00Z") as memory:
        memory.ingest(memory.ingestion.find([session], "proj"))
        memory.ingestion.embed()
        memory.recall("rows twice", "proj")
        found = memory.recall("rows twice", "proj")
        (semantic,) = [one for one in found.strategies if one.name == "semantic"]
        assert found.hits and semantic.found > 0 and semantic.problem == PROBLEM


def test_the_doctor_reports_the_crash_and_tries_again_on_request(
    crashing: Server, worked: str, tmp_path: Path
) -> None:
    def unhealthy() -> dict[str, Check]:
        return {one.name: one for one in run_checks(settings, None) if one.grade != Grade.OK}

    def tried() -> str:
        fixes = run_fixes(settings, None, lambda check: check.name == "vector search")
        return next(fix.what for fix in fixes if fix.name == "vector search")

    before = crashing.crashes
    with closing(PostgresStore(worked)) as store:
        assert nearest(store) is None
    wait_until(lambda: crashing.crashes == before + 2, "the server noticed the crashes")
    crashing.wait_until_it_answers()
    settings, before = settings_of(tmp_path, worked), crashing.crashes
    check = unhealthy()["vector search"]
    assert check.sentence.startswith("Pgvector is not used: the server crashed")
    assert "for the server's CPU" in check.remedy and "doctor --fix" in check.remedy
    assert crashing.crashes == before
    assert tried().startswith("It still fails: pgvector is not used")
    wait_for_crashes(crashing, before + 1)
    crashing.wait_until_it_answers()
    crashing.run(worked, _MENDED)
    assert tried() == "The server compares vectors again."
    assert "vector search" not in unhealthy()
    with closing(PostgresStore(worked)) as store:
        assert isinstance(nearest(store), list)
