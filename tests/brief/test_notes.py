"""What was remembered but lays nothing down is told apart from what was decided."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.model.knowledge import Network
from holdfast.model.trust import Trust
from tests.support.opinion_sessions import ingest_and_update, open_dated_memory, session_on_day

TEXT = "Never deploy the harbour build on a Friday, it took two hours."


def brief_of(memory: Holdfast) -> str:
    with Holdfast(memory.settings, create=False) as briefing:
        return briefing.briefs.session_brief().text


@pytest.mark.parametrize("network", [Network.EXPERIENCE, Network.OBSERVATION])
def test_what_happened_or_was_observed_is_noted_and_not_decided(
    tmp_path: Path, network: Network
) -> None:
    with open_dated_memory(tmp_path) as memory:
        memory.retain(TEXT, network)
        memory.ingestion.update()
        told = brief_of(memory)
        goal = memory.briefs.goal_brief("Shall I deploy the harbour build this Friday?").text
        (bank,) = memory.reader.banks.all()
        assert "Decided here" not in told and TEXT in told.partition("Noted here")[2]
        assert TEXT in goal and "noted, not decided" in goal
        assert memory.browse.facts() == [] and memory.reader.rules.patterns(bank.id) == []


def test_what_a_person_laid_down_is_decided_and_not_noted(tmp_path: Path) -> None:
    with open_dated_memory(tmp_path) as memory:
        memory.remember(TEXT)
        told = brief_of(memory)
        assert TEXT in told.partition("Decided here")[2] and "Noted here" not in told
        goal = memory.briefs.goal_brief("Shall I deploy the harbour build this Friday?").text
        assert TEXT in goal and "noted, not decided" not in goal


def test_a_forgotten_note_is_in_no_brief(tmp_path: Path) -> None:
    with open_dated_memory(tmp_path) as memory:
        ingest_and_update(memory, session_on_day(1, "Paint the harbour lamp green."))
        note = memory.remember(TEXT, trust=Trust.ASSISTANT, who="agent")
        assert TEXT in brief_of(memory)
        memory.forget(note.id)
        assert TEXT not in brief_of(memory)


def test_a_note_that_a_person_corrected_is_decided(tmp_path: Path) -> None:
    with open_dated_memory(tmp_path) as memory:
        note = memory.remember("Deploy on Fridays.", trust=Trust.ASSISTANT, who="agent")
        memory.correct(note.id, TEXT)
        told = brief_of(memory)
        assert TEXT in told.partition("Decided here")[2] and "Noted here" not in told
