"""A model service on loopback, and a user who lets it be asked."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.support.installed_home import MAIN
from tests.support.model_service import serve_in_thread
from tests.support.transcripts import Script, bug_hunt
from tests.support.warm_commands import warm_interpreter

Json = dict[str, Any]
TITLE = "Nightly import loaded rows twice because of the retry wrapper"
EXCHANGE = {
    "number": 1,
    "type": "bugfix",
    "title": TITLE,
    "summary": "The retry wrapper ran load() a second time after a timeout.",
    "details": "",
    "facts": [],
    "keywords": ["importer"],
}


class Service:
    """Speaks OpenAI's protocol, and says what a test wants."""

    def __init__(self) -> None:
        self.asked: list[Json] = []
        self.answer: Callable[[], tuple[int, Json]] = lambda: (200, completion())
        # For how many seconds it wants to be left alone; 0: it does not say.
        self.retry_after_s = 0
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                service.asked.append(
                    json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                )
                status, answer = service.answer()
                content = json.dumps(answer).encode()
                with suppress(OSError):  # whoever asked was killed
                    self.send_response(status)
                    self.send_header("content-length", str(len(content)))
                    if service.retry_after_s:
                        self.send_header("retry-after", str(service.retry_after_s))
                    self.end_headers()
                    self.wfile.write(content)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"


def completion() -> Json:
    text = json.dumps({"exchanges": [EXCHANGE], "request": TITLE, "learned": [TITLE]})
    usage = {"prompt_tokens": 900, "completion_tokens": 60}
    return {"choices": [{"message": {"content": text}}], "usage": usage, "model": "small"}


class User:
    """A user with a session in the past, and settings."""

    def __init__(self, folder: Path, settings: str, *scripts: Script) -> None:
        (folder / "home").mkdir(mode=0o700)
        self.database = folder / "home" / "memory.db"
        self._config = folder / "home" / "config.toml"
        self.set(settings)
        for script in scripts or (bug_hunt(),):
            script.write(folder / "claude" / "projects")
        self.env = {
            **os.environ,
            "HOLDFAST_HOME": str(folder / "home"),
            "CLAUDE_CONFIG_DIR": str(folder / "claude"),
            "HOLDFAST_EMBEDDER": "none",
            "NO_PROXY": "*",
        }

    def set(self, settings: str) -> None:
        self._config.write_text(settings)

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-c", MAIN, *arguments]

    def run(self, *arguments: str) -> str:
        done = warm_interpreter().run(arguments, self.env)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    def status(self) -> Json:
        return json.loads(self.run("status", "--cost", "--json"))["cost"]


def model_settings(service: Service, more: str = "") -> str:
    return f"""
[models]
use = "openai"
endpoint = "{service.url}"
summaries = "small"
days = 0
{more}
"""


@contextmanager
def serving() -> Generator[Service]:
    """A service, for as long as it is asked."""
    made = Service()
    with serve_in_thread(made.server):
        yield made
