"""What agents say or guess is not believed until a person says it, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.learn.bank_settings import BankChanges
from holdfast.model.opinions import Opinion, Trend
from holdfast.model.trust import Status, Trust
from tests.support.opinion_sessions import ingest_and_update, open_dated_memory, session_on_day
from tests.support.transcripts import Script

GUESS = "The ferry importer likely ran the timetable tests on every commit."
CLAIM = "The ferry importer runs the timetable tests on every commit."
QUESTION = "when does the ferry importer run the timetable tests"


def said_by_agent(day: int, text: str) -> Script:
    script = session_on_day(day)
    script.user("Look at the harbour page, please.")
    script.assistant(f"That is page {day}. {text}")
    return script


def brief_of(memory: Holdfast) -> str:
    with Holdfast(memory.settings, create=False) as briefing:
        return briefing.briefs.session_brief().text


@pytest.mark.slow
@pytest.mark.parametrize("said", [GUESS, CLAIM])
@pytest.mark.parametrize("skepticism", [1, 3])
def test_what_only_agents_said_is_not_believed(tmp_path: Path, said: str, skepticism: int) -> None:
    with open_dated_memory(tmp_path) as memory:
        ingest_and_update(memory, *(said_by_agent(day, said) for day in (1, 2, 3)))
        memory.banks.change(BankChanges(skepticism=skepticism))
        told = memory.reflect(QUESTION)
        assert any(said in claim.sentence for claim in told.claims)
        assert not any(claim.believed for claim in told.claims)
        assert told.stored == () and told.confidence < 0.5
        assert "no person said it for certain" in told.answer
        assert "Believed here" not in brief_of(memory)


def test_what_an_agent_and_a_person_said_is_believed(tmp_path: Path) -> None:
    with open_dated_memory(tmp_path) as memory:
        ingest_and_update(memory, said_by_agent(1, CLAIM), session_on_day(2, CLAIM))
        told = memory.reflect(QUESTION)
        assert told.claims[0].believed and told.stored
        assert "Believed here" in brief_of(memory)


@pytest.mark.slow
def test_a_guess_of_a_person_is_not_believed(tmp_path: Path) -> None:
    with open_dated_memory(tmp_path) as memory:
        ingest_and_update(memory, *(session_on_day(n, f"Page {n}. {GUESS}") for n in (1, 2)))
        told = memory.reflect(QUESTION)
        assert told.claims and not any(claim.believed for claim in told.claims)
        assert told.stored == () and "Believed here" not in brief_of(memory)


def test_a_stored_belief_that_only_agents_stated_is_removed(tmp_path: Path) -> None:
    with open_dated_memory(tmp_path) as memory:
        ingest_and_update(memory, said_by_agent(1, CLAIM), said_by_agent(2, CLAIM))
        found = memory.recall("ferry importer timetable tests").hits
        names = tuple(hit.uri for hit in found if hit.trust is Trust.ASSISTANT)
        (bank,) = memory.reader.banks.all()
        old = Opinion(
            bank.id, "0123456789abcdef", "ferri import", "finding", True, CLAIM, "", 0.81,
            Trend.NEW, Status.OBSERVED, Trust.ASSISTANT, "", "", "", 2, names, author="rules",
        )  # fmt: skip
        with memory.store.transaction():
            memory.store.opinions.put(old, None, None)
        assert names and memory.opinions.opinions()
        ingest_and_update(memory, session_on_day(3, "Say hello."))
        assert memory.opinions.opinions(all=True) == []
