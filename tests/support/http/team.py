"""A server for a team over a memory with two banks, and the keys to it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.command_line import run_command
from tests.support.http.server import HttpResponse, Server, make_home, read_startup_message
from tests.support.http.server_process import ServerProcess, running

# The words of one bank are in no other.
OURS, THEIRS = "checkout", "payroll"
OUR_WORDS = "The lighthouse lamp is oiled on Thursdays"
THEIR_WORDS = "The vault door sticks in winter"


class Team(NamedTuple):
    """A server that runs, and its process."""

    url: str
    env: Mapping[str, str]
    process: ServerProcess

    def ask(
        self,
        path: str,
        key: str = "",
        body: object = None,
        method: str | None = None,
        **headers: str,
    ) -> HttpResponse:
        """One request with a key; what is not bytes is sent as JSON."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if key:
            given["Authorization"] = f"Bearer {key}"
        data = body if isinstance(body, bytes) else None
        if body is not None and data is None:
            data = json.dumps(body).encode()
            given.setdefault("Content-Type", "application/json")
        return Server(self.url, "", "", self.env).ask(path, given, data, method)

    def graph(self, query: str, key: str) -> dict[str, Any]:
        """One question of the graph."""
        return json.loads(self.ask("/graphql", key, {"query": query}).text)


def cli(env: Mapping[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """One command."""
    return run_command([*arguments], env)


def new_key(env: Mapping[str, str], *arguments: str) -> str:
    """A key, as it is shown."""
    made = cli(env, "key", "new", "--json", *arguments)
    assert made.returncode == 0, made.stderr
    return json.loads(made.stdout)["key"]


def two_banks(folder: Path) -> dict[str, str]:
    """An environment with a memory of sessions, and of two banks besides."""
    env = make_home(folder)
    for bank, text in ((OURS, OUR_WORDS), (THEIRS, THEIR_WORDS)):
        made = cli(env, "remember", text, "--bank", bank)
        assert made.returncode == 0, made.stderr
    return env


@contextmanager
def team_serving(env: Mapping[str, str], folder: Path, *options: str) -> Generator[Team]:
    """A server for as long as it is wanted."""
    command = ["serve", "--port", "0", "--json", *options]
    with running(command, env, folder, read_stderr=True) as process:
        yield Team(read_startup_message(process)["url"], env, process)
