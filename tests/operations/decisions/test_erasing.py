"""Erasing permanently: only what is confirmed, and never a word of it in the report."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.errors import InputError
from holdfast.operations.registry import find_operation
from holdfast.operations.running import perform
from holdfast.operations.shapes import result_json
from tests.support.sample_memory import exchange_about, memory_with_session, places_found


def test_a_purge_needs_a_confirmation_and_its_plan_changes_nothing(tmp_path: Path) -> None:
    purge = find_operation("purge")
    with memory_with_session(tmp_path) as memory:
        given = {"id": exchange_about(memory, "yawl").id}
        with pytest.raises(InputError, match="cannot be undone"):
            perform(purge, memory, given)
        with pytest.raises(InputError, match="There is no confirm 'yes'"):
            perform(purge, memory, {**given, "confirm": "yes"})
        plan = result_json(perform(find_operation("purge plan"), memory, given))
        assert places_found(memory, "yawl") and plan["erased"] is False
        done = result_json(perform(purge, memory, {**given, "confirm": "purge"}))
        assert not places_found(memory, "yawl")
    assert done == {**plan, "erased": True}


def test_a_scrub_counts_until_it_is_confirmed(tmp_path: Path) -> None:
    scrub = find_operation("scrub")
    with memory_with_session(tmp_path) as memory:
        counted = result_json(perform(scrub, memory, {"pattern": "ketch"}))
        assert places_found(memory, "ketch") and counted["records"]
        done = result_json(perform(scrub, memory, {"pattern": "ketch", "confirm": "scrub"}))
        assert not places_found(memory, "ketch")
    assert done == {**counted, "erased": True} and "ketch" not in str(done)
