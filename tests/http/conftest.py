from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.http.server import Server, make_home, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for a file of tests that change nothing."""
    folder: Path = tmp_path_factory.mktemp("http")
    with serving(make_home(folder), folder) as made:
        yield made
