"""Banks as operations: what is changed by words and numbers, and who is asking."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.errors import InputError
from holdfast.learn.presets import PRESETS, Preset
from holdfast.model.bank import Bank
from holdfast.operations.admin.banks import Me
from holdfast.operations.binding import read_arguments
from holdfast.operations.registry import find_operation
from holdfast.operations.running import perform
from holdfast.principal import Level, Principal
from tests.support.sample_memory import memory_with_session

SET, ME = find_operation("bank set"), find_operation("me")


def test_a_retention_is_a_number_of_months_or_all() -> None:
    def read(text: str) -> int:
        return read_arguments(SET, {}, {"retention": text})["retention"]

    assert (read("all"), read("24")) == (0, 24)
    for wrong in ("soon", "-1", "1201"):
        with pytest.raises(InputError, match="retention"):
            read(wrong)


def test_every_preset_has_its_numbers(tmp_path: Path) -> None:
    assert set(PRESETS) == set(Preset)
    with memory_with_session(tmp_path) as memory:
        for preset in Preset:
            changed: Bank = perform(SET, memory, {"name": "proj", "preset": preset})
            assert changed.disposition == PRESETS[preset]
        with pytest.raises(InputError, match="nothing to change"):
            perform(SET, memory, {"name": "proj"})


def test_a_key_sees_its_level_and_its_banks(tmp_path: Path) -> None:
    with memory_with_session(tmp_path) as memory:
        owner: Me = perform(ME, memory, {})
        assert (owner.key, owner.level, owner.banks) == ("", Level.ADMIN, None)
        (bank,) = memory.banks.all()
        for banks, names in (((bank.id,), (bank.name,)), ((), ()), (None, None)):
            with memory.scoped_to(Principal("ann", banks, Level.READ, "k1")):
                assert perform(ME, memory, {}) == Me("ann", "k1", Level.READ, names)
