from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.support.http.browser import Looker, browsing
from tests.support.http.server import Server, make_home, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for a file of tests that change nothing."""
    folder: Path = tmp_path_factory.mktemp("http")
    with serving(make_home(folder), folder) as made:
        yield made


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, started once for a file: while it runs, no other loop can in this process."""
    with browsing() as made:
        yield made


@pytest.fixture(scope="module")
def visitor(browser: Browser, server: Server) -> Looker:
    """A browser that came in by the link."""
    return Looker(browser, server)


@pytest.fixture
def looker(visitor: Looker) -> Iterator[Looker]:
    """The same, with all windows shut after each test."""
    yield visitor
    visitor.close()
