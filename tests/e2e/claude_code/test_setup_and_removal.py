"""Moving into the real program, being used by it, and moving out without a trace."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import holdfast
from tests.e2e.claude_code.api import Say, Use
from tests.e2e.claude_code.conftest import MakeLab
from tests.e2e.claude_code.sandbox import Lab
from tests.support.transcripts import Script

MINE = """\
{
    "permissions": {"allow": ["Read", "Bash(ls:*)"]},
    "hooks": {
        "Stop": [ {"hooks": [{"type": "command", "command": "touch stopped"}]} ]
    },

    "includeCoAuthoredBy": false
}"""
PLUGIN = Path(holdfast.__file__).parent / "hosts" / "claude_code" / "plugin"
TALK = {"hello": ([Say("Hello.")],)}


def test_a_plugin_alone_only_says_so_and_settings_are_byte_identical_after_uninstall(
    make_lab: MakeLab,
) -> None:
    lab = make_lab(TALK)
    mine = lab.claude_dir / "settings.json"
    mine.write_text(MINE)
    done = lab.claude("Once before. PLAY:hello", "--plugin-dir", str(PLUGIN))
    assert done.out.strip() == "Hello." and done.status == 0
    assert not lab.places.home.exists(), "the plugin does nothing where Holdfast is not installed"
    shown = "".join(path.read_text("utf-8") for path in lab.transcripts())
    assert "hook_system_message" in shown and "this plugin needs the program" in shown
    assert "needs the program" not in lab.api.sent(0), "the model is not told"
    before = json.loads((lab.claude_dir / ".claude.json").read_text())
    assert lab.holdfast("setup", "--yes").status == 0
    lab.hold_worker()
    lab.claude("Hi. PLAY:hello")
    assert (lab.project / "stopped").exists()
    assert "Stop" in lab.names()
    inbox = lab.places.inbox()
    done = lab.holdfast("uninstall", "--yes")
    assert done.status == 0, done.err
    assert mine.read_text() == MINE
    after = json.loads((lab.claude_dir / ".claude.json").read_text())
    assert "mcpServers" not in after and after.keys() >= before.keys()
    assert inbox is not None and not inbox.exists()
    assert "were not read yet and would be deleted" in " ".join(done.out.split())
    lab.api.requests.clear()
    assert lab.claude("Still there? PLAY:hello").out.strip() == "Hello."
    assert "holdfast" not in lab.api.sent(0).lower()


def test_setup_for_one_project_is_used_by_claude_code_only_there(make_lab: MakeLab) -> None:
    lab = make_lab(TALK)
    assert lab.holdfast("setup", "--yes", "--scope", "project").status == 0
    lab.hold_worker()
    assert not (lab.claude_dir / "settings.json").exists()
    lab.claude("Hi. PLAY:hello")
    assert "Stop" in lab.names()
    assert "mcp__holdfast__memory" in lab.api.sent(0)
    assert lab.holdfast("uninstall", "--yes").status == 0
    assert not (lab.project / ".claude").exists()


def learn(lab: Lab, *command: str) -> None:
    """Give the lab's project a past, and read it with a command, `ingest` by default."""
    script = Script(cwd=str(lab.project))
    script.user("Look into the red build please.")
    script.assistant(
        "The nightly import fails because the cache must be warmed after the import, never before."
    )
    script.write(lab.claude_dir / "projects")
    done = lab.holdfast(*(command or ("ingest", "--embed", "none")))
    assert done.status == 0, done.err


def told_record(lab: Lab, words: str) -> str:
    """The name of the record that the brief tells in these words."""
    told = lab.holdfast("brief").out
    (line, *_) = [one for one in told.splitlines() if words in one and "(memory/" in one]
    return line.rpartition("(")[2].rstrip(")")


def test_claude_code_accepts_the_plugin_as_valid(make_lab: MakeLab) -> None:
    lab = make_lab(TALK)
    for folder in (PLUGIN, Path(__file__).parents[3]):
        done = lab.run_claude("plugin", "validate", str(folder), "--strict")
        assert done.status == 0, done.out + done.err


@pytest.mark.slow
def test_the_plugin_captures_answers_and_can_be_removed(make_lab: MakeLab) -> None:
    tool = "mcp__plugin_holdfast_memory__memory"
    ask = Use(tool, {"question": "Why does the nightly import fail?"})
    lab = make_lab({"ask": ([ask], [Say("I see.")])})
    mine = lab.claude_dir / "settings.json"
    mine.write_text(MINE)
    assert lab.holdfast("setup", "--yes").status == 0
    done = lab.holdfast("setup", "--yes", "--plugin")
    assert done.status == 0, done.err
    assert "capture.sh" not in mine.read_text()
    assert "nothing to change" in lab.holdfast("setup", "--yes").out
    lab.hold_worker()
    learn(lab)
    lab.claude("Why? PLAY:ask", allow=tool)
    assert lab.names().count("Stop") == 1
    first, second = lab.api.sent(0), lab.api.sent(1)
    for named in ("holdfast:ask-memory", "holdfast:save-to-memory", "holdfast:code-explorer"):
        assert named in first, named
    assert "warmed after the import" in second
    done = lab.holdfast("uninstall", "--yes")
    assert done.status == 0, done.err
    assert mine.read_text() == MINE


def test_text_stored_by_the_remember_command_is_found_later(make_lab: MakeLab) -> None:
    said = "Remember: the staging database is wiped every Sunday night by the reset job."
    lab = make_lab({"keep": ([Say(said)],)})
    lab.claude("/holdfast:remember PLAY:keep staging is wiped", "--plugin-dir", str(PLUGIN))
    assert "The user wants this to be remembered" in lab.api.sent(0)
    assert lab.holdfast("ingest", "--embed", "none").status == 0
    found = json.loads(lab.holdfast("recall", "staging database wiped", "--json").out)
    assert any(f"Learned: {said}" in hit["text"].replace("\n", " ") for hit in found["hits"])
