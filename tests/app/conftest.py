from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.support.laptops import Laptop, NewLaptop
from tests.support.permitted_model_service import Service, serving


@pytest.fixture
def new_laptop(tmp_path: Path) -> Iterator[NewLaptop]:
    """Makes laptops in the folder of a test, and closes their memories after it."""
    with ExitStack() as laptops:
        yield lambda name: laptops.enter_context(closing(Laptop(tmp_path, name)))


@pytest.fixture
def service() -> Iterator[Service]:
    """A model service on loopback."""
    with serving() as made:
        yield made
