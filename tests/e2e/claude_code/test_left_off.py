"""What the real program is told of its last sessions: title, what was done, and what is next."""

from __future__ import annotations

import pytest

from tests.e2e.claude_code.api import Say, Use
from tests.e2e.claude_code.conftest import MakeLab
from tests.e2e.claude_code.sandbox import Lab
from tests.e2e.claude_code.test_capture import WITHOUT_SERVER
from tests.e2e.claude_code.test_memory import injected, set_up

LIMITED = "the limiter allows 40 calls a minute"
RETRY = "client.py does not use retry.py yet"
README = "the README does not mention the limiter"
USED = "client.py now goes through retry.py for every call"
PLAYS = {
    "limit": (
        [Use("Write", {"file_path": "{project}/limiter.py", "content": "CALLS = 40\n"})],
        [Say(f"Done: {LIMITED}.\n\nStill open:\n- {RETRY}\n- {README}")],
    ),
    "retry": (
        [Use("Write", {"file_path": "{project}/client.py", "content": "import retry\n"})],
        [Say(f"## Done\n\n- {USED}\n- its test passes")],
    ),
    "next": ([Say("On it.")],),
}
pytestmark = pytest.mark.slow


def run(lab: Lab, prompt: str) -> str:
    """Run a session; returns what the hooks told the model at its start."""
    before = len(lab.api.requests)
    lab.claude(prompt, WITHOUT_SERVER, allow="Write")
    lab.wait_for_worker()
    told = injected(lab, before).replace("\\n", "\n")
    return told.partition("Where we left off\n")[2].partition("\n\n")[0]


def test_the_next_session_is_told_what_was_done_and_what_is_open(make_lab: MakeLab) -> None:
    lab = set_up(make_lab(PLAYS))
    assert run(lab, "Limit the calls of the tide client. PLAY:limit") == ""
    told = run(lab, "Let us go on. PLAY:next")
    assert "Limit the calls of the tide client" in told
    assert f"Done: {LIMITED}. Still open: {RETRY}; {README}." in told


def test_what_a_later_session_did_is_no_longer_open(make_lab: MakeLab) -> None:
    lab = set_up(make_lab(PLAYS))
    run(lab, "Limit the calls of the tide client. PLAY:limit")
    run(lab, "Take the first open point, please. PLAY:retry")
    told = run(lab, "Let us go on. PLAY:next")
    whole = injected(lab, -1)
    second, first = told.splitlines()
    assert f"Done: {USED}; its test passes." in second
    assert "Limit the calls of the tide client" in first
    assert f"Done: {LIMITED}. Still open: {README}." in first
    assert RETRY not in whole
