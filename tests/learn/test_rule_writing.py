"""A file of rules and the log of decisions change together, or neither does."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError, StoreError
from holdfast.operations.decisions.rules import WriteConfirmation, learn
from tests.learn.test_promotion import state_three_times
from tests.refine.rules.test_rules import open_at

RULES = ".claude/rules"
WRITE = WriteConfirmation.WRITE


def _log_takes_nothing(root: Path) -> None:
    """From now on, nothing can be set down."""
    with sqlite3.connect(root.parent / "memory.db") as store:
        store.execute(
            "CREATE TRIGGER full BEFORE INSERT ON curation"
            " BEGIN SELECT RAISE(ABORT, 'disk is full'); END"
        )
    store.close()


def _decided(memory: Holdfast) -> list[str]:
    (bank,) = memory.banks.all()
    return [entry.action.value for entry in memory.reader.curation.log(bank.id)]


def test_if_one_of_two_rules_cannot_be_removed_both_stay(root: Path) -> None:
    with open_at(root.parent) as memory:
        learn(memory, "testing", "Run the tests with make check.", confirm=WRITE)
        learn(
            memory,
            "naming",
            "Name every fixture after what it stands for.",
            confirm=WRITE,
        )
        testing, naming = (root / RULES / f"{name}.md" for name in ("testing", "naming"))
        testing.write_text(testing.read_text() + "- Be quick.\n")
        before = naming.read_bytes()
        with pytest.raises(InputError, match="was changed since"):
            memory.undo(2)
        assert naming.read_bytes() == before
        assert _decided(memory) == ["write", "write"]
        (undone,) = memory.undo()
        assert undone.action.value == "write" and not naming.exists()


def test_a_rule_that_cannot_be_logged_is_removed_from_its_file(root: Path) -> None:
    with open_at(root.parent) as memory:
        learn(
            memory,
            "naming",
            "Name every fixture after what it stands for.",
            confirm=WRITE,
        )
        naming, before = root / RULES / "naming.md", (root / RULES / "naming.md").read_bytes()
        found = state_three_times(memory, root)
        _log_takes_nothing(root)
        for act in (
            lambda: learn(memory, "testing", "Run the tests with make check.", confirm=WRITE),
            lambda: learn(
                memory,
                "naming",
                "No name is shorter than three letters.",
                confirm=WRITE,
            ),
            lambda: memory.rules.approve(found.proposal.id, seen_diff=found.diff),
            memory.undo,
        ):
            with pytest.raises((StoreError, sqlite3.Error)):
                act()
        assert naming.read_bytes() == before
        assert [file.name for file in (root / RULES).iterdir()] == ["naming.md"]
