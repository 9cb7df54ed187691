from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.support.http.browser import BrowserSession, open_browser
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
    with open_browser() as made:
        yield made


@pytest.fixture(scope="module")
def signed_in_browser(browser: Browser, server: Server) -> Iterator[BrowserSession]:
    """A browser that came in by the link."""
    made = BrowserSession(browser, server)
    yield made
    made.end()


@pytest.fixture
def browser_session(signed_in_browser: BrowserSession) -> Iterator[BrowserSession]:
    """The same, with all windows shut after each test."""
    yield signed_in_browser
    signed_in_browser.close()
