"""What banks are called: one name leads to one bank, and whoever sees some gives none."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.errors import ForbiddenError, InputError, NotFoundError
from holdfast.learn.bank_settings import BankChanges
from holdfast.principal import Level, Principal
from holdfast.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    made = Settings(home=tmp_path, claude_dir=tmp_path / "claude", embed_model="none")
    with Holdfast(made) as memory:
        memory.remember("The winch is oiled.", bank="slipway")
        memory.remember("The safe is blue.", bank="strongroom")
        memory.banks.change(
            BankChanges(dropped_aliases=("strongroom",)), "strongroom"
        )  # as a folder makes it
    return made


@pytest.mark.slow
def test_no_bank_can_take_the_name_of_another(settings: Settings) -> None:
    with Holdfast(settings) as memory:
        for name in ("strongroom", " strongroom "):
            with pytest.raises(InputError, match="is a name of the bank strongroom"):
                memory.banks.change(BankChanges(aliases=(name,)), "slipway")
        memory.banks.change(BankChanges(aliases=("quay",)), "slipway")
        assert memory.banks.get("quay").name == "slipway"


def test_a_principal_of_one_bank_can_neither_rename_it_nor_create_another(
    settings: Settings,
) -> None:
    with Holdfast(settings) as memory:
        own = memory.banks.get("slipway")
        with memory.scoped_to(Principal("ann", (own.id,), Level.ADMIN, "0a1b2c3d")):
            with pytest.raises(ForbiddenError, match="access to every bank"):
                memory.banks.change(BankChanges(aliases=("strongroom",)), "slipway")
            for name in ("strongroom", "elsewhere"):
                with pytest.raises(NotFoundError, match=f"no bank '{name}'"):
                    memory.remember("Here it is.", bank=name)
            assert (
                memory.banks.change(BankChanges(background="Boats."), "slipway").background
                == "Boats."
            )
        assert [bank.name for bank in memory.banks.all()] == ["slipway", "strongroom"]
        assert memory.banks.get("strongroom").id != own.id
