"""The real program, with our hooks: every event of a session is in the inbox, whole."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

from tests.e2e.claude_code.api import SUMMARY, Refuse, Say, Use
from tests.e2e.claude_code.conftest import MakeLab
from tests.e2e.claude_code.sandbox import Lab

FILE = "{project}/hello.sh"
WORK = (
    [Say("I write it."), Use("Write", {"file_path": FILE, "content": "echo hi\n"})],
    [Use("Edit", {"file_path": FILE, "old_string": "hi", "new_string": "hello"})],
    [Use("Bash", {"command": "sh hello.sh", "description": "run it"})],
    [Use("Bash", {"command": "exit 3", "description": "fail"})],
    [Say("It says hello.")],
)
TOOLS = "Write,Edit,Bash,Agent"


def test_a_session_that_writes_edits_and_runs_is_captured_completely(
    make_moved_in: MakeLab,
) -> None:
    lab = make_moved_in({"work": WORK})
    done = lab.claude("Please work. PLAY:work", "--output-format", "json", allow=TOOLS)
    assert done.result["result"] == "It says hello."
    assert (lab.project / "hello.sh").read_text() == "echo hello\n"
    events = lab.events()
    told = [(e.name, e.payload.get("tool_name", "")) for e in events if e.name != "PreToolUse"]
    assert told == [
        ("SessionStart", ""),
        ("UserPromptSubmit", ""),
        ("PostToolUse", "Write"),
        ("PostToolUse", "Edit"),
        ("PostToolUse", "Bash"),
        ("PostToolUseFailure", "Bash"),
        ("Stop", ""),
        ("SessionEnd", ""),
    ]
    assert {e.session for e in events} == {done.result["session_id"]}
    by_name = {e.name: e.payload for e in events}
    assert by_name["UserPromptSubmit"]["prompt"] == "Please work. PLAY:work"
    assert by_name["Stop"]["last_assistant_message"] == "It says hello."
    ran = [e.payload for e in events if e.payload.get("tool_name") == "Bash"]
    assert ran[0]["tool_response"]["stdout"] == "hello" and "3" in ran[1]["error"]
    for path in Path(str(lab.places.inbox())).iterdir():
        assert path.stat().st_mode & 0o077 == 0


def test_a_subagent_is_captured_with_its_own_work(make_moved_in: MakeLab) -> None:
    ask = {"description": "look", "prompt": "Look. PLAY:kid", "subagent_type": "general-purpose"}
    lab = make_moved_in(
        {
            "parent": ([Use("Agent", {**ask, "run_in_background": False})], [Say("Thanks.")]),
            "kid": ([Use("Bash", {"command": "ls", "description": "ls"})], [Say("One file.")]),
        }
    )
    lab.claude("Go. PLAY:parent", allow=TOOLS)
    names = lab.names()
    assert names.index("SubagentStart") < names.index("SubagentStop") < names.index("Stop")
    stopped = next(e.payload for e in lab.events() if e.name == "SubagentStop")
    assert stopped["last_assistant_message"] == "One file."
    inner = [e.payload for e in lab.events() if e.name == "PostToolUse"]
    assert stopped["agent_id"] in [payload.get("agent_id") for payload in inner]


def test_resume_and_compaction_are_captured(make_moved_in: MakeLab) -> None:
    lab = make_moved_in({"one": ([Say("First.")],), "two": ([Say("Second.")],)})
    id = lab.claude("Begin. PLAY:one", "--output-format", "json").result["session_id"]
    lab.claude("More. PLAY:two", "--resume", id)
    lab.claude("/compact keep the plan", "--resume", id)
    events = lab.events()
    sources = [e.payload["source"] for e in events if e.name == "SessionStart"]
    assert sources[:2] == ["startup", "resume"] and "compact" in sources
    before = next(e.payload for e in events if e.name == "PreCompact")
    after = next(e.payload for e in events if e.name == "PostCompact")
    assert before["custom_instructions"] == "keep the plan" and SUMMARY in after["compact_summary"]
    assert {e.session for e in events} == {id}


def test_clear_ends_one_session_and_starts_another(make_moved_in: MakeLab) -> None:
    lab = make_moved_in({"one": ([Say("First.")],), "two": ([Say("Second.")],)})
    talk(lab, "Begin. PLAY:one", "/clear", "Anew. PLAY:two")
    events = lab.events(wait_for="SessionEnd")
    sources = [(e.payload["source"], e.session) for e in events if e.name == "SessionStart"]
    assert [source for source, _ in sources] == ["startup", "clear"]
    assert len({session for _, session in sources}) == 2
    prompts = {e.payload["prompt"]: e.session for e in events if e.name == "UserPromptSubmit"}
    assert prompts["Begin. PLAY:one"] == sources[0][1]
    assert prompts["Anew. PLAY:two"] == sources[1][1]


def talk(lab: Lab, *prompts: str) -> None:
    """Several prompts to one run of the program, each after the last was answered."""
    words = ("--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
    with lab.start(*words) as running:
        assert running.stdin is not None and running.stdout is not None
        for prompt in prompts:
            message = {"type": "user", "message": {"role": "user", "content": prompt}}
            running.stdin.write(json.dumps(message) + "\n")
            running.stdin.flush()
            for line in running.stdout:
                if json.loads(line).get("type") == "result":
                    break
        running.stdin.close()
        running.stdout.read()


def test_a_session_whose_service_fails_is_still_captured(make_moved_in: MakeLab) -> None:
    lab = make_moved_in({"bad": (Refuse(400),)})
    done = lab.claude("Try. PLAY:bad", "--output-format", "json")
    assert done.status != 0
    names = lab.names()
    assert names[:2] == ["SessionStart", "UserPromptSubmit"] and names[-1] == "SessionEnd"


def test_work_done_before_the_program_was_killed_is_captured(make_moved_in: MakeLab) -> None:
    slow = {"command": "until [ -e go_on ]; do sleep 0.1; done", "description": "slow"}
    lab = make_moved_in({"slow": (WORK[0], [Use("Bash", slow)], [Say("Never said.")])})
    running = lab.start("Go. PLAY:slow", "--allowedTools", TOOLS)
    events = lab.events(wait_for="PostToolUse")
    running.send_signal(signal.SIGKILL)
    (lab.project / "go_on").touch()
    running.communicate(timeout=60)
    assert [e.payload["tool_name"] for e in events if e.name == "PostToolUse"] == ["Write"]
    assert events[1].payload["prompt"] == "Go. PLAY:slow"


def test_hooks_change_nothing_that_is_sent_to_the_model(
    make_moved_in: MakeLab, make_lab: MakeLab
) -> None:
    plain, ours = make_lab({"work": WORK}), make_moved_in({"work": WORK})
    for script in ours.places.hooks.glob("*.*"):
        script.write_bytes(b"\x00\xff not a script (((\n")
    (ours.places.hooks / "python").write_bytes(b"\x00\n")
    for lab in (plain, ours):
        lab.claude("Please work. PLAY:work", "--strict-mcp-config", allow=TOOLS)
    sent = sent_to_model(plain)
    assert sent and sent == sent_to_model(ours)


def sent_to_model(lab: Lab) -> list[str]:
    """What the model was told in each request, without what differs between any two runs."""
    told: list[str] = []
    for request in lab.api.requests:
        tools = sorted(tool["name"] for tool in request["tools"])
        said = json.dumps([tools, request["messages"]])
        said = said.replace(lab.project.parent.name, "lab")
        told.append(re.sub(r"toolu_\w+|[0-9a-f-]{36}", "id", said))
    return told
