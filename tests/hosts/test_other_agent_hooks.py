"""The hooks of other agents: the real script, by a real interpreter."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import holdfast
from holdfast.capture.home_paths import INJECTED_EVENT, HomePaths
from holdfast.capture.inbox import make_inbox
from holdfast.hosts.host import HoldfastCommand
from holdfast.hosts.registry import hosts
from holdfast.sources.agent import UserEnvironment

SCRIPTS = Path(holdfast.__file__).parent / "hosts" / "claude_code" / "scripts"
SESSION = "01a1e0d8-bb56-79e1-9138-81e8c292337b"
BRIEF = '<holdfast-brief id="start-1">Use tabs.</holdfast-brief>'


class Home(NamedTuple):
    """A home as setup leaves it, with a brief for one project."""

    places: HomePaths
    project: Path
    inbox: Path

    def run(
        self, event: str, payload: bytes, agent: str = "", **env: str
    ) -> subprocess.CompletedProcess[bytes]:
        """The script, as an agent runs it."""
        return subprocess.run(
            [
                sys.executable,
                "-I",
                "-S",
                "-Werror",
                str(self.places.hooks / "other_agents.py"),
                event,
                *([agent] if agent else []),
            ],
            input=payload,
            capture_output=True,
            timeout=60,
            env={"PATH": os.environ["PATH"], "HOME": str(self.places.home.parent), **env},
        )

    def payload(self, **more: str) -> dict[str, str]:
        """What an agent tells its hooks."""
        path = "/home/dev/.codex/sessions/rollout-1.jsonl"
        result = {"session_id": SESSION, "transcript_path": path, "cwd": str(self.project)}
        return {**result, **more}

    def events(self, name: str) -> list[Path]:
        return sorted(path for path in self.inbox.iterdir() if f".{name}." in path.name)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    places = HomePaths(tmp_path / "holdfast")
    places.hooks.mkdir(parents=True)
    for script in SCRIPTS.glob("*.py"):
        shutil.copy(script, places.hooks)
    # Nobody is there to be started: a worker would read the real files of this machine.
    places.interpreter.write_text("/bin/true\n-I\n")
    make_inbox(places)
    inbox = places.inbox()
    assert inbox is not None
    project = tmp_path / "proj"
    project.mkdir()
    briefs = places.home / "briefs"
    briefs.mkdir()
    result: dict[str, Any] = {
        "folders": {"v": 1, "folders": {str(project): "bank1"}, "aliases": {}},
        "bank1": {"v": 1, "id": "start-1", "text": BRIEF, "records": []},
        "settings": {"v": 1},
    }
    for name, content in result.items():
        (briefs / f"{name}.json").write_text(json.dumps(content))
    return Home(places, project, inbox)


def test_a_starting_session_gets_the_brief_and_its_payload_is_not_stored(home: Home) -> None:
    done = home.run("SessionStart", json.dumps(home.payload(source="startup")).encode())

    answer = json.loads(done.stdout)["hookSpecificOutput"]
    assert (answer["hookEventName"], answer["additionalContext"]) == ("SessionStart", BRIEF)
    assert home.events("SessionStart") == []
    (note,) = home.events(INJECTED_EVENT)
    assert SESSION in note.name


@pytest.mark.parametrize(
    ("agent", "payload", "field"),
    [
        ("copilot", {"sessionId": SESSION, "source": "new"}, "additionalContext"),
        ("cursor", {"conversation_id": SESSION}, "additional_context"),
        ("opencode", {"session_id": SESSION, "source": "startup"}, "additionalContext"),
    ],
)
def test_each_agent_gets_the_brief_in_the_field_that_it_reads(
    home: Home, agent: str, payload: dict[str, str], field: str
) -> None:
    folder = {"workspace_roots": [str(home.project)]} if agent == "cursor" else {}
    folder = folder or {"cwd": str(home.project)}
    done = home.run("SessionStart", json.dumps({**payload, **folder}).encode(), agent)
    assert json.loads(done.stdout) == {field: BRIEF}
    (note,) = home.events(INJECTED_EVENT)
    assert SESSION in note.name


def test_a_resumed_session_of_copilot_gets_no_second_brief(home: Home) -> None:
    payload = {"sessionId": SESSION, "cwd": str(home.project), "source": "resume"}
    assert home.run("SessionStart", json.dumps(payload).encode(), "copilot").stdout == b""


def test_the_transcript_that_copilot_names_is_noted(home: Home) -> None:
    path = "/home/dev/.copilot/session-state/x/events.jsonl"
    payload = {"sessionId": SESSION, "cwd": str(home.project), "transcriptPath": path}
    home.run("Stop", json.dumps(payload).encode(), "copilot")
    (event,) = home.events("SessionEnd")
    expected = {"session_id": SESSION, "transcript_path": path, "cwd": str(home.project)}
    assert json.loads(event.read_bytes()) == {**expected, "reason": "other"}


@pytest.mark.process
def test_the_plugin_for_opencode_puts_the_brief_into_the_prompt_of_a_session(
    home: Home, tmp_path: Path
) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node here: apt install nodejs brings it")
    where = UserEnvironment(tmp_path, {}, "linux")
    ours = HoldfastCommand(sys.executable, "-I", home.places.home, False)
    *_, plugin = hosts()["opencode"].changes(where, ours)
    (tmp_path / "plugin.mjs").write_text(plugin.add(""))
    (tmp_path / "run.mjs").write_text(
        f"""
        import {{ Holdfast }} from "./plugin.mjs"
        const hooks = await Holdfast({{ directory: {json.dumps(str(home.project))} }})
        const transform = hooks["experimental.chat.system.transform"]
        const prompts = {{}}
        for (const [name, session, system] of [
          ["first", "ses_1", []], ["again", "ses_1", []], ["sub", "ses_2", []],
          ["title", "ses_1", ["You are a title generator. "]],
        ]) {{
          if (name === "sub")
            await hooks.event({{ event: {{ type: "session.created",
              properties: {{ info: {{ id: session, parentID: "ses_1" }} }} }} }})
          const output = {{ system }}
          await transform({{ sessionID: session }}, output)
          prompts[name] = output.system
        }}
        await hooks.event({{ event: {{ type: "session.idle",
          properties: {{ sessionID: "ses_1" }} }} }})
        console.log(JSON.stringify(prompts))
        """
    )
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = subprocess.run(
        [node, str(tmp_path / "run.mjs")], capture_output=True, text=True, env=env, timeout=120
    )
    assert done.returncode == 0, done.stderr
    prompts = json.loads(done.stdout)
    assert prompts["first"] == prompts["again"] == [BRIEF]
    assert prompts["sub"] == [] and len(prompts["title"]) == 1
    assert len(home.events(INJECTED_EVENT)) == 1, "it is told once, and then kept"
    (event,) = home.events("SessionEnd")
    assert json.loads(event.read_bytes())["transcript_path"].endswith("opencode/opencode.db")


def test_a_brief_over_the_size_limit_loses_whole_lines_until_it_fits(home: Home) -> None:
    lines = [
        "<holdfast>",
        *(f"{n}: 記憶は短い。" + "長" * 50 for n in range(80)),
        "",
        "more",
        "</holdfast>",
    ]
    text = "\n".join(lines)
    assert len(text) < 9_000 and len(text.encode()) > 10_000
    result: dict[str, Any] = {"v": 1, "id": "start-1", "text": text, "records": []}
    (home.places.home / "briefs" / "bank1.json").write_text(json.dumps(result))

    done = home.run("SessionStart", json.dumps(home.payload(source="startup")).encode())

    given = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"].split("\n")
    assert 9_500 < len("\n".join(given).encode()) < 10_000
    assert given[-3:] == lines[-3:] and given[:-3] == lines[: len(given) - 3]


def test_when_an_agent_stops_only_the_path_of_its_transcript_is_stored(home: Home) -> None:
    payload = home.payload(last_assistant_message="a secret word", hook_event_name="Stop")

    done = home.run("Stop", json.dumps(payload).encode())

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (event,) = home.events("SessionEnd")
    assert json.loads(event.read_bytes()) == {**home.payload(), "reason": "other"}


@pytest.mark.parametrize("payload", [b"", b"[]", b'{"session_id": "../../x"}', b"\xff"])
@pytest.mark.parametrize("event", ["SessionStart", "Stop"])
def test_invalid_payloads_are_ignored(home: Home, event: str, payload: bytes) -> None:
    done = home.run(event, payload)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert all(".none." in path.name for path in home.events("SessionEnd"))


def test_a_disabled_hook_does_nothing(home: Home) -> None:
    payload = json.dumps(home.payload(source="startup")).encode()

    assert home.run("SessionStart", payload, HOLDFAST_OFF="1").stdout == b""
    assert list(home.inbox.glob("1.*")) == []
