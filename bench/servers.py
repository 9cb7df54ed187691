"""Servers: how long one for agents takes to say who it is and what it offers, against `python -I -S
-c pass` started the same way; and a recall that `holdfast serve` answers, against the same recall
in this process. Processor time.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from itertools import count
from pathlib import Path

from bench.figures import Case, Figure, Subject, cpu_of_call, cpu_of_process, measure
from bench.serve_workers import home_environment, new_key, started_server
from bench.startup import SESSIONS, make_home
from holdfast.app.memory import Holdfast
from holdfast.settings import Settings

ROUNDS = 15
START_LIMIT = 25
# The recall itself, and as much again for the request, the permission check and the JSON.
RECALL_LIMIT = 2
# One recall is too short to be timed alone.
_RECALLS = 5
SERVERS = ("main", "memory", "search")
_ASKED = "".join(
    json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": {}}) + "\n"
    for id, method in enumerate(("initialize", "tools/list"))
)


def figures() -> list[Figure]:
    """The start of the servers for agents, and a recall over HTTP."""
    return _starts() + _recalls()


def _starts() -> list[Figure]:
    control = [sys.executable, "-I", "-S", "-c", "pass"]
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "HOLDFAST_HOME": folder}
        env.pop("PYTHONDONTWRITEBYTECODE", None)

        def greet(name: str) -> Case:
            return lambda: cpu_of_call(lambda: _greet(name, env))

        return measure(
            "Server",
            "servers",
            Subject(
                "`python -I -S -c pass`",
                lambda: cpu_of_call(lambda: subprocess.run(control, check=True)),
            ),
            [
                Subject(f"`holdfast mcp {name}`, start and `tools/list`", greet(name), START_LIMIT)
                for name in SERVERS
            ],
            ROUNDS,
        )


def _greet(name: str, env: Mapping[str, str]) -> None:
    command = [sys.executable, "-m", "holdfast", "mcp", name]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, env=env, text=True) as server:
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write(_ASKED)
        server.stdin.flush()
        for _ in _ASKED.splitlines():
            server.stdout.readline()
        server.stdin.close()


def _recalls() -> list[Figure]:
    numbers = count()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        env = home_environment(folder)
        home = folder / "home"
        make_home(home)
        key = new_key(env, "--all-banks")
        settings = Settings(home=home, claude_dir=home, bank="bench")
        with (
            started_server(env, folder, "--workers", "1") as (port, process),
            Holdfast(settings) as memory,
        ):
            line = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

            def over_http() -> None:
                for _ in range(_RECALLS):
                    about = _question(next(numbers)).replace(" ", "+")
                    line.request(
                        "GET",
                        f"/api/v1/recall?query={about}&bank=bench",
                        headers={"Authorization": f"Bearer {key}"},
                    )
                    answer = line.getresponse()
                    told = answer.read()
                    assert answer.status == 200 and b"tide" in told, told

            def in_process() -> None:
                for _ in range(_RECALLS):
                    assert memory.recall(_question(next(numbers)), bank="bench").hits

            found = measure(
                "Server",
                "servers",
                Subject(
                    "the same recall in one process", lambda: cpu_of_call(in_process) / _RECALLS
                ),
                [
                    Subject(
                        "recall by `holdfast serve`",
                        lambda: cpu_of_process(process.pid, over_http) / _RECALLS,
                        RECALL_LIMIT,
                    )
                ],
                ROUNDS,
            )
            line.close()
    return found


def _question(number: int) -> str:
    """No question is asked twice, so nothing is answered from a cache."""
    return f"tide_{number % SESSIONS} of the harbour table, question {number}"


def run() -> list[str]:
    """Measure; returns the lines of a report."""
    return [str(figure) for figure in figures()]


if __name__ == "__main__":
    print("\n".join(run()))
