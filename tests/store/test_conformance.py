from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from holdfast.store.postgres.store import PostgresStore
from holdfast.store.protocol import Store
from holdfast.store.sqlite.store import SqliteStore
from tests.store.conformance.suite import CHECKS, MakeStore
from tests.support.empty_memory import put_empty_memory
from tests.support.postgres_server import Server

NAMES = [check.__name__ for check in CHECKS]


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=NAMES)
def test_the_sqlite_store_passes_every_conformance_check(
    check: Callable[[MakeStore], None], tmp_path: Path
) -> None:
    with ExitStack() as opened:

        def make_store() -> Store:
            store = SqliteStore(put_empty_memory(tmp_path / "home" / "memory.db"))
            opened.callback(store.close)
            return store

        check(make_store)


@pytest.mark.parametrize("check", CHECKS, ids=NAMES)
def test_the_postgres_store_passes_every_conformance_check(
    check: Callable[[MakeStore], None], postgres: Server
) -> None:
    url = postgres.database()
    with ExitStack() as opened:

        def make_store() -> Store:
            store = PostgresStore(url)
            opened.callback(store.close)
            return store

        check(make_store)
