"""Hooks and servers killed at random points, and two versions of the program on one home."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from holdfast.capture import inbox, journal
from holdfast.capture.home_paths import HomePaths
from holdfast.errors import NewerSchemaError
from holdfast.hosts.claude_code.install import scripts
from holdfast.store.sqlite.schema import VERSION, migrations
from holdfast.store.sqlite.store import SqliteStore
from tests.support.hook_scripts import longest_hook_s
from tests.support.inbox_home import SESSION as HOOKED
from tests.support.inbox_home import Home
from tests.support.installed_home import (
    environment,
    hook,
    make_home,
    processes_of,
    run,
    wait_until_quiet,
)
from tests.support.killed_processes import kill_after
from tests.support.memory_dump import dump
from tests.support.seeds import seeded_random
from tests.support.transcripts import bug_hunt
from tests.support.waiting import wait_until

SESSION = "33333333-0000-4000-8000-000000000001"


def test_hooks_killed_at_random_points_lose_only_their_own_event(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for name, content in scripts().items():
        (home.places.hooks / name).write_bytes(content)
    home.places.interpreter.write_text(f"{sys.executable}\n-I\n")
    home.places.worker_pid.write_text(f"{os.getpid()}\n")  # no worker comes between
    rng = seeded_random()
    whole: set[str] = set()
    landed = number = 0
    usual = 0.02
    # On a busy machine a hook takes longer: strike about when it is done.
    while number < 60 or (min(landed, len(whole)) < 10 and number < 400):
        event = ("UserPromptSubmit", "PostToolUse")[number % 2]
        text = f"number {number} " + "word " * 20_000
        killed = _killed(home, event, text, rng.uniform(0.05, 2.0) * usual)
        landed += killed
        whole |= set() if killed else {str(number)}
        usual *= 1.1 if killed else 0.9
        number += 1
    done = home.drain()
    assert not done.problems and not done.waiting and not inbox.list_events(home.inbox).events
    lines = home.journal()
    words = [line.get("text", line.get("action", "")) for line in lines]
    found = [word.split()[1] for word in words if word]
    assert len(found) == len(set(found)), "nothing is there twice"
    assert whole <= set(found), "what a hook was done with is kept"
    assert landed >= 10 and len(whole) >= 10, "some must be hit and some not"


def _killed(home: Home, event: str, text: str, after_s: float) -> bool:
    payload = {"session_id": HOOKED, "cwd": "/home/dev/proj", "prompt": text}
    payload |= {"tool_name": "Bash", "tool_use_id": text[:12], "tool_input": {"command": text}}
    given = home.folder / "payload"
    given.write_text(json.dumps(payload))
    with given.open("rb") as stdin:
        process = subprocess.Popen(
            ["sh", str(home.places.hooks / "capture.sh"), event],
            stdin=stdin,
            env={"PATH": os.environ["PATH"], "CLAUDE_CODE_SESSION_ID": HOOKED},
            start_new_session=True,
        )
    try:
        process.wait(timeout=after_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=60)
        return True
    return False


@pytest.mark.slow
def test_servers_killed_at_random_points_do_no_harm(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    bug_hunt(SESSION).write(tmp_path / "claude" / "projects")
    assert run(home, "worker").returncode == 0
    before = dump(home / "memory.db")
    rng = seeded_random()
    asked = {"name": "memory_recall", "arguments": {"query": "what was the bug", "budget": "low"}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asked}
    prompt = {"prompt": "x" * 20, "cwd": "/nowhere"}
    control_s = max(_hook_s(home, f"before-{number}", prompt) for number in range(2))
    for round in range(5):
        with _serve(home) as server:
            assert server.stdin is not None
            server.stdin.write(json.dumps(call).encode() + b"\n")
            server.stdin.flush()
            # One while it starts, the others while it answers and waits.
            assert kill_after(server, 0.05 + (round + rng.random()) / 5 * 1.15)
        assert _hook_s(home, f"after-{round}", prompt) < longest_hook_s(control_s)
    assert dump(home / "memory.db") == before
    # Whatever the dead ones left in the way, the next one is there to be asked.
    with _serve(home) as last:
        _wait_for_answer(home)
        last.communicate(timeout=60)
    assert run(home, "doctor").returncode == 0
    hook(home, "SessionEnd", SESSION)
    wait_until_quiet(home)
    assert processes_of(home) == []
    assert sum(len(list(journal.read(p))) for p in HomePaths(home).journals.glob("*")) == 8


def _hook_s(home: Path, session: str, payload: object) -> float:
    began = time.monotonic()
    hook(home, "UserPromptSubmit", session, payload)
    return time.monotonic() - began


def _serve(home: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "holdfast", "mcp"],
        env=environment(home),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _wait_for_answer(home: Path) -> None:
    path = HomePaths(home).socket()

    def ask() -> bytes:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking, suppress(OSError):
            asking.settimeout(60)
            asking.connect(str(path))
            # A person waits, so the engine is loaded for the answer.
            asking.sendall(b'{"v":1,"op":"nothing","interactive":true}\n')
            return asking.recv(1000)
        return b""

    assert json.loads(wait_until(ask, "the server answers"))["text"] == ""


def test_an_older_program_does_not_change_a_newer_home_and_loses_no_event(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    bug_hunt(SESSION).write(tmp_path / "claude" / "projects")
    assert run(home, "worker").returncode == 0
    _set_version(home, 99)
    before = (home / "memory.db").read_bytes()
    for event in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"):
        hook(home, event, SESSION, {"session_id": SESSION, "prompt": "why is the build so slow"})
    wait_until_quiet(home)
    assert run(home, "recall", "bug").returncode != 0
    assert (home / "memory.db").read_bytes() == before
    folder = HomePaths(home).inbox()
    assert folder is not None and len(inbox.list_events(folder).events) == 4
    _set_version(home, VERSION)
    assert run(home, "worker").returncode == 0
    names = [event["event"] for event in journal.read(HomePaths(home).journal(SESSION))]
    assert names == ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"]


def _set_version(home: Path, number: int) -> None:
    with closing(sqlite3.connect(home / "memory.db")) as connection:
        connection.execute(f"PRAGMA user_version = {number}")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def test_a_running_older_program_stops_writing_after_an_upgrade(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    bug_hunt(SESSION).write(tmp_path / "claude" / "projects")
    assert run(home, "worker").returncode == 0
    newer = [*migrations(), (f"{VERSION + 1:03}_next", "CREATE TABLE next_thing (id TEXT) STRICT;")]
    with closing(SqliteStore(home / "memory.db")) as older:
        SqliteStore(home / "memory.db", newer).close()
        bank = older.banks.all()[0].id
        with pytest.raises(NewerSchemaError), older.transaction():
            older.sources.add("/old/one.jsonl", "claude-code", bank)
        assert older.sources.at_path("/old/one.jsonl") is None
    copies = sorted(copy.name for copy in (home / "backups").iterdir())
    assert copies == [f"memory-schema{VERSION}-1.db"]
