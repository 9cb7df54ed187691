"""One PostgreSQL server for all tests of a process that ask for it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing

import pytest

from tests.support.postgres_server import Server


@pytest.fixture(scope="session")
def postgres() -> Generator[Server]:
    """A server that is gone when the tests are over."""
    with closing(Server()) as server:
        yield server


@pytest.fixture
def vectors_on_server(postgres: Server) -> None:
    """Skips a test where the server cannot compare vectors itself."""
    if postgres.vector_problem:
        pytest.skip(postgres.vector_problem)
