"""Deciding about records: whose decision it is, and where something is stored."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.model.curation import AGENT, Action
from holdfast.model.trust import Trust
from holdfast.operations.decisions.curation import RetainedMemory, StoredMemory
from holdfast.operations.decisions.log import DecisionPage
from holdfast.operations.operation import Call
from holdfast.operations.registry import find_operation
from holdfast.operations.running import perform
from holdfast.operations.shapes import result_json
from holdfast.settings import Settings
from tests.support.empty_memory import with_empty_memory
from tests.support.sample_memory import exchange_about, memory_with_session

REMEMBER, RETAIN = find_operation("remember"), find_operation("retain")
ON_SERVER = Call("ann (http)", in_folder=False)
OF_AGENT = Call(f"{AGENT} (codex)", by_agent=True)


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without a project, as that of a server."""
    folder = tmp_path / "srv"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return tmp_path


def open_memory(home: Path) -> Holdfast:
    return Holdfast(with_empty_memory(Settings(home=home, claude_dir=home / "claude")))


def test_a_server_stores_without_a_bank_only_if_there_is_just_one(nowhere: Path) -> None:
    with open_memory(nowhere) as memory:
        text = {"text": "Tea is at four."}
        with pytest.raises(InputError, match="The bank is missing"):
            perform(REMEMBER, memory, text, ON_SERVER)
        perform(REMEMBER, memory, {**text, "bank": "boats"}, ON_SERVER)
        stored: StoredMemory = perform(REMEMBER, memory, text, ON_SERVER)
        assert (stored.bank, stored.is_new) == ("boats", False)
        perform(REMEMBER, memory, {**text, "bank": "quays"}, ON_SERVER)
        with pytest.raises(InputError, match="The bank is missing") as refused:
            perform(RETAIN, memory, text, ON_SERVER)
        assert "boats, quays" in refused.value.remedy
        # A person stands in a folder, and its bank is made.
        assert perform(REMEMBER, memory, text).bank == "srv"


def test_an_agent_states_and_decides_in_its_own_name(tmp_path: Path) -> None:
    with memory_with_session(tmp_path) as memory:
        given = {"text": "The gig is red.", "bank": "proj"}
        stored: StoredMemory = perform(REMEMBER, memory, given, OF_AGENT)
        kept: RetainedMemory = perform(RETAIN, memory, {**given, "network": "world"}, OF_AGENT)
        assert {stored.record.trust, kept.record.trust} == {Trust.ASSISTANT}
        id = exchange_about(memory, "yawl").id
        perform(find_operation("forget"), memory, {"id": id}, OF_AGENT)
        log: DecisionPage = perform(find_operation("decisions"), memory, {"limit": 1})
        (entry,) = log.decisions
        assert (entry.action, entry.who, entry.channel) == (Action.FORGET, OF_AGENT.who, "mcp")
        (undone,) = perform(find_operation("undo"), memory, {}).undone
        assert undone.seq == entry.seq


def test_the_log_of_decisions_has_pages(tmp_path: Path) -> None:
    decisions = find_operation("decisions")
    with memory_with_session(tmp_path) as memory:
        for text in ("One.", "Two.", "Three."):
            perform(REMEMBER, memory, {"text": text, "bank": "proj"})
        first = result_json(perform(decisions, memory, {"limit": 2}))
        rest = result_json(perform(decisions, memory, {"limit": 2, "cursor": first["cursor"]}))
    numbers = [one["seq"] for page in (first, rest) for one in page["decisions"]]
    assert numbers == sorted(numbers, reverse=True) and len(numbers) == 3
    assert rest["cursor"] is None


def test_a_verdict_on_records_is_for_all_of_them_or_none(tmp_path: Path) -> None:
    judge = find_operation("judge")
    with memory_with_session(tmp_path) as memory:
        ids = [f"exchange/{exchange_about(memory, word).id}" for word in ("yawl", "ketch")]
        with pytest.raises(InputError):
            perform(judge, memory, {"verdict": "useful", "ids": [*ids, "exchange/ffff"]})
        assert perform(find_operation("decisions"), memory, {}).decisions == ()
        made = perform(judge, memory, {"verdict": "useful", "ids": ids})
        assert [one.target for one in made.decided] == list(made.titles)
        assert all(made.titles.values()) and made.kept == ()
