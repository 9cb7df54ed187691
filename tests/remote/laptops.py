"""Laptops of a team and the server that it shares: each a home of its own, the server a process."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

from tests.http.server import MAIN, Server, serving

from holdfast.app.memory import Holdfast
from holdfast.settings import load_settings

BANK = "harbour"


class Laptop:
    """A home, and a folder whose memory it has."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.folder = folder / name
        self.env = environment(self.folder)
        # A machine that runs all tests at once is slower than any server.
        (self.folder / "home" / "config.toml").write_text("[remote]\nwait_ms = 10000\n")
        self.settings = load_settings(self.env)
        self.memory = Holdfast(self.settings)

    def remember(self, text: str) -> str:
        """Keep a text; returns its URI."""
        return f"holdfast://memory/{self.memory.remember(text, BANK).id}"

    def run(self, *arguments: str, given: str = "", **more: str) -> tuple[int, str, str]:
        """Run a command as a process of its own."""
        done = subprocess.run(
            [*MAIN, *arguments],
            env={**self.env, **more},
            cwd=self.folder,
            input=given,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return done.returncode, done.stdout, done.stderr

    def json(self, *arguments: str, **more: str) -> Any:
        """What a command prints for programs."""
        status, out, err = self.run(*arguments, "--json", **more)
        assert status == 0, err
        return json.loads(out)

    def join(self, url: str, key: str, name: str = "acme", bank: str = BANK) -> None:
        """Name a server."""
        self.json("remote", "add", url, "--name", name, "--bank", bank, HOLDFAST_REMOTE_KEY=key)


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
def team_server(folder: Path) -> Generator[Server]:
    """A real server with a bank of the team's."""
    env = environment(folder / "server") if not (folder / "server").exists() else None
    env = env or {**os.environ, **_again(folder / "server")}
    subprocess.run(
        [*MAIN, "remember", "The server keeps the harbour's memory.", "--bank", BANK],
        env=env, cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    with serving(env, folder) as server:
        yield server


def _again(folder: Path) -> dict[str, str]:
    return {
        "HOME": str(folder),
        "HOLDFAST_HOME": str(folder / "home"),
        "CLAUDE_CONFIG_DIR": str(folder / "claude"),
        "HOLDFAST_EMBEDDER": "none",
    }


class Recorder:
    """A server on this machine that writes down every request, and answers what it is told to."""

    def __init__(self, answers: Mapping[str, object], held: bool = False) -> None:
        self.requests: list[tuple[str, str, dict[str, str], str]] = []
        self.answers = dict(answers)
        self.go_on = Event()
        if not held:
            self.go_on.set()
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            def _answer(self) -> None:
                size = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(size).decode()
                headers = {name.lower(): value for name, value in self.headers.items()}
                recorder.requests.append((self.command, self.path, headers, body))
                recorder.go_on.wait(20)
                told = json.dumps(recorder.answers.get(self.path, {})).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(told)))
                self.end_headers()
                self.wfile.write(told)

            do_GET = do_POST = _answer

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Answer nobody any more."""
        self.go_on.set()
        self._server.shutdown()
        self._server.server_close()
