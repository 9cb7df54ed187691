from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.model.records import Outcome
from tests.support.opinion_sessions import ingest_and_update, open_dated_memory, session_on_day

FINISHED = "The harbour lamp is green now, and all tests pass."


@pytest.mark.parametrize(
    ("closing", "outcome"),
    [
        ("The deploy is waiting for your approval.", Outcome.OPEN),
        ("I'm waiting for the pipeline.", Outcome.OPEN),
        ("The migration is still running in the background.", Outcome.OPEN),
        ("I'll commit it as soon as the checks are green.", Outcome.OPEN),
        ("Shall I proceed?", Outcome.OPEN),
        ("Let me know if you want another colour.", Outcome.DONE),
    ],
)
def test_what_waits_is_open_and_not_done(tmp_path: Path, closing: str, outcome: Outcome) -> None:
    script = session_on_day(1)
    script.user("Paint the harbour lamp green in lamp.py.")
    script.tool("Edit", "ok", file_path="/home/dev/proj/lamp.py", old_string="a", new_string="b")
    script.assistant(f"{FINISHED} {closing}")
    with open_dated_memory(tmp_path) as memory:
        ingest_and_update(memory, script)
        (session,) = memory.reader.sessions.latest(None)
        (exchange,) = memory.reader.sessions.exchanges(session.bank, session.id)
        assert exchange.outcome is outcome
        assert closing in memory.briefs.session_brief().text
