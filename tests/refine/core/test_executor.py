"""Several processes or a real Dask cluster store the same rows as one, even if some are killed."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from holdfast.app.ingest.executors import is_cluster, open_executors, worker_version
from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.refine.core.executor import Executor, NoExecutor, ProcessExecutor
from holdfast.refine.sessions.parallel_derive import SessionSnapshot, derive_in_parallel
from holdfast.settings import Settings
from tests.refine.ingest.test_ingest_crash import make_corpus
from tests.support.executor_tasks import die, double, record_and_die
from tests.support.memory_dump import dump
from tests.support.transcripts import Script

pytestmark = pytest.mark.process

needs_dask = pytest.mark.skipif(
    find_spec("distributed") is None,
    reason="Dask is not installed: pip install holdfast-memory[dask]",
)
NOW = "2026-11-01T00:00:00.000Z"


def open_at(home: Path, model: str = "none") -> Holdfast:
    settings = Settings(home=home, claude_dir=home / "claude", bank="kept", embed_model=model)
    return Holdfast(settings, now=lambda: NOW)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    make_corpus(folder, 9, 200, turns=3)
    return folder


@pytest.fixture(scope="module")
def alone(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    home = tmp_path_factory.mktemp("alone")
    with open_at(home) as memory:
        memory.ingest(memory.ingestion.find([corpus]))
    return dump(home / "memory.db")


def ingest(home: Path, corpus: Path, crew: Executor) -> dict[str, list[str]]:
    with open_at(home) as memory:
        progress: list[int] = []
        memory.ingestion.ingest(
            memory.ingestion.find([corpus]), executor=crew, on_session=progress.append
        )
        assert progress == list(range(1, len(progress) + 1)) and len(progress) >= 10
    return dump(home / "memory.db")


class KillingExecutor:
    """An executor whose processes are killed now and then, as by a machine without memory."""

    def __init__(self, every: int) -> None:
        self._own = ProcessExecutor(2)
        self._every = every
        self.size = 2
        self.killed = 0

    def map(self, do: Any, items: Any) -> Iterator[tuple[Any, Any]]:
        for number, done in enumerate(self._own.map(do, items), 1):
            yield done
            pool: Any = vars(self._own)["_pool"]
            if number % self._every == 0 and pool is not None and pool._processes:
                os.kill(next(iter(pool._processes)), signal.SIGKILL)
                self.killed += 1

    def close(self) -> None:
        self._own.close()


def test_an_item_that_kills_its_process_comes_back_as_none_and_the_rest_is_done() -> None:
    with closing(ProcessExecutor(1)) as crew:
        made = dict(crew.map(die, range(6)))
    assert made == {n: None if n == 3 else 2 * n for n in range(6)}


def test_no_more_processes_are_started_after_too_many_deaths(tmp_path: Path) -> None:
    with closing(ProcessExecutor(1)) as crew:
        made = list(crew.map(partial(record_and_die, tmp_path), range(400)))
    assert made == [(n, None) for n in range(400)]
    assert 2 <= len(list(tmp_path.iterdir())) <= 12, "each process tells once that it was there"


def test_only_a_few_items_are_in_flight_at_once() -> None:
    submitted: list[int] = []

    def items() -> Iterator[int]:
        for number in range(20):
            submitted.append(number)
            yield number

    with closing(ProcessExecutor(1)) as crew:
        for number, _ in crew.map(double, items()):
            assert len(submitted) - number <= 4


def test_several_processes_store_the_same_rows_as_one(
    tmp_path: Path, corpus: Path, alone: dict[str, list[str]]
) -> None:
    with closing(ProcessExecutor(2)) as crew:
        assert ingest(tmp_path, corpus, crew) == alone


def test_killed_processes_do_not_change_the_stored_rows(
    tmp_path: Path, corpus: Path, alone: dict[str, list[str]]
) -> None:
    crew = KillingExecutor(every=4)
    try:
        assert ingest(tmp_path, corpus, crew) == alone
    finally:
        crew.close()
    assert crew.killed >= 2


def test_a_session_that_changes_after_its_snapshot_is_derived_again(tmp_path: Path) -> None:
    script = Script("22222222-0000-4000-8000-000000000001")
    script.user("Please rename the ketch to mizzen.")
    script.assistant("The ketch is the mizzen now.")
    path = script.write(tmp_path / "corpus")
    with open_at(tmp_path / "home") as memory:

        class Late(NoExecutor):
            """Another process reads more of the session while this one derives it."""

            size = 2

            def map(self, do: Any, items: Any) -> Iterator[tuple[Any, Any]]:
                for item in items:
                    made = do(item)
                    script.user("And paint it blue.")
                    script.assistant("The mizzen is blue.")
                    script.write(tmp_path / "corpus")
                    with open_at(tmp_path / "home") as other:
                        other.ingest(other.ingestion.find([path]))
                    yield item, made

        memory.ingestion.ingest(memory.ingestion.find([path]), executor=Late())
    with open_at(tmp_path / "calm") as calm:
        calm.ingest(calm.ingestion.find([path]))
    assert dump(tmp_path / "home/memory.db") == dump(tmp_path / "calm/memory.db")


def test_long_and_continued_sessions_are_derived_in_the_main_process(
    tmp_path: Path, corpus: Path, alone: dict[str, list[str]]
) -> None:
    out: list[SessionSnapshot] = []

    class Watching(NoExecutor):
        size = 2

        def map(self, do: Any, items: Any) -> Iterator[tuple[Any, Any]]:
            for item in items:
                out.append(item)
                yield item, do(item)

    home = tmp_path / "home"
    assert ingest(home, corpus, Watching()) == alone
    assert len(out) >= 10
    out.clear()
    with open_at(home) as memory:
        with memory.store.transaction():
            memory.store.derived.drop_all()
        assert derive_in_parallel(Watching(), memory.store, max_characters=10) >= 10
        memory.ingestion.update()
    assert out == [] and dump(home / "memory.db") == alone

    script = Script("22222222-0000-4000-8000-000000000001")
    sent: list[list[str]] = []
    with open_at(home) as memory:
        for request in ("Please rename the ketch to mizzen.", "And paint it blue."):
            script.user(request)
            script.assistant("It is done, and the harbour master was told.")
            path = script.write(tmp_path / "more")
            memory.ingestion.ingest(memory.ingestion.find([path]), executor=Watching())
            sent.append([snapshot.id for snapshot in out])
            out.clear()
        (session,) = (s for s in memory.reader.sessions.latest(None) if s.id == script.session)
        assert len(memory.reader.sessions.exchanges(session.bank, session.id)) == 2
    assert sent == [[script.session], []]


def test_vectors_from_processes_are_the_same(tmp_path: Path) -> None:
    script = Script("22222222-0000-4000-8000-000000000001")
    for number in range(24):
        script.user(f"Please look at field {number} of the tide table, it is {number * 7} off.")
        script.assistant(f"Field {number} was read as feet; it is metres, so {number} moved.")
    path = script.write(tmp_path / "corpus")
    for name in ("one", "two"):
        with open_at(tmp_path / name, model="") as memory:
            memory.ingest(memory.ingestion.find([path]))
            with closing(ProcessExecutor(2)) as crew:
                assert memory.ingestion.embed(executor=crew if name == "two" else None) == 0
    vectors = [_vectors(tmp_path / name) for name in ("one", "two")]
    assert len(vectors[0]) > 64 and vectors[0] == vectors[1]


def _vectors(home: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(home / "memory.db")) as connection:
        return connection.execute("SELECT * FROM vector ORDER BY bank, hash, part").fetchall()


def test_workers_are_a_number_or_a_cluster_address() -> None:
    assert is_cluster("dask://host:8786") and is_cluster("dask+tls://10.0.0.1:1/")
    for wrong in ("dask://host", "tcp://host:1", "dask://a b:1", "8", "dask://u@h:1", "dask://:"):
        assert not is_cluster(wrong)
    with pytest.raises(InputError, match="is not a number of workers"), open_executors("four"):
        pass
    with open_executors(3) as hired:
        assert hired == (3, None, None)


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    distributed: Any = import_module("distributed")
    folder = tmp_path_factory.mktemp("dask")
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address=None,
        local_directory=str(folder),
        silence_logs=50,
    ) as cluster:
        yield cluster


@pytest.mark.slow
@needs_dask
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_stores_the_same_rows_even_if_a_worker_dies(
    tmp_path: Path, corpus: Path, alone: dict[str, list[str]], scheduler: Any
) -> None:
    address = str(scheduler.scheduler_address).replace("tcp://", "dask://")
    with open_executors(address) as hired:
        assert hired.derive is not None and hired.derive.size == 2
        assert ingest(tmp_path / "calm", corpus, hired.derive) == alone
        victim = next(iter(scheduler.workers.values()))

        class Deadly(NoExecutor):
            """Kills a worker of the cluster once items are in flight."""

            size = 2

            def map(self, do: Any, items: Any) -> Iterator[tuple[Any, Any]]:
                assert hired.derive is not None
                for number, done in enumerate(hired.derive.map(do, items)):
                    if number == 1:
                        os.kill(victim.pid, signal.SIGKILL)
                    yield done

        assert ingest(tmp_path / "rough", corpus, Deadly()) == alone
        with open_at(tmp_path / "calm", model="") as memory:
            assert memory.ingestion.embed(executor=hired.embed) == 0
        with open_at(tmp_path / "rough", model="") as memory:
            assert memory.ingestion.embed() == 0
    calm = _vectors(tmp_path / "calm")
    assert calm and calm == _vectors(tmp_path / "rough")


@needs_dask
@pytest.mark.filterwarnings("ignore")
def test_an_unreachable_cluster_is_an_error() -> None:
    cluster: Any = import_module("holdfast.refine.core.dask_cluster")
    began = time.monotonic()
    with pytest.raises(InputError, match="No Dask scheduler"):
        cluster.DaskExecutor("dask://127.0.0.1:9", worker_version, timeout_s=0.5)
    assert time.monotonic() - began < 20


def worker_pid() -> str:
    return str(os.getpid())


@needs_dask
@pytest.mark.filterwarnings("ignore")
def test_workers_of_another_version_are_refused(scheduler: Any) -> None:
    cluster: Any = import_module("holdfast.refine.core.dask_cluster")
    address = str(scheduler.scheduler_address).replace("tcp://", "dask://")
    with pytest.raises(InputError, match="does not have Holdfast"):
        cluster.DaskExecutor(address, worker_pid)
