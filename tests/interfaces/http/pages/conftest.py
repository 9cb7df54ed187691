from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.support.http.browser import open_browser


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium, started once for all tests of the pages, none of which runs another loop. A start
    takes a second of processor time."""
    with open_browser() as made:
        yield made
