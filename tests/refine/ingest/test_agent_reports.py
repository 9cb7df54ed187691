"""What an agent in the background reports is found as its finding, and is nobody's request."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.model.records import Role
from holdfast.model.trust import Trust
from holdfast.settings import Settings
from tests.support.transcripts import Script

pytestmark = pytest.mark.slow

REPORT = "We must never cache the ferry timetable: the lock around the harbour cache is not freed."


def background_agent() -> Script:
    script = Script("99999999-0000-4000-8000-000000000003", cwd="/home/dev/proj")
    script.user("Let an agent look for faults in the harbour cache, and go on with the pier.")
    script.assistant("It is at work; I will start with the pier.")
    script.user(
        '<task-notification>\n<task-id>a1</task-id>\n<summary>Agent "faults" finished</summary>\n'
        f"<result>{REPORT}</result>\n<usage>total_tokens: 9</usage>\n</task-notification>"
    )
    script.assistant("The pier has its second berth now.")
    return script


def test_the_report_of_a_background_agent_is_found_as_its_finding(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "home", tmp_path / "claude", embed_model="none")
    with Holdfast(settings) as memory:
        memory.ingest(memory.ingestion.find([background_agent().write(tmp_path / "p")]))
        (session,) = memory.reader.sessions.latest(None)
        turns = list(memory.reader.turns.stream(session.bank, session.id))
        (report,) = [turn for turn in turns if turn.text == REPORT]
        assert (report.role, report.trust) == (Role.ASSISTANT, Trust.ASSISTANT)
        assert len(memory.reader.sessions.exchanges(session.bank, session.id)) == 1
        found = memory.recall("is the lock around the harbour cache freed?", "all")
        assert any(REPORT in hit.text for hit in found.hits)
        # A rule is what a person says.
        assert not [fact for fact in memory.browse.facts("all") if "timetable" in fact.content]
