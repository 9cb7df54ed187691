"""A number that a database cannot hold is an error of the input, on both engines."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.settings import Settings
from holdfast.store.postgres.errors import store_error


def test_a_limit_beyond_64_bits_is_refused(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "home", tmp_path / "claude", embed_model="none")
    with Holdfast(settings) as memory:
        memory.remember("Packages are installed with yarn.", "shop")
        with pytest.raises(InputError, match="A number is too large"):
            memory.reader.passages.recent(None, "memory", 2**63)
        assert len(memory.reader.passages.recent(None, "memory", 2**63 - 1)) == 1


def test_a_number_out_of_range_on_postgresql_is_refused() -> None:
    error = psycopg.errors.NumericValueOutOfRange("bigint out of range")
    assert isinstance(store_error(error, "the server"), InputError)


@pytest.mark.parametrize("number", [2**63, 10**400])
def test_no_pull_or_issue_has_a_number_beyond_64_bits(tmp_path: Path, number: int) -> None:
    settings = Settings(tmp_path / "home", tmp_path / "claude", embed_model="none")
    with Holdfast(settings) as memory:
        bank = memory.remember("Packages are installed with yarn.", "shop").bank
        assert memory.reader.forge.threads_by_number(bank, number) == []
        assert memory.reader.records.find(bank, "pull", str(number)) == []
