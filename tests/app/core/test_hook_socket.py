from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from holdfast.app.briefs.hook_server import serve_briefs
from holdfast.app.core.hook_socket import HookSocket
from holdfast.capture.home_paths import HomePaths
from holdfast.settings import Settings
from tests.support import brief_scenarios as scenarios
from tests.support.waiting import wait_until

PROMPT = scenarios.BUILT_WITH[4].prompt


@pytest.fixture
def inbox(tmp_path: Path) -> Iterator[Path]:
    folder = Path("/tmp") / f"hf-{tmp_path.name}"  # the name of a socket must be short
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    yield folder
    shutil.rmtree(folder)


def ask(path: Path, **asked: object) -> dict[str, Any]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(60)
        connection.connect(str(path))
        connection.sendall(json.dumps({"v": 1, **asked}).encode() + b"\n")
        return json.loads(connection.recv(100_000))


class Faulty:
    """Something with a fault that nobody foresaw."""

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["op"] == "fault":
            raise IndexError("beyond the end")
        return {"v": 1}

    def close(self) -> None:
        pass


def test_the_socket_still_answers_after_an_internal_error(inbox: Path) -> None:
    asking = HookSocket(inbox / "ask.sock", Faulty())
    assert asking.start()
    assert ask(inbox / "ask.sock", op="fault") == {"v": 1, "error": "failed"}
    assert ask(inbox / "ask.sock", op="other") == {"v": 1}
    asking.close()


def test_a_created_or_replaced_memory_is_noticed(tmp_path: Path, inbox: Path) -> None:
    scenarios.make_shop(tmp_path / "shop").close()
    made = tmp_path / "shop" / "home" / "memory.db"
    settings = Settings(home=tmp_path / "home", claude_dir=tmp_path)
    places = HomePaths(settings.home)
    places.hooks.mkdir(parents=True)
    places.inbox_pointer.write_text(f"{inbox}\n")
    asking = serve_briefs(settings)
    assert asking is not None
    goal = {"op": "goal", "cwd": scenarios.SHOP, "prompt": PROMPT}
    try:
        assert ask(inbox / "ask.sock", **goal)["text"] == ""
        shutil.copy(made, settings.database)
        assert "bulk endpoint" in ask(inbox / "ask.sock", **goal)["text"]
        settings.database.unlink()
        assert ask(inbox / "ask.sock", **goal)["text"] == ""
    finally:
        asking.close()


def test_a_server_stays_small_until_a_prompt_is_worth_loading_its_engine(
    tmp_path: Path, inbox: Path
) -> None:
    home = tmp_path / "home"
    scenarios.make_shop(tmp_path / "shop").close()
    shutil.copytree(tmp_path / "shop" / "home", home)
    places = HomePaths(home)
    places.hooks.mkdir(parents=True, exist_ok=True)
    places.inbox_pointer.write_text(f"{inbox}\n")
    command = [sys.executable, "-m", "holdfast", "mcp"]
    env = {**os.environ, "HOLDFAST_HOME": str(home)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, env=env, text=True) as server:
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write('{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}\n')
        server.stdin.flush()
        assert "memory_recall" in server.stdout.readline()
        wait_until((inbox / "ask.sock").exists, "the server listens to hooks")
        short = {"op": "goal", "cwd": scenarios.SHOP, "prompt": "429 answers at night"}
        assert ask(inbox / "ask.sock", **short) == {"v": 1, "error": "not loaded"}
        resident = psutil.Process(server.pid).memory_info().rss
        assert resident < 60_000_000, "and is not loaded for a script's short prompt"
        assert "bulk endpoint" in ask(inbox / "ask.sock", **{**short, "prompt": PROMPT})["text"]
        assert psutil.Process(server.pid).memory_info().rss > resident
        server.stdin.close()
    assert not (inbox / "ask.sock").exists()
