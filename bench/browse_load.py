"""Fifty clients at once that ask the server of `holdfast browse` for a minute: none may get an
error, and the server's memory may not grow. Also how long it takes to start.

Each client asks the next question as soon as the last is answered, over one connection: pages,
lists, records, recall by words, GraphQL. `HOLDFAST_BENCH_SECONDS` for another length.
"""

from __future__ import annotations

import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil

from bench.corpus import SAMPLES

CLIENTS = 50
SECONDS = 60.0
MOST_MB = 200
_GRAPH = json.dumps(
    {"query": "{ sessions(limit: 5) { items { title exchanges { items { title } } } } }"}
)
_ASKED = (
    ("GET", "/", ""),
    ("GET", "/sessions", ""),
    ("GET", "/api/v1/sessions?limit=20", ""),
    ("GET", "/api/v1/facts", ""),
    ("GET", "/api/v1/recall?q=nightly+backups&budget=low", ""),
    ("GET", "/api/v1/exchanges?limit=20", ""),
    ("GET", "/api/v1/entities", ""),
    ("GET", "/api/v1/timeline", ""),
    ("POST", "/graphql", _GRAPH),
)


class Load(NamedTuple):
    """What came of it: how many answers of which status, how long they took, and memory."""

    statuses: Counter[int]
    seconds: list[float]
    mb_before: float
    mb_after: float
    start_s: float


@contextmanager
def _serving(folder: Path) -> Generator[tuple[int, str, int, float]]:
    """A server over the samples: its port, its token, its process, how long it took to start."""
    env = {**os.environ, "HOLDFAST_HOME": str(folder / "home"), "HOME": str(folder)}
    main = [sys.executable, "-m", "holdfast"]
    # Every question is one for words.
    ingest = [*main, "ingest", str(SAMPLES), "--embed", "none"]
    subprocess.run(ingest, env=env, check=True, capture_output=True)
    began = time.perf_counter()
    command = [*main, "browse", "--no-open", "--port", "0", "--json"]
    with subprocess.Popen(command, env=env, cwd=folder, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        told = b""
        while b"}" not in told:
            told += server.stdout.readline()
        started = time.perf_counter() - began
        found = json.loads(told)
        token = Path(found["token_file"]).read_text().strip()
        try:
            yield int(found["url"].rpartition(":")[2]), token, server.pid, started
        finally:
            server.terminate()


def load(clients: int = CLIENTS, seconds: float = SECONDS) -> Load:
    """Let so many ask for so long."""
    with tempfile.TemporaryDirectory() as name, _serving(Path(name)) as (port, token, pid, started):
        process = psutil.Process(pid)
        _Client(port, token, 0).ask_all()  # what is loaded with the first question is loaded now
        before = process.memory_info().rss / 1e6
        until = time.monotonic() + seconds
        made = [_Client(port, token, number) for number in range(clients)]
        threads = [threading.Thread(target=client.ask_until, args=(until,)) for client in made]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        after = process.memory_info().rss / 1e6
    statuses = sum((client.statuses for client in made), Counter[int]())
    return Load(statuses, [s for one in made for s in one.seconds], before, after, started)


class _Client:
    def __init__(self, port: int, token: str, number: int) -> None:
        self._line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._turn = number
        self.statuses: Counter[int] = Counter()
        self.seconds: list[float] = []

    def ask_until(self, until: float) -> None:
        while time.monotonic() < until:
            self._ask(*_ASKED[self._turn % len(_ASKED)])
            self._turn += 1
        self._line.close()

    def ask_all(self) -> None:
        for asked in _ASKED:
            self._ask(*asked)
        self._line.close()

    def _ask(self, method: str, path: str, body: str) -> None:
        began = time.perf_counter()
        try:
            self._line.request(method, path, body or None, self._headers)
            answer = self._line.getresponse()
            said = answer.read()
            failed = path == "/graphql" and b'"errors"' in said
            self.statuses[0 if failed else answer.status] += 1
        except (OSError, http.client.HTTPException):
            self.statuses[0] += 1
            self._line.close()
        self.seconds.append(time.perf_counter() - began)


def run() -> list[str]:
    """Measure; returns the lines of a report."""
    seconds = float(os.environ.get("HOLDFAST_BENCH_SECONDS", SECONDS))
    told = load(seconds=seconds)
    good, all = told.statuses[200], told.statuses.total()
    times = statistics.quantiles(told.seconds, n=20)
    return [
        f"browse: {CLIENTS} clients for {seconds:.0f} s: {all:,} requests, {all - good} errors, "
        f"{all / seconds:.0f} a second, median {times[9] * 1000:.0f} ms, "
        f"p95 {times[18] * 1000:.0f} ms",
        f"browse: server memory {told.mb_before:.0f} MB before, {told.mb_after:.0f} MB after "
        f"(limit {MOST_MB}); started in {told.start_s:.2f} s",
    ]


if __name__ == "__main__":
    for line in run():
        print(line)
