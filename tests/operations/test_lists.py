from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError, NotFoundError
from holdfast.interfaces.cli.main import main
from holdfast.model.knowledge import FactKind, Kind
from holdfast.operations.knowledge import KnowledgeKind
from holdfast.operations.registry import find_operation
from holdfast.operations.running import perform, result_text
from holdfast.operations.shapes import result_json
from tests.support.refine_banks import open_filled, session_saying

RULE = "From now on always put the unit in a column's name, like height_m."


@pytest.fixture
def memory(tmp_path: Path) -> Holdfast:
    """A memory of three sessions, in which memories have the same time."""
    memory = open_filled(
        tmp_path,
        session_saying("2026-09-01", 1, RULE, "We never deploy on a Friday afternoon."),
        session_saying("2026-09-02", 2, "AuthProvider moved because SessionGuard failed."),
        session_saying("2026-09-03", 3, RULE, "Look at AuthProvider and SessionGuard again."),
    )
    for number in range(5):
        memory.remember(f"Buoy {number} is lit in every winter.")
    return memory


def items_of(result: Any) -> list[Any]:
    """What a list lists, as JSON."""
    values: list[Any] = list(result_json(result).values())
    lists: list[list[Any]] = [value for value in values if isinstance(value, list)]
    return [one for items in lists for one in items]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("facts", {"kind": "rule", "all": True}),
        ("memories", {}),
        ("entities", {}),
        ("exchanges", {}),
        ("sessions", {}),
        ("messages", {"id": "00000001"}),
        ("session-exchanges", {"id": "holdfast://session/00000001"}),
    ],
)
def test_small_pages_have_every_item_once(
    memory: Holdfast, name: str, given: dict[str, Any]
) -> None:
    listed, cursor, operation = list[Any](), "", find_operation(name)
    whole = items_of(perform(operation, memory, given))
    while not listed or cursor:
        page = perform(operation, memory, {**given, "limit": 2, "cursor": cursor})
        assert len(items_of(page)) <= 2
        listed += items_of(page)
        cursor = page.cursor or ""
        assert (cursor in result_text(operation, page, given)) or not cursor
    assert len(whole) >= 2 and listed == whole
    with pytest.raises(InputError, match="Invalid cursor"):
        perform(operation, memory, {**given, "cursor": "WzEsWzJdXQ"})


def test_facts_come_before_the_memories_of_their_kind(memory: Holdfast) -> None:
    operation, rules = find_operation("facts"), {"kind": "rule"}
    whole = perform(operation, memory, rules)
    assert whole.facts and len(whole.statements) == whole.counts["rule"] == 1
    first = perform(operation, memory, {**rules, "limit": len(whole.facts)})
    assert first.facts == whole.facts and not first.statements
    rest = perform(operation, memory, {**rules, "cursor": first.cursor})
    assert not rest.facts and rest.statements == whole.statements
    assert not perform(operation, memory, {}).statements
    assert {one.value for one in KnowledgeKind} == {*FactKind, *Kind}


def test_lists_of_all_banks_name_the_bank_of_each_item(memory: Holdfast) -> None:
    memory.remember("The yawl is painted in May.", "boats")
    operation = find_operation("memories")
    found = perform(operation, memory, {"bank": "all"})
    assert set(found.banks.values()) == {"boats", "proj"}
    assert "· boats  holdfast://memory/" in result_text(operation, found, {})
    (own,) = perform(operation, memory, {"bank": "boats"}).memories
    assert own.what == "The yawl is painted in May."


def test_what_is_not_in_this_project_is_looked_for_in_all_banks(memory: Holdfast) -> None:
    operation = find_operation("entity")
    assert perform(operation, memory, {"name": "SessionGuard"}).entity.name == "SessionGuard"
    memory.remember("Nothing yet.", "boats")
    with pytest.raises(NotFoundError):
        perform(operation, memory, {"name": "SessionGuard", "bank": "boats"})
    memory.context.settings = memory.settings.__class__(
        home=memory.settings.home, claude_dir=memory.settings.claude_dir, bank="boats"
    )
    assert perform(operation, memory, {"name": "SessionGuard"}).entity.name == "SessionGuard"


@pytest.mark.parametrize(
    ("command", "instead"),
    [
        ("concepts gauge", "holdfast concept NAME"),
        ("entities AuthProvider", "holdfast entity NAME"),
        ("keywords retry", "holdfast keyword WORD"),
        ("entity undo", "holdfast undo"),
        ("brief --session=latest", "holdfast brief session"),
        ("audit --holds 5c1f0a", "holdfast confirm ID"),
    ],
)
def test_what_a_command_did_before_names_the_new_command(
    command: str, instead: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command.split()) == 2
    assert instead in capsys.readouterr().err
