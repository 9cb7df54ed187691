from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from holdfast.store.protocol import Store
from holdfast.store.sqlite.store import SqliteStore
from holdfast.testing.store_conformance import CHECKS, MakeStore


@pytest.mark.parametrize("check", CHECKS, ids=[check.__name__ for check in CHECKS])
def test_the_sqlite_store_conforms(check: Callable[[MakeStore], None], tmp_path: Path) -> None:
    with ExitStack() as opened:

        def make_store() -> Store:
            store = SqliteStore(tmp_path / "home" / "memory.db")
            opened.callback(store.close)
            return store

        check(make_store)
