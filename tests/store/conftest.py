"""One PostgreSQL server for all tests of a process that ask for it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing

import pytest
from tests.store.postgres_server import Server


@pytest.fixture(scope="session")
def postgres() -> Generator[Server]:
    """A server that is gone when the tests are over."""
    with closing(Server()) as server:
        yield server
