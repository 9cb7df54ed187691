"""Reading claude-mem's database while claude-mem runs."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.errors import InputError
from holdfast.sources.imports.claude_mem import read
from tests.support.foreign_exports import claude_mem


def test_a_database_that_stays_locked_is_reported_as_in_use(tmp_path: Path) -> None:
    path = claude_mem(tmp_path / "locked.db")
    with closing(sqlite3.connect(path)) as database:
        database.execute("BEGIN EXCLUSIVE")
        with pytest.raises(InputError, match="in use") as raised:
            list(read(path, lock_timeout_s=0.1))
    assert "Stop claude-mem's worker" in raised.value.remedy


def test_a_database_that_is_locked_for_a_moment_is_waited_for(tmp_path: Path) -> None:
    path = claude_mem(tmp_path / "locked.db")
    with closing(sqlite3.connect(path, check_same_thread=False)) as database:
        database.execute("BEGIN EXCLUSIVE")
        release = threading.Timer(0.2, database.rollback)
        release.start()
        found = list(read(path, lock_timeout_s=60))
        release.join()
    assert found and found == list(read(path))
