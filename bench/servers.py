"""How long a server for agents takes to say who it is and what it offers, against
`python -I -S -c pass` started the same way. Cases take turns inside each round; medians.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 15
LIMIT = 25
SERVERS = ("main", "memory", "search")
_ASKED = "".join(
    json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": {}}) + "\n"
    for id, method in enumerate(("initialize", "tools/list"))
)


def run() -> list[str]:
    """Measure; returns the lines of a report."""
    times: dict[str, list[float]] = {name: [] for name in ("", *SERVERS)}
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "HOLDFAST_HOME": folder}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        for round in range(ROUNDS + 2):
            for name, taken in times.items():
                started = time.perf_counter()
                if name:
                    _greet(name, env, started, taken)
                else:
                    subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], check=True)
                    taken.append(time.perf_counter() - started)
                if round < 2:
                    taken.clear()
    control = statistics.median(times[""])
    return [
        f"servers: {name} says what it offers: {statistics.median(times[name]) * 1000:.0f} ms, "
        f"{statistics.median(times[name]) / control:.1f} x (limit {LIMIT})"
        for name in SERVERS
    ]


def _greet(name: str, env: dict[str, str], started: float, taken: list[float]) -> None:
    command = [sys.executable, "-m", "holdfast", "mcp", name]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, env=env, text=True) as server:
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write(_ASKED)
        server.stdin.flush()
        for _ in _ASKED.splitlines():
            server.stdout.readline()
        taken.append(time.perf_counter() - started)
        server.stdin.close()


if __name__ == "__main__":
    print("\n".join(run()))
