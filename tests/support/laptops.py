"""Laptops of a team and the server that it shares: each a home of its own, the server a process."""

from __future__ import annotations

import json
import os
import sqlite3
import urllib.request
from collections.abc import Callable, Generator, Mapping
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

from holdfast.app.core.token import read_or_make_token
from holdfast.app.memory import Holdfast
from holdfast.model.team import SharedRecord
from holdfast.settings import load_settings
from tests.support.command_line import run_command
from tests.support.http.server import Server, read_startup_message, serving
from tests.support.http.server_process import ServerProcess
from tests.support.ports import free_port

BANK = "harbour"


class Laptop:
    """A home, and a folder whose memory it has."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.folder = folder / name
        self.env = environment(self.folder)
        # A machine that runs all tests at once is slower than any server.
        (self.folder / "home" / "config.toml").write_text("[remote]\nwait_ms = 60000\n")
        self.settings = load_settings(self.env)
        self.memory = Holdfast(self.settings)

    def close(self) -> None:
        """Close the memory."""
        self.memory.close()

    def remember(self, text: str) -> str:
        """Keep a text; returns its URI."""
        return f"holdfast://memory/{self.memory.remember(text, BANK).id}"

    def run(self, *arguments: str, given: str = "", **more: str) -> tuple[int, str, str]:
        """Run a command."""
        done = run_command([*arguments], {**self.env, **more}, self.folder, given)
        return done.returncode, done.stdout, done.stderr

    def json(self, *arguments: str, **more: str) -> Any:
        """What a command prints for programs."""
        status, out, err = self.run(*arguments, "--json", **more)
        assert status == 0, err
        return json.loads(out)

    def join(self, url: str, key: str, name: str = "acme", bank: str = BANK) -> None:
        """Name a server."""
        self.json("remote", "add", url, "--name", name, "--bank", bank, HOLDFAST_REMOTE_KEY=key)


# Makes a laptop with a name: the fixture `new_laptop`.
NewLaptop = Callable[[str], Laptop]


def environment(folder: Path) -> dict[str, str]:
    """One in which nothing is shared with others."""
    (folder / "home").mkdir(mode=0o700, parents=True)
    kept = {k: v for k, v in os.environ.items() if not k.startswith("HOLDFAST_")}
    return {
        **kept,
        "HOME": str(folder),
        "HOLDFAST_HOME": str(folder / "home"),
        "CLAUDE_CONFIG_DIR": str(folder / "claude"),
        "HOLDFAST_EMBEDDER": "none",
        "HOLDFAST_BANK": BANK,
    }


@contextmanager
def team_server(folder: Path, *banks: str) -> Generator[Server]:
    """A real server with banks of the team's."""
    env = environment(folder / "server")
    with Holdfast(load_settings(env)) as memory:
        for bank in (BANK, *banks):
            memory.remember(f"The server keeps the memory of {bank}.", bank)
    with serving(env, folder) as server:
        yield server


class Service:
    """A real server that can be killed and started again at the same address."""

    def __init__(self, folder: Path) -> None:
        self.env = environment(folder / "server")
        self._folder = folder
        with Holdfast(load_settings(self.env)) as memory:
            memory.remember("The server keeps the harbour's memory.", BANK)
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self._process: ServerProcess | None = None
        self.start()
        self.token = read_or_make_token(folder / "server" / "home")

    def start(self) -> None:
        """Start it, and wait until it listens."""
        command = ["browse", "--no-open", "--port", str(self._port), "--json"]
        self._process = ServerProcess(command, self.env, self._folder)
        read_startup_message(self._process)

    def kill(self) -> None:
        """End it at once, whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._process.close()
            self._process = None

    def shared(self) -> list[SharedRecord]:
        """What holds there of what people shared, what was taken back included."""
        with Holdfast(load_settings(self.env), create=False) as memory:
            return memory.store.shares.current(memory.context.bank_id(BANK) or "")

    def rows(self) -> int:
        """How many rows there are of it, of whatever version."""
        with closing(sqlite3.connect(Path(self.env["HOLDFAST_HOME"]) / "memory.db")) as file:
            return int(file.execute("SELECT count(*) FROM shared_record").fetchone()[0])


class _Quiet(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


class _Listening:
    """A server on this machine."""

    def _listen(self, handler: type[_Quiet]) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        """Answer nobody any more."""
        self._server.shutdown()
        self._server.server_close()


class Gate(_Listening):
    """Stands before a server and hands on what comes, except what `on` says: it is called with the
    number of the request, once before it is handed on and once before its answer is."""

    def __init__(self, url: str, on: Callable[[int, str], bool]) -> None:
        self.count = 0
        gate = self

        class Handler(_Quiet):
            def _hand_on(self) -> None:
                gate.count += 1
                number = gate.count
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if not on(number, "request"):
                    self.close_connection = True
                    return
                headers = {k: v for k, v in self.headers.items() if k.lower() != "host"}
                made = urllib.request.Request(url + self.path, body or None, headers)
                with urllib.request.urlopen(made, timeout=60) as answer:
                    result = answer.read()
                if not on(number, "answer"):
                    self.close_connection = True
                    return
                self.send_response(200)
                self.send_header("Content-Length", str(len(result)))
                self.end_headers()
                self.wfile.write(result)

            do_GET = do_POST = _hand_on

        self._listen(Handler)


class Recorder(_Listening):
    """A server on this machine that writes down every request, and answers what it is told to."""

    def __init__(self, answers: Mapping[str, object], held: bool = False) -> None:
        self.requests: list[tuple[str, str, dict[str, str], str]] = []
        self.answers = dict(answers)
        self.go_on = Event()
        if not held:
            self.go_on.set()
        recorder = self

        class Handler(_Quiet):
            def _answer(self) -> None:
                size = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(size).decode()
                headers = {name.lower(): value for name, value in self.headers.items()}
                recorder.requests.append((self.command, self.path, headers, body))
                recorder.go_on.wait(60)
                answer = recorder.answers.get(self.path, {})
                answer = answer(json.loads(body)) if callable(answer) else answer
                result = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(result)))
                self.end_headers()
                self.wfile.write(result)

            do_GET = do_POST = _answer

        self._listen(Handler)

    def close(self) -> None:
        self.go_on.set()
        super().close()
