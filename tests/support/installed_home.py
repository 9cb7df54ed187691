"""A home with hooks, as setup leaves it, and the processes that belong to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from time import time

import psutil

from holdfast.capture.home_paths import HomePaths
from holdfast.hosts.claude_code.detect import EVENT_NAMES
from holdfast.hosts.claude_code.install import scripts
from tests.support.command_line import run_command
from tests.support.waiting import wait_until
from tests.support.warm_commands import WarmCommand, warm_interpreter

MAIN = "import sys; from holdfast.interfaces.cli.main import main; sys.exit(main())"


def make_home(folder: Path) -> Path:
    """Hooks, scripts, inbox, and Claude Code's settings that name them."""
    home, claude = folder / "home", folder / "claude"
    places = HomePaths(home)
    places.hooks.mkdir(mode=0o700, parents=True)
    home.chmod(0o700)
    for name, content in scripts().items():
        (places.hooks / name).write_bytes(content)
    # Not -I: the tests may run from a source tree.
    places.interpreter.write_text(f"{sys.executable}\n-B\n")
    inbox = folder / "inbox"
    inbox.mkdir(mode=0o700)
    places.inbox_pointer.write_text(f"{inbox}\n")
    claude.mkdir(exist_ok=True)
    script = places.hooks / "capture.sh"
    hooks = {
        event: [{"hooks": [{"type": "command", "command": f"sh '{script}' {event} || exit 0"}]}]
        for event in EVENT_NAMES
    }
    (claude / "settings.json").write_text(json.dumps({"hooks": hooks}))
    return home


def environment(home: Path, **more: str) -> dict[str, str]:
    return {
        **os.environ,
        "HOLDFAST_HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home.parent / "claude"),
        "HOLDFAST_EMBEDDER": "none",
        **more,
    }


def run(home: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command; a worker in a process of its own, for it lowers its priority for good."""
    if arguments[0] != "worker":
        return run_command([*arguments], environment(home, **more))
    return warm_interpreter().run(arguments, environment(home, **more))


def start(home: Path, *arguments: str, dies_after_s: float | None = None) -> WarmCommand:
    return warm_interpreter().start(arguments, environment(home), dies_after_s=dies_after_s)


def hook(home: Path, event: str, session: str, payload: object = None) -> None:
    """Run the hook as Claude Code does."""
    given = {"session_id": session, "hook_event_name": event} if payload is None else payload
    done = subprocess.run(
        ["sh", str(home / "hooks" / "capture.sh"), event],
        input=json.dumps(given).encode(),
        env={**environment(home), "CLAUDE_CODE_SESSION_ID": session, "HOLDFAST_HOME": ""},
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def processes_of(home: Path) -> list[psutil.Process]:
    """The processes that work on a home, but this one."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        try:
            ours = process.environ().get("HOLDFAST_HOME") == str(home)
            if ours and process.pid != os.getpid() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def wait_until_quiet(home: Path, seconds: float = 60.0) -> None:
    """Wait for every process of a home to leave."""
    wait_until(
        lambda: not processes_of(home), f"every process of {home} has left", seconds, every_s=0.1
    )


def make_old(path: Path, seconds: float) -> None:
    """Let a file be so old; less than nothing is a time to come."""
    then = time() - seconds
    os.utime(path, (then, then))
