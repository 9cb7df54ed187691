from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from tests.support.opinion_sessions import ingest_and_update, open_dated_memory, session_on_day

FINISHED = "The harbour lamp is green now, and all tests pass."


def brief_after(folder: Path, reply: str) -> str:
    script = session_on_day(1)
    script.user("Paint the harbour lamp green in lamp.py.")
    script.tool("Edit", "ok", file_path="/home/dev/proj/lamp.py", old_string="a", new_string="b")
    script.assistant(reply)
    with open_dated_memory(folder) as memory:
        ingest_and_update(memory, script)
        with Holdfast(memory.settings, create=False) as briefing:
            return briefing.briefs.session_brief().text


@pytest.mark.parametrize(
    ("closing", "state"),
    [
        ("The deploy is waiting for your approval.", "waiting for an answer"),
        ("I'm waiting for the pipeline.", "unfinished"),
        ("The migration is still running in the background.", "unfinished"),
        ("I'll commit it as soon as the checks are green.", "unfinished"),
        ("Shall I proceed?", "waiting for an answer"),
    ],
)
def test_what_waits_is_open_and_not_done(tmp_path: Path, closing: str, state: str) -> None:
    told = brief_after(tmp_path, f"{FINISHED} {closing}")
    assert "done:" not in told and f", {state}: “Paint the harbour lamp" in told


def test_finished_work_is_done(tmp_path: Path) -> None:
    told = brief_after(tmp_path, f"{FINISHED} Let me know if you want another colour.")
    assert ", done: “Paint the harbour lamp" in told
