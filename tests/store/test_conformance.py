from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from holdfast.store.protocol import Store
from holdfast.store.sqlite.store import SqliteStore
from holdfast.testing.store_conformance import CHECKS, MakeStore

FAULTS: dict[str, str] = {}


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(
            check,
            id=check.__name__,
            marks=[pytest.mark.xfail(strict=True, reason=FAULTS[check.__name__])]
            if check.__name__ in FAULTS
            else [],
        )
        for check in CHECKS
    ],
)
def test_the_sqlite_store_conforms(check: Callable[[MakeStore], None], tmp_path: Path) -> None:
    with ExitStack() as opened:

        def make_store() -> Store:
            store = SqliteStore(tmp_path / "home" / "memory.db")
            opened.callback(store.close)
            return store

        check(make_store)
