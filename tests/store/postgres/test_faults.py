"""Servers that stop, crash, fill up or take nobody in, in the middle of things."""

from __future__ import annotations

import os
import random
import subprocess
import tempfile
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext
from pathlib import Path

import psycopg
import pytest

from holdfast.errors import (
    SettingsError,
    StoreBusyError,
    StoreError,
    StoreFullError,
    StoreUnavailableError,
)
from holdfast.model.bank import Bank
from holdfast.store.postgres.address import (
    BUSY_S,
    MAX_CONNECTIONS,
    Address,
    read_address,
)
from holdfast.store.postgres.store import PostgresStore
from tests.support.http.server import serving
from tests.support.postgres_proxy import Proxy
from tests.support.postgres_server import Server
from tests.support.waiting import wait_until

NOON = "2026-03-01T12:00:00Z"
_OURS = (
    "SELECT 1 FROM pg_stat_activity "
    "WHERE application_name = 'holdfast' AND datname = current_database()"
)


def a_bank(name: str) -> Bank:
    return Bank(name, name, NOON)


def names(store: PostgresStore) -> list[str]:
    return [bank.id for bank in store.banks.all()]


@pytest.fixture
def url(postgres: Server) -> str:
    return postgres.database()


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    with closing(PostgresStore(url)) as made:
        yield made


@contextmanager
def back_soon(postgres: Server) -> Generator[None]:
    starting = threading.Timer(0.3, postgres.start)
    starting.start()
    try:
        yield
    finally:
        starting.join()


def test_a_transaction_whose_connection_is_lost_fails_and_leaves_nothing(
    postgres: Server, url: str, store: PostgresStore
) -> None:
    with (
        pytest.raises(StoreUnavailableError, match="cannot be used") as raised,
        store.transaction(),
    ):
        store.banks.add(a_bank("half"))
        kill_others(postgres, url)
        store.banks.add(a_bank("whole"))
    assert "completely or not at all" in raised.value.remedy
    assert names(store) == []
    store.banks.add(a_bank("later"))
    assert names(store) == ["later"]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_transaction_cut_off_during_commit_is_written_whole_or_not_at_all(
    postgres: Server, url: str, when: str
) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="hf-px-") as folder,
        closing(Proxy(Path(folder), postgres.home)) as proxy,
        closing(PostgresStore(url.replace(str(postgres.home), folder))) as store,
    ):
        store.banks.add(a_bank("ours"))
        proxy.hang_up(when)
        with pytest.raises(StoreUnavailableError) as raised, store.transaction():
            store.database.run("UPDATE bank SET skepticism = 5")
            store.database.run("UPDATE bank SET empathy = 5")
        assert "completely or not at all" in raised.value.remedy
        wanted = (5, 5) if when == "after" else (3, 3)
        found = "SELECT skepticism, empathy FROM bank"
        wait_until(
            lambda: store.database.one(found) == wanted, "the server knows what became of it"
        )


def test_connections_that_a_restart_has_closed_are_opened_again(
    postgres: Server, url: str, store: PostgresStore
) -> None:
    kill_others(postgres, url)
    assert names(store) == []
    kill_others(postgres, url)
    with store.transaction():
        store.banks.add(a_bank("ours"))
    postgres.run(postgres.url("postgres"), "CHECKPOINT")
    postgres.kill()
    with back_soon(postgres):
        assert names(store) == ["ours"]


def test_an_unavailable_server_fails_fast_and_is_used_again_once_it_is_back(
    postgres: Server, url: str
) -> None:
    with closing(PostgresStore(url, busy_s=2.0)) as store:
        store.banks.add(a_bank("ours"))
        postgres.run(postgres.url("postgres"), "CHECKPOINT")
        postgres.stop()
        try:
            begun = time.monotonic()
            with pytest.raises(StoreUnavailableError, match="cannot be used right now") as raised:
                store.banks.all()
            waited_s = time.monotonic() - begun
            assert "once the server answers" in raised.value.remedy
            begun = time.monotonic()
            for _ in range(3):
                with pytest.raises(StoreUnavailableError), store.transaction():
                    store.banks.add(a_bank("half"))
            assert time.monotonic() - begun < waited_s
        finally:
            postgres.start()
        assert names(store) == ["ours"]


def test_a_server_without_free_connections_is_reported_and_waited_for(
    postgres: Server, url: str
) -> None:
    with ExitStack() as others, closing(PostgresStore(url)) as store:
        kill_others(postgres, url)
        with pytest.raises(psycopg.OperationalError, match="too many"):
            while True:
                others.enter_context(closing(psycopg.connect(url)))
        with pytest.raises(StoreUnavailableError, match="too many"):
            PostgresStore(f"{url}&connections=3")
        threading.Timer(0.3, others.pop_all().close).start()
        assert store.banks.all() == []


def test_many_threads_share_a_few_connections(
    postgres: Server, url: str, store: PostgresStore
) -> None:
    store.banks.add(a_bank("ours"))
    told: list[list[str]] = []
    most: list[int] = []

    def ask() -> None:
        beside = store.borrow_reader()
        assert beside is not None
        for _ in range(5):
            told.append([bank.id for bank in beside.banks.all()])
            most.append(len(postgres.run(url, _OURS)))
        beside.close()

    threads = [threading.Thread(target=ask) for _ in range(MAX_CONNECTIONS + 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == [["ours"]] * 5 * (MAX_CONNECTIONS + 5)
    assert max(most) <= MAX_CONNECTIONS
    assert store.database.one("SELECT 1") == (1,)


def test_no_connection_stays_open_after_close(postgres: Server, url: str) -> None:
    store = PostgresStore(url)
    forgotten, kept = store.borrow_reader(), store.borrow_reader()
    assert forgotten is not None and kept is not None
    assert (forgotten.banks.all(), kept.banks.all()) == ([], [])
    store.return_reader(kept)
    del forgotten
    with store.transaction():
        store.banks.add(a_bank("ours"))
    store.close()

    wait_until(lambda: not postgres.run(url, _OURS), "its connections are closed")


def test_a_full_disk_is_reported_and_leaves_nothing_partially_written(postgres: Server) -> None:
    with small_disk(48) as folder:
        postgres.own(folder)
        place = postgres.url("postgres")
        postgres.run(place, f"CREATE TABLESPACE small LOCATION '{folder}'")
        postgres.run(place, "CREATE DATABASE narrow TEMPLATE whole TABLESPACE small")
        with closing(PostgresStore(postgres.url("narrow"))) as store:
            store.banks.add(a_bank("before"))
            with pytest.raises(StoreFullError) as raised:
                fill_up(store)
            assert "Free some space" in raised.value.remedy
            assert names(store) == ["before"]
            enlarge(folder, 200)
            with store.transaction():
                store.banks.add(a_bank("after"))
            assert names(store) == ["after", "before"]
        postgres.run(place, "DROP DATABASE narrow")
        postgres.run(place, "DROP TABLESPACE small")


def fill_up(store: PostgresStore) -> None:
    some = random.Random(7)
    with store.transaction():
        for n in range(200):
            store.banks.add(Bank(f"b{n}", "much", NOON, some.randbytes(300_000).hex()))


@contextmanager
def small_disk(megabytes: int) -> Generator[Path]:
    with tempfile.TemporaryDirectory(prefix="hf-sm-") as folder:
        size = f"size={megabytes}m"
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", folder], check=False)
        if made.returncode:
            pytest.skip("only root can make a small disk")
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "-l", folder], check=True)


def enlarge(folder: Path, megabytes: int) -> None:
    how = f"remount,size={megabytes}m"
    subprocess.run(["mount", "-o", how, str(folder)], check=True)


def test_an_unreachable_server_is_reported_without_its_password() -> None:
    with pytest.raises(StoreUnavailableError) as raised:
        PostgresStore("postgresql://me:secret@127.0.0.1:1/memory")

    assert "127.0.0.1:1/memory" in raised.value.message
    assert "secret" not in f"{raised.value.message} {raised.value.remedy}"


def test_a_missing_database_or_role_is_not_waited_for(postgres: Server) -> None:
    begun = time.monotonic()
    for url in (postgres.url("nowhere"), postgres.url("postgres", "nobody_at_all")):
        with pytest.raises(StoreError, match="does not exist") as raised:
            PostgresStore(url)
        assert not isinstance(raised.value, StoreBusyError)
    assert time.monotonic() - begun < BUSY_S


def test_a_url_can_set_the_waiting_time_and_the_number_of_connections() -> None:
    plain = "postgresql://me@db/memory?sslmode=require"
    given = read_address(plain + "&wait_s=2.5&connections=4&schema=other")

    assert given == Address(plain, 2.5, 4, "other")
    assert read_address(plain) == Address(plain)
    for wrong in ("wait_s=soon", "connections=1", "wait_s=0", "schema=a%22b"):
        with pytest.raises(SettingsError):
            read_address(f"{plain}&{wrong}")


def test_requests_fail_while_the_server_is_down_and_succeed_once_it_is_back(
    postgres: Server, url: str, tmp_path: Path
) -> None:
    env = {**os.environ, "HOME": str(tmp_path), "HOLDFAST_STORE": f"{url}&wait_s=0.5"}
    with serving(env, tmp_path) as server:
        asked = "/api/v1/banks"
        assert server.ask(asked).status == 200
        postgres.run(postgres.url("postgres"), "CHECKPOINT")
        postgres.kill()
        try:
            got = server.ask(asked)
            assert (got.status, "once the server answers" in got.text) == (503, True)
        finally:
            postgres.start()
        assert server.ask(asked).status == 200


@pytest.mark.parametrize("transaction", [False, True], ids=["a query", "a transaction"])
def test_interrupting_never_fails_whatever_the_state_of_the_connection(
    postgres: Server, url: str, transaction: bool
) -> None:
    failed: list[StoreError] = []
    sleeping = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
    with closing(PostgresStore(f"{url}&wait_s=0.3")) as store:
        store.interrupt()

        def wait_long() -> None:
            try:
                with store.transaction() if transaction else nullcontext():
                    store.database.all("SELECT pg_sleep(60)")
            except StoreError as error:
                failed.append(error)

        for kill in (False, True):
            asking = threading.Thread(target=wait_long)
            asking.start()
            wait_until(lambda: postgres.run(url, sleeping), "the query runs")
            if kill:
                postgres.kill()
            try:
                while asking.is_alive():
                    store.interrupt()
                    asking.join(0.01)
            finally:
                if kill:
                    postgres.start()
        assert ["user request" in one.message for one in failed] == [True, False]


def kill_others(postgres: Server, url: str) -> None:
    """End every connection to a database but the one that does so, and wait until they are."""
    postgres.run(
        url,
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()",
    )
