from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.model_service import Service, running


@pytest.fixture
def service() -> Iterator[Service]:
    with running() as made:
        yield made
