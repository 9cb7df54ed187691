"""What the user of the real program sees: a line at the start, and the brief on request."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import termios

import pytest

from tests.e2e.claude_code.api import Say
from tests.e2e.claude_code.conftest import MakeLab
from tests.e2e.claude_code.sandbox import PATIENCE_S, Lab
from tests.e2e.claude_code.test_setup_and_removal import PLUGIN, learn
from tests.support.waiting import wait_until

TALK = {"hello": ([Say("Hello.")],)}
_LINE = re.compile(r"Holdfast: \d+ notes?, \d+ tokens, last: Look into the red build")


@pytest.fixture(scope="module")
def lab(make_shared_lab: MakeLab) -> Lab:
    """A user whose next session is told of an earlier one. No worker reads what follows."""
    made = make_shared_lab(TALK)
    learn(made, "setup", "--yes")
    made.hold_worker()
    return made


def test_the_user_sees_a_line_at_the_start_and_the_model_does_not(lab: Lab) -> None:
    lab.api.requests.clear()
    lab.claude("Hello there. PLAY:hello")
    assert "Holdfast: " not in lab.api.sent(0) and "warmed after the import" in lab.api.sent(0)
    texts = [path.read_text("utf-8") for path in lab.transcripts()]
    lines = [json.loads(line) for text in texts for line in text.splitlines()]
    shown = [line["attachment"] for line in lines if line["type"] == "attachment"]
    messages = [one for one in shown if one["type"] == "hook_system_message"]
    assert any(_LINE.search(json.dumps(one)) for one in messages), messages


def test_the_line_stands_in_the_window_of_an_interactive_session(lab: Lab) -> None:
    project = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    config = lab.claude_dir / ".claude.json"
    known = json.loads(config.read_text())
    known |= {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": ["none"], "rejected": []},
        "projects": {str(lab.project): project},
    }
    config.write_text(json.dumps(known))
    process, terminal = pty.fork()
    if process == 0:  # the child: Claude Code at a terminal
        os.chdir(lab.project)
        program = f"{lab.env['PATH'].split(':')[0]}/claude"
        os.execve(program, ["claude"], lab.env | {"TERM": "xterm-256color"})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 140, 0, 0))
    seen = bytearray()

    def is_shown() -> bool:
        while select.select([terminal], [], [], 0)[0]:
            seen.extend(os.read(terminal, 65536))
        text = seen.decode("utf-8", "replace")
        text = re.sub(r"\x1b\[\d*C", " ", text)
        return _LINE.search(re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)) is not None

    try:
        assert wait_until(is_shown, "the line of Holdfast is in the window", PATIENCE_S)
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)


def test_the_brief_command_shows_what_this_session_was_told(lab: Lab) -> None:
    lab.api.requests.clear()
    lab.claude("/holdfast:brief PLAY:hello", "--plugin-dir", str(PLUGIN))
    asked = json.dumps(lab.api.requests[0]["messages"])
    command = asked[asked.index("command-name") :]
    assert "warmed after the import" in command and "about " in command
    assert "Repeat to the user, word for word" in command
