from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.app.briefs.briefing import serve_briefs
from holdfast.app.core.hook_socket import HookSocket
from holdfast.capture.home_paths import HomePaths
from holdfast.settings import Settings
from tests.support import brief_scenarios as scenarios

PROMPT = scenarios.BUILT_WITH[4].prompt


@pytest.fixture
def inbox(tmp_path: Path) -> Iterator[Path]:
    folder = Path("/tmp") / f"hf-{tmp_path.name}"  # the name of a socket must be short
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    yield folder
    shutil.rmtree(folder)


def ask(path: Path, **asked: str) -> dict[str, Any]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(60)
        connection.connect(str(path))
        connection.sendall(json.dumps({"v": 1, **asked}).encode() + b"\n")
        return json.loads(connection.recv(100_000))


class Faulty:
    """Something with a fault that nobody foresaw."""

    def prepare(self) -> None:
        raise ImportError("a part of the program is missing")

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
