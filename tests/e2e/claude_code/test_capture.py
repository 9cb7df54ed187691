"""The real program, with our hooks: every event of a session is in the inbox, whole."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.e2e.claude_code.api import SUMMARY, Json, Refuse, Say, Use
from tests.e2e.claude_code.conftest import MakeLab, set_up_without_worker
from tests.e2e.claude_code.sandbox import Event, Lab

FILE = "{project}/hello.sh"
WORK = (
    [Say("I write it."), Use("Write", {"file_path": FILE, "content": "echo hi\n"})],
    [Use("Edit", {"file_path": FILE, "old_string": "hi", "new_string": "hello"})],
    [Use("Bash", {"command": "sh hello.sh", "description": "run it"})],
    [Use("Bash", {"command": "exit 3", "description": "fail"})],
    [Say("It says hello.")],
)
TOOLS = "Write,Edit,Bash,Agent"


ASK = {"description": "look", "prompt": "Look. PLAY:kid", "subagent_type": "general-purpose"}
# Hooks are looked at here: our server need not start with each run.
WITHOUT_SERVER = "--strict-mcp-config"
STREAMED = ("--input-format", "stream-json", "--output-format", "stream-json", "--verbose")


def talk(lab: Lab, *steps: str | Callable[[], object], arguments: Sequence[str] = ()) -> list[Json]:
    """Several prompts to one run of the program, each after the last was answered; what is no
    prompt is called in between. Returns the last word on each prompt."""
    results: list[Json] = []
    with lab.start(*STREAMED, *arguments) as running:
        assert running.stdin is not None and running.stdout is not None
        for step in steps:
            if not isinstance(step, str):
                step()
                continue
            message = {"type": "user", "message": {"role": "user", "content": step}}
            running.stdin.write(json.dumps(message) + "\n")
            running.stdin.flush()
            for line in running.stdout:
                if (told := json.loads(line)).get("type") == "result":
                    results.append(told)
                    break
        running.stdin.close()
        running.stdout.read()
    return results


class Captured(NamedTuple):
    """One session of three prompts: work, work of a subagent, and a service that fails."""

    session: str
    project: Path
    events: list[Event]
    modes: set[int]

    def of_prompt(self, number: int) -> list[Event]:
        """The events of one prompt, from its own on."""
        starts = [n for n, e in enumerate(self.events) if e.name == "UserPromptSubmit"]
        return self.events[starts[number] : [*starts, None][number + 1]]


@pytest.fixture(scope="module")
def captured(make_shared_lab: MakeLab) -> Captured:
    plays = {
        "work": WORK,
        "parent": ([Use("Agent", {**ASK, "run_in_background": False})], [Say("Thanks.")]),
        "kid": ([Use("Bash", {"command": "ls", "description": "ls"})], [Say("One file.")]),
        "bad": (Refuse(400),),
    }
    lab = set_up_without_worker(make_shared_lab(plays))
    prompts = ("Please work. PLAY:work", "Go. PLAY:parent", "Try. PLAY:bad")
    worked, thanked, failed = talk(
        lab, *prompts, arguments=(WITHOUT_SERVER, "--allowedTools", TOOLS)
    )
    assert (worked["result"], thanked["result"]) == ("It says hello.", "Thanks.")
    assert failed["is_error"]
    events = lab.events(wait_for="SessionEnd")
    inbox = Path(str(lab.places.inbox()))
    modes = {path.stat().st_mode & 0o077 for path in inbox.iterdir()}
    return Captured(worked["session_id"], lab.project, events, modes)


def test_a_session_that_writes_edits_and_runs_is_captured_completely(captured: Captured) -> None:
    assert (captured.project / "hello.sh").read_text() == "echo hello\n"
    assert captured.events[0].name == "SessionStart" and captured.events[-1].name == "SessionEnd"
    events = captured.of_prompt(0)
    told = [(e.name, e.payload.get("tool_name", "")) for e in events if e.name != "PreToolUse"]
    assert told == [
        ("UserPromptSubmit", ""),
        ("PostToolUse", "Write"),
        ("PostToolUse", "Edit"),
        ("PostToolUse", "Bash"),
        ("PostToolUseFailure", "Bash"),
        ("Stop", ""),
    ]
    assert {e.session for e in captured.events} == {captured.session}
    by_name = {e.name: e.payload for e in events}
    assert by_name["UserPromptSubmit"]["prompt"] == "Please work. PLAY:work"
    assert by_name["Stop"]["last_assistant_message"] == "It says hello."
    ran = [e.payload for e in events if e.payload.get("tool_name") == "Bash"]
    assert ran[0]["tool_response"]["stdout"] == "hello" and "3" in ran[1]["error"]
    assert captured.modes == {0}


def test_a_subagent_is_captured_with_its_own_work(captured: Captured) -> None:
    events = captured.of_prompt(1)
    names = [event.name for event in events]
    assert names.index("SubagentStart") < names.index("SubagentStop") < names.index("Stop")
    stopped = next(e.payload for e in events if e.name == "SubagentStop")
    assert stopped["last_assistant_message"] == "One file."
    inner = [e.payload for e in events if e.name == "PostToolUse"]
    assert stopped["agent_id"] in [payload.get("agent_id") for payload in inner]


def test_a_session_whose_service_fails_is_still_captured(captured: Captured) -> None:
    events = captured.of_prompt(2)
    assert events[0].payload["prompt"] == "Try. PLAY:bad" and events[-1].name == "SessionEnd"
    assert "Stop" not in [event.name for event in events]


@pytest.fixture(scope="module")
def resumed(make_shared_lab: MakeLab) -> list[Event]:
    """A session that is cleared, and in a second run of the program the first session, resumed
    and compacted."""
    lab = set_up_without_worker(
        make_shared_lab({"one": ([Say("First.")],), "two": ([Say("Second.")],)})
    )
    begun, *_ = talk(lab, "Begin. PLAY:one", "/clear", "Anew. PLAY:two", arguments=[WITHOUT_SERVER])
    resume = (WITHOUT_SERVER, "--resume", begun["session_id"])
    talk(lab, "More. PLAY:two", "/compact keep the plan", arguments=resume)
    return lab.events(wait_for="PostCompact")


def test_resume_and_compaction_are_captured(resumed: list[Event]) -> None:
    begun = resumed[0].session
    cleared = next(e.session for e in resumed if e.payload.get("source") == "clear")
    events = [e for e in resumed if e.session == begun]
    sources = [e.payload["source"] for e in events if e.name == "SessionStart"]
    assert sources[:2] == ["startup", "resume"] and "compact" in sources
    before = next(e.payload for e in events if e.name == "PreCompact")
    after = next(e.payload for e in events if e.name == "PostCompact")
    assert before["custom_instructions"] == "keep the plan" and SUMMARY in after["compact_summary"]
    assert {e.session for e in resumed} == {begun, cleared}


def test_clear_ends_one_session_and_starts_another(resumed: list[Event]) -> None:
    sources = [(e.payload["source"], e.session) for e in resumed if e.name == "SessionStart"]
    assert [source for source, _ in sources[:2]] == ["startup", "clear"]
    first, second = (session for _, session in sources[:2])
    assert first != second
    assert next(e.session for e in resumed if e.name == "SessionEnd") == first
    prompts = {e.payload["prompt"]: e.session for e in resumed if e.name == "UserPromptSubmit"}
    assert prompts["Begin. PLAY:one"] == first and prompts["Anew. PLAY:two"] == second


def test_work_done_before_the_program_was_killed_is_captured(make_lab: MakeLab) -> None:
    slow = {"command": "until [ -e go_on ]; do sleep 0.1; done", "description": "slow"}
    lab = set_up_without_worker(
        make_lab({"slow": (WORK[0], [Use("Bash", slow)], [Say("Never said.")])})
    )
    running = lab.start("Go. PLAY:slow", WITHOUT_SERVER, "--allowedTools", TOOLS)
    events = lab.events(wait_for="PostToolUse")
    running.send_signal(signal.SIGKILL)
    (lab.project / "go_on").touch()
    running.communicate(timeout=60)
    assert [e.payload["tool_name"] for e in events if e.name == "PostToolUse"] == ["Write"]
    assert events[1].payload["prompt"] == "Go. PLAY:slow"


def test_hooks_change_nothing_that_is_sent_to_the_model(make_lab: MakeLab) -> None:
    plain, ours = make_lab({"work": WORK}), set_up_without_worker(make_lab({"work": WORK}))
    for script in ours.places.hooks.glob("*.*"):
        script.write_bytes(b"\x00\xff not a script (((\n")
    (ours.places.hooks / "python").write_bytes(b"\x00\n")
    for lab in (plain, ours):
        lab.claude("Please work. PLAY:work", WITHOUT_SERVER, allow=TOOLS)
    sent = sent_to_model(plain)
    assert sent and sent == sent_to_model(ours)


def sent_to_model(lab: Lab) -> list[str]:
    """What the model was told in each request, without what differs between any two runs."""
    told: list[str] = []
    for request in lab.api.requests:
        tools = sorted(tool["name"] for tool in request["tools"])
        said = json.dumps([tools, request["messages"]])
        said = said.replace(lab.project.parent.name, "lab")
        # Claude Code leaves the state of git out where git takes too long.
        said = re.sub(r"# gitStatus.*?(?=\\n# |\\n*</system-reminder>)", "", said)
        told.append(re.sub(r"toolu_\w+|[0-9a-f-]{36}", "id", said))
    return told
