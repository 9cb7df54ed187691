"""Whatever is broken, a prompt is not held up by it for longer than anybody would notice."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
import subprocess
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, closing, contextmanager

import pytest

from tests.hosts.claude_code.test_answer_script import (
    GOAL,
    SCRIPTS,
    SESSION,
    Home,
    home,
    interpreter,
    memory,
    started,
)
from tests.support.hook_scripts import longest_hook_s

__all__ = ["home", "interpreter", "memory"]


@contextmanager
def silent(home: Home) -> Generator[None]:
    """A server that takes the question and never answers."""
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as listening:
        listening.bind(str(home.inbox / "ask.sock"))
        listening.listen(16)
        yield


@contextmanager
def locked(home: Home) -> Generator[None]:
    """A memory that another process keeps to itself."""
    with closing(sqlite3.connect(home.settings.database, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        yield


@contextmanager
def silent_and_locked(home: Home) -> Generator[None]:
    with silent(home), locked(home):
        yield


@contextmanager
def stuck(home: Home) -> Generator[None]:
    """A prepared file that cannot be read to its end."""
    path = home.places.briefs / "folders.json"
    path.unlink()
    os.mkfifo(path)
    yield


@contextmanager
def huge(home: Home) -> Generator[None]:
    """A prepared file that was never one."""
    with (home.places.briefs / "folders.json").open("wb") as file:
        file.write(b'{"v":1,"a":"')
        file.truncate(600_000_000)
    yield


@pytest.mark.parametrize("breakage", [silent, locked, silent_and_locked, stuck, huge])
@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit"])
def test_no_fault_delays_the_user_or_loses_the_event(
    home: Home, breakage: Callable[[Home], AbstractContextManager[None]], event: str
) -> None:
    for script in ("capture.sh", "answer.py"):
        shutil.copy(SCRIPTS / script, home.places.hooks)
    control_s = max(_hook(home, event, f"control-{number}") for number in range(2))
    with breakage(home):
        assert _hook(home, event, SESSION) < longest_hook_s(control_s)
    events = [path for path in home.events(event) if SESSION in path.name]
    assert [bool(path.stat().st_size) for path in events] == [True]


def _hook(home: Home, event: str, session: str) -> float:
    """Run the hook; returns how many seconds it took."""
    began = time.monotonic()
    done = subprocess.run(
        ["sh", str(home.places.hooks / "capture.sh"), event],
        input=json.dumps({**started(), **GOAL, "session_id": session}).encode(),
        env={"PATH": os.environ["PATH"], "CLAUDE_CODE_SESSION_ID": session},
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return time.monotonic() - began
