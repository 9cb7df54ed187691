"""What the real program did in one session is known in the next, and nobody did anything for it."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from contextlib import closing
from typing import NamedTuple

import pytest

from holdfast.framed_text import OWN_TAG
from tests.e2e.claude_code.api import Json, Say
from tests.e2e.claude_code.conftest import MakeLab
from tests.e2e.claude_code.sandbox import Lab
from tests.e2e.claude_code.test_capture import TOOLS, WITHOUT_SERVER, WORK, talk
from tests.support.hook_scripts import extend_time_limits
from tests.support.transcripts import Script
from tests.support.waiting import wait_until

DECIDED = (
    "We decided to keep the retry limit of the uploader at three, because a fourth attempt "
    "locks the account at the storage provider."
)
ASKED = "How often may the uploader retry?"
PLAYS = {
    "decide": ([Say(DECIDED)],),
    "next": ([Say("On it.")],),
    "more": ([Say("Going on.")],),
    "work": WORK,
}


@pytest.fixture
def lab(make_lab: MakeLab) -> Lab:
    return set_up(make_lab(PLAYS))


def set_up(lab: Lab, embedder: str = "none") -> Lab:
    """Install the hooks. Without a model the workers that they start take half the time; what is
    kept and told is looked for by its words."""
    lab.env["HOLDFAST_EMBEDDER"] = embedder
    done = lab.holdfast("setup", "--yes")
    assert done.status == 0, done.err
    extend_time_limits(lab.places.hooks / "answer.py")
    return lab


def status(lab: Lab) -> Json:
    return json.loads(lab.holdfast("status", "--json").out)


def injected(lab: Lab, number: int) -> str:
    """The texts of hooks in one request."""
    told: list[str] = []
    for message in lab.api.requests[number]["messages"]:
        if message["role"] == "system":
            told.append(json.dumps(message["content"], ensure_ascii=False))
    return "\n".join(told)


def recall(lab: Lab, query: str) -> list[Json]:
    return json.loads(lab.holdfast("recall", query, "--json", "--limit", "50").out)["hits"]


@pytest.mark.slow
def test_a_session_is_stored_automatically_and_completely(lab: Lab) -> None:
    done = lab.claude("Please work. PLAY:work", "--output-format", "json", allow=TOOLS)
    lab.wait_for_worker()
    told = status(lab)
    assert told["ledger"]["balanced"] and told["ledger"]["failed"] == 0
    assert told["ledger"]["pending"] == 0
    found = json.loads(lab.holdfast("find", "--file", "hello.sh", "--json").out)
    assert found["findings"], found
    inbox = lab.places.inbox()
    assert inbox is not None and not list(inbox.glob("1.*"))
    lab.holdfast("ingest", "--embed", "none")
    assert status(lab)["turns"] == told["turns"]
    texts = [hit["text"] for hit in recall(lab, "hello sh echo")]
    assert len(texts) == len(set(texts))
    # A hook of ours ran before each edit.
    assert done.result["result"] == "It says hello."
    assert done.result["session_id"] in [hit["session"] for hit in recall(lab, "Please work")]


class Remembered(NamedTuple):
    """What the hooks told the model in a first session, in which something was decided, and in a
    second run of the program that was cleared and then compacted."""

    lab: Lab
    first: str
    second: str
    cleared: str
    compacted: str


@pytest.fixture(scope="module")
def remembered(make_shared_lab: MakeLab) -> Remembered:
    lab = set_up(make_shared_lab(PLAYS))
    lab.claude(f"{ASKED} PLAY:decide", WITHOUT_SERVER)
    lab.wait_for_worker()
    told = [injected(lab, 0)]

    def look() -> None:
        told.append(injected(lab, -1))

    talk(
        lab,
        *("Let us go on. PLAY:next", look),
        *("/clear", "And then? PLAY:more", look),
        *("/compact", "And after that? PLAY:next", look),
        arguments=[WITHOUT_SERVER],
    )
    lab.wait_for_worker()
    lab.wait_until_quiet()
    return Remembered(lab, *told)


@pytest.mark.slow
def test_the_next_session_starts_with_a_brief(remembered: Remembered) -> None:
    assert f"SessionStart hook additional context: <{OWN_TAG}" in remembered.second
    assert ASKED in remembered.second or DECIDED in remembered.second
    assert ASKED not in remembered.first and DECIDED not in remembered.first


@pytest.mark.slow
def test_a_brief_is_injected_again_after_clear_and_after_compaction(
    remembered: Remembered,
) -> None:
    # What was decided, or the prompt as long as nothing more is known of its session.
    for told in (remembered.cleared, remembered.compacted):
        assert f"<{OWN_TAG}" in told and (ASKED in told or DECIDED in told)


@pytest.mark.slow
def test_injected_text_is_not_stored_as_a_message(remembered: Remembered) -> None:
    assert OWN_TAG in remembered.second
    with closing(sqlite3.connect(remembered.lab.places.home / "memory.db")) as connection:
        turns = [text for (text,) in connection.execute("SELECT text FROM turn")]
    assert sum(DECIDED in text for text in turns) == 1
    assert not any(OWN_TAG in text for text in turns)
    hits = recall(remembered.lab, "uploader retry limit")
    assert any(DECIDED in hit["text"] for hit in hits)
    assert not any(OWN_TAG in hit["text"] for hit in hits)


@pytest.mark.slow
def test_an_empty_memory_injects_at_most_a_short_note(remembered: Remembered) -> None:
    assert len(remembered.first.split(OWN_TAG)[1:]) <= 2
    assert "UserPromptSubmit hook additional context" not in remembered.first


@pytest.mark.slow
def test_no_process_is_left_running(remembered: Remembered) -> None:
    assert remembered.lab.processes() == []


def test_a_first_prompt_about_a_symptom_gets_the_related_decision(make_lab: MakeLab) -> None:
    lab = set_up(make_lab(PLAYS), embedder="")
    script = Script(cwd=str(lab.project))
    script.user("The uploader gives up too early on flaky networks. Raise the retries?")
    script.assistant(DECIDED + " We rejected raising it to five.")
    script.user("Good, leave it at three then.")
    script.write(lab.claude_dir / "projects")
    assert lab.holdfast("ingest").status == 0
    lab.holdfast("worker")
    lab.api.requests.clear()
    symptom = "Uploads fail on bad wifi, the uploader stops after three attempts. PLAY:next"
    lab.claude(symptom, WITHOUT_SERVER)
    told = injected(lab, 0)
    assert "UserPromptSubmit" in told and "locks the account" in told.split("UserPromptSubmit")[1]


@pytest.mark.slow
def test_the_first_session_after_setup_is_briefed_and_a_changed_memory_file_is_told_at_once(
    make_lab: MakeLab,
) -> None:
    lab = make_lab(PLAYS)
    script = Script(cwd=str(lab.project))
    script.user("The uploader gives up too early on flaky networks. Raise the retries?")
    script.assistant(DECIDED)
    script.write(lab.claude_dir / "projects")
    done = lab.holdfast("setup", "--yes", "--ingest")
    assert done.status == 0, done.err
    extend_time_limits(lab.places.hooks / "answer.py")
    lab.hold_worker()
    file = lab.project / ".claude" / "memory.md"
    signed, unsigned = "Uploads are signed with `__key__`.", "Uploads are not signed any more."

    def write(text: str) -> None:
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"# Uploads\n\n{text}\n")

    prompts = ("Let us go on. PLAY:next", lambda: write(signed), "/clear", "And on. PLAY:more")
    talk(lab, *prompts, arguments=[WITHOUT_SERVER])
    assert "The uploader gives up too early" in injected(lab, 0)
    assert signed in injected(lab, -1)
    write(unsigned)
    lab.claude("And on. PLAY:more", WITHOUT_SERVER)
    assert unsigned in injected(lab, -1) and "__key__" not in injected(lab, -1)


@pytest.mark.slow
def test_a_killed_session_is_read_by_the_next_worker(lab: Lab) -> None:
    running = lab.start("Work. PLAY:work", WITHOUT_SERVER, "--allowedTools", TOOLS)
    wait_until((lab.project / "hello.sh").exists, "it works")
    # The program writes its transcript a moment after it has done what stands in it.
    wait_until(
        lambda: any("PLAY:work" in path.read_text("utf-8") for path in lab.transcripts()),
        "the prompt is in the transcript",
    )
    running.kill()
    running.communicate(timeout=60)
    lab.wait_until_quiet()
    assert lab.holdfast("worker").status == 0
    told = status(lab)
    assert told["ledger"]["balanced"] and told["turns"] > 0


def test_a_session_killed_before_its_transcript_was_written_is_read_from_its_events(
    lab: Lab,
) -> None:
    lab.hold_worker()
    running = lab.start("Work. PLAY:work", WITHOUT_SERVER, "--allowedTools", TOOLS)
    lab.events(wait_for="PostToolUse")
    running.kill()
    running.communicate(timeout=60)
    lab.wait_until_quiet()
    for path in lab.transcripts():
        path.unlink()
    lab.release_worker()
    two_hours_ago = time.time() - 7200  # without an event for an hour, a session is over
    inbox = lab.places.inbox()
    assert inbox is not None
    for path in inbox.glob("1.*"):
        os.utime(path, (two_hours_ago, two_hours_ago))
    assert lab.holdfast("worker").status == 0
    told = status(lab)
    assert told["ledger"]["balanced"] and told["turns"] > 0
    assert any("PLAY:work" in hit["text"] for hit in recall(lab, "Work"))
