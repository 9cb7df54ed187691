"""What the server shows a connection, in all that can happen to one: it is never more than whoever
asks may see, and never what the one before could."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from typing import Any, cast

import pytest

from holdfast.errors import HoldfastError, StoreError, StoreUnavailableError
from holdfast.model.ledgers.model_calls import ServicePause
from holdfast.principal import Level, Principal
from holdfast.store.access_fence import fence_store
from holdfast.store.postgres.nearest import PgVectorLimits
from holdfast.store.postgres.schema import VERSION, migrations
from holdfast.store.postgres.store import PostgresStore
from holdfast.store.protocol import Store
from tests.store.postgres.test_faults import kill_others
from tests.store.postgres.test_nearest import MODEL, some_vectors
from tests.store.postgres.test_nearest import fill as fill_vectors
from tests.store.postgres.test_store import NOON, a_bank, a_passage, fill, found
from tests.support.postgres_server import Server

BANKS = ("ours", "theirs")
PAUSE = ServicePause("someone", "2027-01-01T00:00:00Z", 1, "away", NOON)


@pytest.fixture
def url(postgres: Server) -> str:
    """A database with two banks, as its owner opens it."""
    made = postgres.database()
    with closing(PostgresStore(made)) as store:
        for bank in BANKS:
            fill(store, bank, a_passage(bank, f"p-{bank}", "raise the anchor"))
    return made


def key_for(*banks: str) -> Principal:
    return Principal("a", banks, Level.ADMIN)


def seen(store: Store) -> list[str]:
    """The banks that the server shows, as if the fence had a hole."""
    return sorted(bank.id for bank in store.banks.all())


def lose(store: Store, how: Callable[[], None]) -> None:
    """A transaction in which a key also asks what is of no bank, and the way to the server is lost
    in the middle of that."""
    ours = fence_store(store, key_for("ours"))
    with store.transaction():
        assert seen(store) == ["ours"]
        ours.model_calls.pause_service(PAUSE)
        assert seen(store) == ["ours"]
        how()
        assert seen(store) == ["ours"]
        assert len(ours.model_calls.paused_services()) == 1
        store.derived.put("ours", "s2", [a_passage("ours", "p2", "drop the anchor")])
        with pytest.raises(HoldfastError):
            ours.derived.put("theirs", "s2", [a_passage("theirs", "p3", "drop")])
        assert seen(store) == ["ours"] and found(store, "theirs", "anchor") == []
    assert seen(store) == ["ours"]
    cast("Any", ours).remove_restrictions()
    assert seen(store) == sorted(BANKS)
    assert len(found(store, "ours", "anchor")) == 2


def test_a_repeated_transaction_sees_the_same_banks(postgres: Server, url: str) -> None:
    with closing(PostgresStore(postgres.member(url))) as store:
        lose(store, lambda: kill_others(postgres, url))


def test_a_transaction_repeated_after_a_server_crash_sees_the_same_banks(
    postgres: Server, url: str
) -> None:
    def kill() -> None:
        postgres.kill()
        threading.Timer(0.2, postgres.start).start()

    member = postgres.member(url)
    postgres.run(url, "CHECKPOINT")  # the server of the tests writes down late what stands
    with closing(PostgresStore(member)) as store:
        lose(store, kill)


@pytest.mark.parametrize("fail", [True, False])
def test_a_connection_that_saw_more_is_restricted_again_when_reused(
    postgres: Server, url: str, fail: bool
) -> None:
    with closing(PostgresStore(f"{postgres.member(url)}&connections=2")) as store:
        ours = fence_store(store, key_for("ours"))

        def broken() -> Any:
            raise StoreError("as if the disk were full", "")

        with suppress(StoreError), store.transaction():
            # It sees everything, and is the last statement.
            ours.model_calls.paused_services()
            if fail:
                broken()
        assert seen(store) == ["ours"]
        for who, banks in ((key_for("theirs"), ["theirs"]), (key_for(), [])):
            assert seen(cast("Any", fence_store(store, who))._store) == banks
        # One that is called as everything is called is one that there is not.
        for name in ("*", "ours\x1ftheirs"):
            fence_store(store, key_for(name))
            assert seen(store) == [] and store.model_calls.paused_services() == []


def test_keys_share_a_few_connections(postgres: Server, url: str) -> None:
    member = f"{postgres.member(url)}&connections=3"
    wrong: list[object] = []

    def ask(number: int) -> None:
        chance = random.Random(number)
        with closing(PostgresStore(member)) as store:
            for _ in range(25):
                banks = chance.choice([("ours",), ("theirs",), (), BANKS])
                mine = fence_store(store, key_for(*banks))
                beside: Any = mine.borrow_reader()
                alarm = threading.Timer(chance.random() / 100, store.interrupt)
                alarm.start()
                with suppress(StoreError):  # broken off
                    shown = [seen(store), sorted(bank.id for bank in beside._store.banks.all())]
                    with store.transaction():
                        mine.model_calls.total_spent()
                        shown.append(seen(store))
                        if chance.random() < 0.5:
                            raise StoreError("no", "")
                    shown.append(seen(store))
                    wrong.extend(one for one in shown if one != sorted(banks))
                alarm.join()
                mine.return_reader(beside)
                cast("Any", mine).remove_restrictions()

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(ask, range(6)))
    assert wrong == []


def test_a_principal_that_cannot_be_encoded_leaks_no_connection(postgres: Server, url: str) -> None:
    with closing(PostgresStore(f"{postgres.member(url)}&connections=2&wait_s=1")) as store:
        for _ in range(4):
            fence_store(store, key_for("half \ud800"))
            with pytest.raises(UnicodeEncodeError):
                store.banks.all()
        fence_store(store, key_for("ours"))
        assert seen(store) == ["ours"]


@pytest.mark.usefixtures("vectors_on_server")
def test_a_role_that_does_not_own_the_tables_builds_no_index_and_finds_the_same(
    postgres: Server,
) -> None:
    url, vectors = postgres.database(), some_vectors(120)
    limits = PgVectorLimits(exact_scan=50)
    with closing(PostgresStore(postgres.member(url), vector_limits=limits)) as store:
        fill_vectors(store, vectors[:100])
        assert store.vectors.index(MODEL)
        asked = vectors[110].tobytes()
        before = store.vectors.nearest("ours", MODEL, asked, 10)
        assert before
        with closing(PostgresStore(url, vector_limits=limits)) as owner:
            owner.vectors.index(MODEL)
        assert postgres.run(url, "SELECT 1 FROM pg_indexes WHERE indexdef LIKE '%hnsw%'")
        mine = fence_store(store, key_for("ours"))
        after = mine.vectors.nearest("ours", MODEL, asked, 10)
        assert after and {one.number for one in after} & {one.number for one in before}
        fence_store(store, key_for("theirs"))
        assert store.vectors.nearest("ours", MODEL, asked, 10) == []


def test_a_role_that_does_not_own_the_tables_is_told_who_can_migrate(
    postgres: Server, url: str
) -> None:
    member = postgres.member(url)
    newer = [*migrations(), (f"{VERSION + 1:03}_next", "CREATE TABLE next_thing (bank text);")]
    with pytest.raises(StoreError, match="older version") as raised:
        PostgresStore(member, newer)
    assert "owner's address" in raised.value.remedy


def test_a_role_that_may_not_create_the_tables_is_told_who_can(postgres: Server) -> None:
    empty = postgres.empty_database()
    role = empty.split("/")[3].split("?")[0] + "_newcomer"
    postgres.run(empty, f"CREATE ROLE {role} LOGIN")
    newcomer = empty.replace("postgres@", f"{role}@")
    with pytest.raises(StoreUnavailableError, match="has no tables yet") as raised:
        PostgresStore(newcomer)
    assert "owner's address" in raised.value.remedy
    # A schema that somebody made for it is enough.
    postgres.run(empty, f"CREATE SCHEMA holdfast AUTHORIZATION {role}")
    with closing(PostgresStore(newcomer)) as store:
        assert seen(store) == []


def test_a_key_cannot_create_a_bank_outside_its_permission(postgres: Server, url: str) -> None:
    with closing(PostgresStore(postgres.member(url))) as store:
        fence_store(store, key_for("ours"))
        with pytest.raises(StoreError, match="may not"):
            store.banks.add(a_bank("third"))
    with closing(PostgresStore(url)) as owner:
        assert seen(owner) == sorted(BANKS)
