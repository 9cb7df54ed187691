"""A pgvector that crashes its server: asked once, then never again, by anybody."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.app.doctor.check import Check, Grade
from holdfast.app.doctor.examine import run_checks, run_fixes
from holdfast.app.memory import Holdfast
from holdfast.errors import ForbiddenError, StoreUnavailableError
from holdfast.principal import Level, Principal
from holdfast.settings import Settings, load_settings
from holdfast.store.access_fence import fence_store
from holdfast.store.postgres.connection import PostgresConnection
from holdfast.store.postgres.nearest import HNSW_INDEXES, PgVectorLimits
from holdfast.store.postgres.read_only import PostgresReadStore
from holdfast.store.postgres.store import PostgresStore
from holdfast.store.protocol import ReadStore
from tests.store.postgres.test_nearest import MODEL, by_matrix, fill, put, some_vectors
from tests.support.http.server import serving
from tests.support.postgres_server import AS_IT_IS, CRASHING, Server
from tests.support.transcripts import bug_hunt
from tests.support.waiting import wait_until

VECTORS = some_vectors(40)
PROBLEM = "pgvector is not used: the server crashed when it compared vectors with it"
_TRIED = "SELECT problem FROM holdfast.extension_trial"
_WORKED = "UPDATE holdfast.extension_trial SET problem = ''"
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
    return once_worked(crashing)


def once_worked(server: Server) -> str:
    url = server.database()
    trust(server, url)
    with closing(PostgresStore(url)) as store:
        fill(store, VECTORS[:20])
        assert store.vectors.unindexed("ours", MODEL) == 0
    return url


def trust(server: Server, url: str) -> None:
    """Write down that the extension works, and wait until it is used again after a crash."""
    server.run(url, _WORKED)
    server.wait_until_it_ran_for_a_while()


def nearest(store: ReadStore, n: int = 30) -> object:
    return store.vectors.nearest("ours", MODEL, VECTORS[n].tobytes(), 10)


def test_opening_a_memory_tries_the_extension_once_and_never_again(
    crashing: Server, tmp_path: Path
) -> None:
    url, before = crashing.empty_database(), crashing.crashes
    for _ in range(2):
        with closing(PostgresStore(url)) as store:
            assert store.vectors.problem() == PROBLEM
            assert crashing.crashes == before + 1
    with closing(PostgresStore(url)) as store:
        fill(store, VECTORS[:20])
        assert nearest(store) is None
        assert not store.vectors.index(MODEL)
        assert store.vectors.unindexed("ours", MODEL) is None
        assert len(by_matrix(store, VECTORS[30], tmp_path)) == 10
    assert crashing.crashes == before + 1


@pytest.mark.slow
def test_the_extension_of_this_machine_is_tried_at_most_once(tmp_path: Path) -> None:
    with closing(Server(vector=AS_IT_IS)) as server:
        if not server.vector_problem or "crashes" not in server.vector_problem:
            pytest.skip("the extension `vector` of this PostgreSQL works on this machine")
        url, before = server.empty_database(), server.crashes
        for _ in range(2):
            with closing(PostgresStore(url)) as store:
                assert (store.vectors.problem(), server.crashes) == (PROBLEM, before + 1)
        url, before = once_worked(server), server.crashes
        for _ in range(2):
            with closing(PostgresStore(url)) as store:
                assert (nearest(store), nearest(store)) == (None, None)
                assert len(by_matrix(store, VECTORS[30], tmp_path)) == 10
                assert server.crashes == before + 1


def test_a_query_that_crashes_the_server_is_never_repeated(crashing: Server, worked: str) -> None:
    before = crashing.crashes
    with closing(PostgresStore(worked)) as store, closing(PostgresStore(worked)) as other:
        assert other.vectors.problem() == ""
        assert nearest(store) is None
        assert store.vectors.problem() == PROBLEM
        assert (nearest(store), nearest(other)) == (None, None)
    asked = (
        "import sys; from holdfast.store.postgres.store import PostgresStore; "
        f"s = PostgresStore(sys.argv[1]); print(s.vectors.nearest('ours', '{MODEL}', b'abcd', 3))"
    )
    done = subprocess.run([sys.executable, "-c", asked, worked], capture_output=True, check=True)
    assert done.stdout == b"None\n"
    assert crashing.crashes == before + 1
    assert crashing.run(worked, _TRIED) == [
        ("the server crashed when it compared vectors with it",)
    ]


def test_a_process_stops_using_the_extension_after_a_crash_in_another(
    crashing: Server, worked: str
) -> None:
    with closing(PostgresStore(f"{worked}&connections=5")) as other:
        assert other.vectors.problem() == ""  # looked up, in a pool of its own
        with closing(PostgresStore(worked)) as store:
            assert nearest(store) is None
        before = crashing.crashes
        crashing.wait_until_it_ran_for_a_while()
        assert nearest(other) is None
        assert crashing.crashes == before


def test_concurrent_queries_crash_the_server_only_once(crashing: Server, worked: str) -> None:
    before = crashing.crashes
    answers: list[object] = []
    with closing(PostgresStore(worked)) as store:
        readers = [store.borrow_reader() for _ in range(6)]

        def ask(reader: ReadStore | None) -> None:
            assert reader is not None
            answers.append(nearest(reader))

        run_all([threading.Thread(target=ask, args=(reader,)) for reader in readers])
        for reader in readers:
            assert reader is not None
            reader.close()
    assert answers == [None] * 6
    assert crashing.crashes == before + 1


def run_all(threads: Sequence[threading.Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.slow
def test_reader_and_member_roles_record_that_the_server_crashed(crashing: Server) -> None:
    for opened in (PostgresReadStore, PostgresStore):
        url = once_worked(crashing)
        member, before = crashing.member(url), crashing.crashes
        with closing(opened(member, banks=["ours"])) as store:
            assert nearest(store) is None
        assert crashing.crashes == before + 1
        assert crashing.run(url, _TRIED) != [("",)]
        with closing(PostgresStore(url)) as store:
            assert (nearest(store), store.vectors.problem()) == (None, PROBLEM)
        assert crashing.crashes == before + 1


def test_a_reader_of_one_bank_sees_the_crash_but_cannot_try_again(
    crashing: Server, worked: str
) -> None:
    before = crashing.crashes
    with closing(PostgresStore(worked)) as store:
        mine = fence_store(store, Principal("a", ("ours",), Level.READ))
        assert (nearest(mine), mine.vectors.problem()) == (None, PROBLEM)
        with pytest.raises(ForbiddenError):
            mine.vectors.try_again()
    assert crashing.crashes == before + 1


def test_a_role_without_write_access_remembers_the_crash_itself(
    crashing: Server, worked: str
) -> None:
    member, before = crashing.member(worked), crashing.crashes
    role = member.split("//")[1].split("@")[0]
    crashing.run(worked, f"REVOKE INSERT, UPDATE ON holdfast.extension_trial FROM {role}")
    with closing(PostgresReadStore(member, banks=["ours"])) as store:
        assert (nearest(store), store.vectors.problem()) == (None, PROBLEM)
        crashing.wait_until_it_ran_for_a_while()
        assert nearest(store) is None
    assert crashing.crashes == before + 1
    assert crashing.run(worked, _TRIED) == [("",)]


def test_if_an_index_cannot_be_built_the_vector_matrix_is_used(
    crashing: Server, worked: str, tmp_path: Path
) -> None:
    before = crashing.crashes
    with closing(PostgresStore(worked, vector_limits=PgVectorLimits(exact_scan=10))) as store:
        assert not store.vectors.index(MODEL)
        assert not store.vectors.index(MODEL)
        put(store, VECTORS, range(20, 25))
        assert store.vectors.span("ours", MODEL).total == 25
    with closing(PostgresStore(worked)) as store:
        assert store.database.all(HNSW_INDEXES) == []
        store.erasure.overwrite_deleted()
        assert len(by_matrix(store, VECTORS[30], tmp_path)) == 10
    assert crashing.crashes == before + 1


def test_vectors_that_crash_an_index_are_stored_in_the_same_transaction(
    crashing: Server,
) -> None:
    url = crashing.database()
    trust(crashing, url)
    with closing(PostgresStore(url, vector_limits=PgVectorLimits(exact_scan=0))) as store:
        fill(store, VECTORS[:1])
        assert store.vectors.index(MODEL)  # of one vector, which is compared with none
        assert len(store.database.all(HNSW_INDEXES)) == 1
        before = crashing.crashes
        with store.transaction():
            store.database.run("UPDATE bank SET name = 'Ours' WHERE id = 'ours'")
            put(store, VECTORS, range(1, 5))
            put(store, VECTORS, range(5, 9))
        assert store.vectors.span("ours", MODEL).total == 9
        assert [bank.name for bank in store.banks.all()] == ["Ours"]
        assert store.vectors.problem() == PROBLEM
    assert crashing.crashes == before + 1


def test_erasing_reports_that_an_index_cannot_be_rebuilt(
    crashing: Server,
) -> None:
    url = crashing.database()
    trust(crashing, url)
    with closing(PostgresStore(url, vector_limits=PgVectorLimits(exact_scan=0))) as store:
        fill(store, VECTORS[:1])
        assert store.vectors.index(MODEL)
        crashing.run(url, "UPDATE holdfast.extension_trial SET problem = 'crashed'")
        before = crashing.crashes
        with pytest.raises(StoreUnavailableError, match="compares vectors"):
            store.erasure.overwrite_deleted()
    with closing(PostgresStore(url)) as store:
        store.erasure.overwrite_deleted()
    assert crashing.crashes == before


def test_an_unfinished_trial_is_not_repeated(crashing: Server) -> None:
    url = crashing.database()
    crashing.run(
        url,
        "UPDATE holdfast.extension_trial SET problem = 'it was being tried, and that did not end'",
    )
    before = crashing.crashes
    with closing(PostgresStore(url)) as store:
        assert nearest(store) is None
        assert "was being tried" in store.vectors.problem()
        crashing.run(url, _WORKED)  # somebody else's trial ended well
        assert store.vectors.problem() == ""
    assert crashing.crashes == before


def test_a_connection_ended_by_the_server_is_not_taken_for_a_crash(
    crashing: Server, worked: str
) -> None:
    """A question waits for a table that another has locked, and an administrator ends it."""
    before = crashing.crashes
    waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    answers: list[object] = []
    with closing(PostgresStore(worked)) as store, closing(PostgresConnection(worked)) as locking:
        with locking.schema_change():
            locking.script("LOCK TABLE passage")

            def ask() -> None:
                named = store.vectors.nearest("ours", MODEL, VECTORS[30].tobytes(), 3, ["turn"])
                answers.append(named)

            asking = threading.Thread(target=ask)
            asking.start()
            wait_until(lambda: crashing.run(worked, waiting), "the question waits")
            crashing.run(worked, f"SELECT pg_terminate_backend(pid) FROM ({waiting})")
            asking.join()
        assert (answers, store.vectors.problem()) == ([None], "")
    assert crashing.run(worked, _TRIED) == [("",)]
    assert crashing.crashes == before


@pytest.mark.slow
def test_a_server_that_stays_down_after_a_crash_is_reported_and_not_queried_again() -> None:
    with closing(Server(vector=CRASHING)) as server:
        url = f"{once_worked(server)}&wait_s=0.5"
        server.run(server.url("postgres"), "ALTER SYSTEM SET restart_after_crash = off")
        server.run(server.url("postgres"), "SELECT pg_reload_conf()")
        before = server.crashes
        with closing(PostgresStore(url)) as store:
            with pytest.raises(StoreUnavailableError):
                nearest(store)
            server.stop()  # what is left of it
            server.start()
            assert nearest(store) is None
            assert store.vectors.problem() == PROBLEM
        assert server.crashes == before + 1


def settings_of(home: Path, url: str) -> Settings:
    return load_settings({"HOME": str(home), "HOLDFAST_STORE": url})


def unhealthy(settings: Settings) -> dict[str, Check]:
    return {check.name: check for check in run_checks(settings, None) if check.grade != Grade.OK}


@pytest.mark.slow
def test_recall_answers_and_reports_that_the_server_does_not_compare_vectors(
    crashing: Server, tmp_path: Path
) -> None:
    url = once_worked(crashing)
    session = bug_hunt().write(tmp_path / "said")
    with Holdfast(settings_of(tmp_path, url), now=lambda: "2026-09-02T12:00:00Z") as memory:
        memory.ingest(memory.ingestion.find([session], "proj"))
        memory.ingestion.embed()
        before = crashing.crashes
        memory.recall("rows twice", "proj")
        found = memory.recall("rows twice", "proj")
        (semantic,) = [one for one in found.strategies if one.name == "semantic"]
        assert found.hits and semantic.found > 0 and semantic.problem == PROBLEM
    assert crashing.crashes == before + 1
    env = {**os.environ, "HOME": str(tmp_path), "HOLDFAST_STORE": url}
    with serving(env, tmp_path) as server:
        got = server.ask("/api/v1/recall?query=rows+twice&bank=proj")
        assert got.status == 200 and PROBLEM in got.text
    assert crashing.crashes == before + 1


def test_the_doctor_reports_the_crash_and_tries_again_on_request(
    crashing: Server, tmp_path: Path
) -> None:
    url = once_worked(crashing)
    with closing(PostgresStore(url)) as store:
        assert nearest(store) is None
    settings, before = settings_of(tmp_path, url), crashing.crashes
    check = unhealthy(settings)["vector search"]
    assert check.sentence.startswith("Pgvector is not used: the server crashed")
    assert "for the server's CPU" in check.remedy and "doctor --fix" in check.remedy
    run_fixes(settings, None, lambda check: False)
    assert crashing.crashes == before
    assert tried(settings).startswith("It still fails: pgvector is not used")
    assert crashing.crashes == before + 1
    assert "vector search" in unhealthy(settings)
    crashing.run(url, _MENDED)
    assert tried(settings) == "The server compares vectors again."
    assert "vector search" not in unhealthy(settings)
    crashing.wait_until_it_ran_for_a_while()
    with closing(PostgresStore(url)) as store:
        assert isinstance(nearest(store), list)
    assert crashing.crashes == before + 1


def tried(settings: Settings) -> str:
    fixes = run_fixes(settings, None, lambda check: check.name == "vector search")
    (said,) = [fix.what for fix in fixes if fix.name == "vector search"]
    return said


def test_the_doctor_on_the_command_line_prints_a_remedy(crashing: Server, tmp_path: Path) -> None:
    env = {**os.environ, "HOME": str(tmp_path), "HOLDFAST_STORE": crashing.database()}
    command = [sys.executable, "-m", "holdfast", "doctor", "--json"]
    before = crashing.crashes
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    checks: list[dict[str, Any]] = json.loads(done.stdout)["checks"]
    (told,) = [check for check in checks if check["name"] == "vector search"]
    assert (told["grade"], told["fixable"]) == ("warning", True)
    assert crashing.crashes == before


@pytest.mark.parametrize("transaction", [False, True], ids=["a query", "a transaction"])
def test_interrupting_never_fails_whatever_the_state_of_the_connection(
    crashing: Server, transaction: bool
) -> None:
    url = f"{crashing.database()}&wait_s=0.3"
    store = PostgresStore(url)
    store.interrupt()
    failed: list[StoreUnavailableError] = []

    def wait_long() -> None:
        try:
            if transaction:
                with store.transaction():
                    store.database.all("SELECT pg_sleep(60)")
            else:
                store.database.all("SELECT pg_sleep(60)")
        except StoreUnavailableError as error:
            failed.append(error)

    asking = threading.Thread(target=wait_long)
    asking.start()
    sleeping = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
    wait_until(lambda: crashing.run(url.split("&wait_s")[0], sleeping), "the query runs")
    crashing.kill()
    try:
        while asking.is_alive():
            store.interrupt()
            asking.join(0.01)
        store.interrupt()
        assert len(failed) == 1
    finally:
        crashing.start()
    store.close()
    store.interrupt()
