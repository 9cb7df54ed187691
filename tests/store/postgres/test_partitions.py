"""Tables cut by bank: into partitions, and over the servers of a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.errors import SettingsError
from holdfast.settings import Settings
from holdfast.store.postgres.partitions import PARTITIONED_TABLES
from holdfast.store.postgres.store import PostgresStore
from holdfast.store.protocol import Store
from tests.store.conformance import (
    checks_curation,
    checks_records,
    checks_search,
    checks_vector_search,
    checks_vectors,
)
from tests.store.conformance.suite import CHECKS, MakeStore
from tests.store.postgres.test_store import UNRESTRICTED
from tests.store.postgres.test_vectors import MODEL, by_matrix, by_server, fill, some_vectors
from tests.support.postgres_plans import PlanLog
from tests.support.postgres_server import Server
from tests.support.transcripts import bug_hunt

# Those that concern what is cut; HOLDFAST_TEST_ALL runs all of them.
_MODULES = (
    checks_curation,
    checks_vector_search,
    checks_records,
    checks_search,
    checks_vectors,
)
_WANTED = [
    check
    for check in CHECKS
    if os.environ.get("HOLDFAST_TEST_ALL")
    or check.__module__ in {module.__name__ for module in _MODULES}
]


@pytest.mark.parametrize("check", _WANTED, ids=[check.__name__ for check in _WANTED])
def test_a_partitioned_store_passes_every_conformance_check(
    check: Callable[[MakeStore], None], postgres: Server
) -> None:
    url = postgres.cut_database()
    with ExitStack() as opened:

        def make_store() -> Store:
            store = PostgresStore(url)
            opened.callback(store.close)
            return store

        check(make_store)


@pytest.mark.usefixtures("vectors_on_server")
def test_a_bank_is_in_one_partition_and_only_that_is_searched(postgres: Server) -> None:
    url = postgres.cut_database()
    cut = postgres.run(
        url, "SELECT relname FROM pg_class WHERE relkind = 'p' AND relnamespace = "
        "'holdfast'::regnamespace"
    )  # fmt: skip
    assert {name for (name,) in cut} == set(PARTITIONED_TABLES)
    with closing(PostgresStore(url)) as store:
        fill(store, some_vectors(20))
        ((places,),) = postgres.run(url, "SELECT count(DISTINCT tableoid) FROM holdfast.passage")
        assert places == 1
    plan = postgres.run(
        url, "EXPLAIN SELECT 1 FROM holdfast.passage WHERE bank = 'ours' AND kind = 'turn'"
    )
    assert len({word for (line,) in plan for word in line.split() if "passage_p" in word}) <= 2
    unwalled = postgres.run(
        url, "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relrowsecurity "
        "AND relnamespace = 'holdfast'::regnamespace ORDER BY 1"
    )  # fmt: skip
    assert {name for (name,) in unwalled} == UNRESTRICTED


REQUESTS: dict[str, Callable[[Holdfast, str], object]] = {
    "recall": lambda memory, bank: memory.recall("why did the build fail", bank=bank),
    "ask": lambda memory, bank: memory.ask("why did the build fail", bank=bank),
    "remember": lambda memory, bank: memory.remember("The winch needs 24 volts.", bank=bank),
}


def test_requests_are_planned_for_the_partition_of_their_bank(
    postgres: Server, tmp_path: Path
) -> None:
    """All others, over HTTP: `tests/e2e/access/test_bank_keys_postgres.py`."""
    url = postgres.cut_database()
    script = bug_hunt()
    script.write(tmp_path / "projects")
    settings = Settings(tmp_path / "home", tmp_path, store=url, embed_model="none")
    with Holdfast(settings) as memory:
        memory.ingest(memory.ingestion.find([tmp_path / "projects"]))
        (bank,) = (one.name for one in memory.reader.banks.all())
    plans = PlanLog(postgres, url)
    with Holdfast(settings) as memory:
        plans.read_unpruned()
        for name, request in REQUESTS.items():
            request(memory, bank)
            assert not plans.read_unpruned(), name
        script.user("Always pass an idempotency key. Why did src/importer.py fail?")
        script.assistant("Because the retry wrapper ran load() twice.")
        script.write(tmp_path / "projects")
        memory.ingest(memory.ingestion.find([tmp_path / "projects"]))
        assert not plans.read_unpruned(), "derived again"
    assert plans.plans > 150


@pytest.mark.usefixtures("vectors_on_server")
def test_vectors_are_searched_in_the_partition_of_their_bank(
    postgres: Server, tmp_path: Path
) -> None:
    url = postgres.cut_database()
    vectors = some_vectors(310)
    with closing(PostgresStore(url)) as store:
        fill(store, vectors[:300])
    plans = PlanLog(postgres, url)
    with closing(PostgresStore(url)) as store:
        store.vectors.index(MODEL)
        plans.read_unpruned()
        for kinds in ((), ("turn",)):
            by_server(store, vectors[300], kinds)
            by_matrix(store, vectors[300], tmp_path, kinds)
        numbers = store.vectors.numbers("ours", MODEL, ("turn",))
        assert store.vectors.passages("ours", MODEL, numbers[:10])
        assert not plans.read_unpruned()
    assert plans.plans > 5


def test_too_many_partitions_are_refused(postgres: Server) -> None:
    with pytest.raises(SettingsError, match="partitions"):
        PostgresStore(f"{postgres.database()}&partitions=5000")
