"""The first moments of the server, against the server itself."""

from __future__ import annotations

import io
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from tools.write_first_answers import texts

from holdfast.app.briefs.hook_briefs import goal_brief_by_words
from holdfast.app.memory import Holdfast
from holdfast.interfaces.mcp.protocol import PROTOCOL_VERSIONS
from holdfast.interfaces.mcp.server import Server
from holdfast.interfaces.mcp.servers import FIRST_ANSWERS, load_spec
from holdfast.settings import Settings
from tests.contracts.test_exports import imported_by
from tests.support import brief_scenarios as scenarios
from tests.support.waiting import wait_until

pytestmark = pytest.mark.process  # the product starts the programs

Json = dict[str, Any]
CLAUDE = {"clientInfo": {"name": "claude-code", "version": "2"}}
HELLO = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": CLAUDE}
# Python runs this first, and notes in the folder of the server that the search was imported.
BROKEN_SEARCH = """
import sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "holdfast.app.briefs.hook_briefs":
            with open("tried", "a") as tried:
                tried.write("once")
            raise ImportError(name)

sys.meta_path.insert(0, Finder())
"""
# What Claude Code asks at the start of a session, and what nobody knows.
FIRST: list[Json] = [
    {"id": "probe", "method": "server/discover", "params": {}},
    *(
        {"id": n, "method": "initialize", "params": {**CLAUDE, "protocolVersion": version}}
        for n, version in enumerate((*PROTOCOL_VERSIONS, "1999-01-01", None, 7, []))
    ),
    {"method": "notifications/initialized"},
    {"id": 11, "method": "tools/list"},
    {"id": 12, "method": "resources/list", "params": {}},
    {"id": 14, "method": "ping"},
    {"id": 15, "method": "prompts/list" * 20},
]


class Process:
    """A server in a process of its own."""

    def __init__(self, home: Path, env: Mapping[str, str]) -> None:
        own = {"HOLDFAST_HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / "c")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "holdfast", "mcp"],
            env={**os.environ, **own, **env},
            cwd=home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, message: Json) -> Json:
        self.send(json.dumps(message))
        return self.read()

    def read(self) -> Json:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def send(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def end(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(60)

    def is_standing_by(self) -> bool:
        """Whether nothing but the first moments is loaded: the server has threads."""
        return psutil.Process(self.process.pid).num_threads() == 1


@contextmanager
def started(home: Path, **env: str) -> Generator[Process]:
    server = Process(home, env)
    with server.process:
        try:
            yield server
        finally:
            server.process.kill()


@pytest.fixture
def inbox(tmp_path: Path) -> Iterator[Path]:
    """The folder of the socket of a home with hooks, with a short name as sockets need it."""
    folder = Path("/tmp") / f"hf-{tmp_path.name}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    (tmp_path / "hooks").mkdir()
    (tmp_path / "hooks" / "inbox").write_text(f"{folder}\n")
    yield folder
    shutil.rmtree(folder)


def ask_socket(inbox: Path, prompt: str, **more: str) -> Json:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(60)
        connection.connect(str(inbox / "ask.sock"))
        asked = {"v": 1, "op": "goal", "session": "s", "cwd": str(inbox), "prompt": prompt, **more}
        connection.sendall(json.dumps(asked).encode() + b"\n")
        return json.loads(connection.recv(100_000))


def test_the_prepared_answers_are_those_of_the_server() -> None:
    written = {path.name: path.read_text("utf-8") for path in FIRST_ANSWERS.iterdir()}
    assert written == texts(), "run `python tools/write_first_answers.py`"


def test_standing_by_imports_no_module_that_takes_long() -> None:
    loaded = imported_by("holdfast.interfaces.mcp.standby")
    assert not loaded & {"typing", "re", "enum", "json", "socket", "threading", "pathlib"}


def test_first_answers_are_the_same_as_from_the_loaded_server(tmp_path: Path) -> None:
    lines = [json.dumps(message) for message in FIRST]
    out = io.StringIO()
    Server(out.write, load_spec()).serve([f"{line}\n" for line in lines])
    with started(tmp_path) as server:
        for line in lines:
            server.send(line)
        told = [server.read() for _ in range(len(FIRST) - 1)]
        assert server.is_standing_by()
        assert server.end() == 0
    assert told == [json.loads(line) for line in out.getvalue().splitlines()]


def test_a_call_is_answered_after_standing_by_and_what_was_sent_with_it(tmp_path: Path) -> None:
    call = {"name": "memory", "arguments": {"question": "why"}}
    with started(tmp_path) as server:
        server.ask(HELLO)
        lines = [
            {"id": 1, "method": "tools/call", "params": call},
            {"id": 2, "method": "ping"},
        ]
        server.send("\n".join(map(json.dumps, lines)))
        told = {one["id"]: one for one in (server.read(), server.read())}
        assert "Not known" in told[1]["result"]["content"][0]["text"] and told[2]["result"] == {}
        # The server knows that an agent asks, which said so before it was loaded.
        assert "structuredContent" not in told[1]["result"]
        assert server.end() == 0


def test_a_hook_is_answered_while_standing_by_and_loads_the_server_for_a_task(
    tmp_path: Path, inbox: Path
) -> None:
    with started(tmp_path) as server:
        server.ask(HELLO)
        assert ask_socket(inbox, "Say hello") == {"v": 1, "error": "not loaded"}
        assert server.is_standing_by()
        told = ask_socket(inbox, "Please find out why the nightly import of the orders fails now")
        assert told["id"] == "" and not server.is_standing_by()
        assert ask_socket(inbox, "Say hello")["id"] == ""
        assert server.ask({"id": 5, "method": "ping"})["id"] == 5
        assert server.end() == 0
    assert list(inbox.iterdir()) == []


def test_a_short_prompt_is_searched_by_words_while_standing_by(tmp_path: Path, inbox: Path) -> None:
    scenarios.make_shop(tmp_path / "shop").close()
    shutil.copy(tmp_path / "shop" / "home" / "memory.db", tmp_path)
    settings = Settings(home=tmp_path, claude_dir=tmp_path)
    with Holdfast(settings) as memory:
        (bank,) = (one.id for one in memory.reader.banks.all() if one.name == "shop")
    prompt = "Partners hit the rate limiter during the nightly import"
    wanted = goal_brief_by_words(str(tmp_path), bank, prompt)
    assert "bulk endpoint" in str(wanted["text"])
    with started(tmp_path) as server:
        server.ask(HELLO)
        assert ask_socket(inbox, prompt, bank=bank) == wanted
        assert ask_socket(inbox, prompt, bank="") == {"v": 1, "error": "not loaded"}
        (tmp_path / "memory.db").write_bytes(b"This is no database. " * 1000)
        assert ask_socket(inbox, prompt, bank=bank) == {"v": 1, "error": "not loaded"}
        assert server.is_standing_by() and server.ask({"id": 5, "method": "ping"})["id"] == 5


@pytest.mark.skipif(sys.platform != "linux", reason="needs the list of files that a process maps")
def test_the_search_is_loaded_once_the_session_has_its_first_answers(
    tmp_path: Path, inbox: Path
) -> None:
    def has_search() -> bool:
        maps = psutil.Process(server.process.pid).memory_maps()
        return any("sqlite" in one.path for one in maps)

    with started(tmp_path) as server:
        server.ask(HELLO)
        assert not has_search()
        server.ask({"id": 1, "method": "tools/list"})
        wait_until(has_search, "the server has loaded what searches by words")
        assert server.is_standing_by()
        assert psutil.Process(server.process.pid).memory_info().rss < 60_000_000


def test_a_search_that_cannot_be_imported_ends_no_server(tmp_path: Path, inbox: Path) -> None:
    tried = tmp_path / "tried"
    (tmp_path / "sitecustomize.py").write_text(BROKEN_SEARCH)
    with started(tmp_path, PYTHONPATH=str(tmp_path)) as server:
        server.ask(HELLO)
        server.ask({"id": 1, "method": "tools/list"})
        wait_until(tried.exists, "the server has tried to load what searches by words")
        assert server.ask({"id": 2, "method": "ping"})["id"] == 2
        assert ask_socket(inbox, "the rate limiter", bank="shop")["error"] == "not loaded"
        assert tried.read_text() == "once"
        assert server.is_standing_by() and server.end() == 0


def test_the_socket_is_removed_by_a_server_that_only_stood_by(tmp_path: Path, inbox: Path) -> None:
    with started(tmp_path) as server:
        server.ask(HELLO)
        assert (inbox / "ask.sock").is_socket()
        server.process.terminate()
        assert server.process.wait(60) == 0
    assert list(inbox.iterdir()) == []


def test_a_second_server_leaves_the_socket_to_the_first(tmp_path: Path, inbox: Path) -> None:
    with started(tmp_path) as first:
        first.ask(HELLO)
        with started(tmp_path) as second:
            second.ask(HELLO)
            assert second.end() == 0
        wait_until(lambda: (inbox / "ask.sock").is_socket(), "the socket of the first is there")
        assert ask_socket(inbox, "Say hello") == {"v": 1, "error": "not loaded"}
