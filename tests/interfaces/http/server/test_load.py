from __future__ import annotations

import pytest
from bench.browse_load import load

pytestmark = pytest.mark.process  # the product starts the programs


@pytest.mark.slow
def test_fifty_concurrent_clients_get_no_error_and_memory_does_not_grow() -> None:
    told = load(clients=50, seconds=2)
    assert set(told.statuses) == {200}, told.statuses
    # What a short time takes for buffers and pools is not a leak; a leak is more than this.
    assert told.mb_after - told.mb_before < 25, told.mb_after
