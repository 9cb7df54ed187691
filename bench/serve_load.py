"""A hundred clients at once that ask `holdfast serve` for two minutes, with ten keys, half of them
for one bank: none may get an error, and the slowest hundredth may take ten times the median at
most. The server's memory may not grow over 20,000 requests. And what reading in through the server
costs beside reading in without it.

Each client asks the next question as soon as the last is answered, over one connection.
`HOLDFAST_BENCH_SECONDS` and `HOLDFAST_BENCH_CLIENTS` for other lengths and numbers.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil

from bench.corpus import SAMPLES, copy_samples

CLIENTS = 100
SECONDS = 120.0
REQUESTS = 20_000
_KEYS = 10
_COPIES = 40
MAIN = (sys.executable, "-m", "holdfast")
LIMITS = "[serve]\nrate = 1000000\nburst = 1000000\nat_once = 1000\nwaiting = 1000\n"
_BANK = "harbour"
_DIRECTLY = """
import time
from holdfast.app.memory import open_memory
with open_memory() as memory:
    began = time.perf_counter()
    memory.ingest(memory.ingestion.find([]))
    print(time.perf_counter() - began)
"""
_ASKED = (
    "/api/v1/sessions?limit=20",
    "/api/v1/memories",
    "/api/v1/recall?q=nightly+backups&budget=low",
    "/api/v1/facts",
    "/api/v1/exchanges?limit=20",
    "/api/v1/me",
    "/sessions",
    "/api/v1/entities",
)


class Load(NamedTuple):
    """What came of it: how many answers of which status, and how long they took."""

    statuses: Counter[int]
    seconds: list[float]

    @property
    def errors(self) -> int:
        """How many were not answered as they should."""
        return self.statuses.total() - self.statuses[200]

    @property
    def spread(self) -> float:
        """How often the median goes into the slowest hundredth."""
        cuts = statistics.quantiles(self.seconds, n=100)
        return cuts[98] / cuts[49]


class Serving(NamedTuple):
    """A server that runs, and keys to it."""

    port: int
    keys: list[str]
    process: psutil.Process


@contextmanager
def serving(folder: Path) -> Generator[Serving]:
    """A server over the samples."""
    env = home_environment(folder)
    _run(env, "ingest", str(SAMPLES))
    _run(env, "remember", "The lamp is oiled on Thursdays.", "--bank", _BANK)
    keys = [new_key(env, *_scope(number), name=f"k{number}") for number in range(_KEYS)]
    with started_server(env, folder) as (port, process):
        yield Serving(port, keys, process)


def _scope(number: int) -> tuple[str, ...]:
    return ("--all-banks",) if number % 2 else ("--bank", _BANK)


def home_environment(folder: Path) -> dict[str, str]:
    """A home in a folder, with limits that nobody reaches, and the environment for it."""
    (folder / "home").mkdir(mode=0o700, parents=True)
    (folder / "home" / "config.toml").write_text(LIMITS)
    own = {"HOLDFAST_HOME": str(folder / "home"), "HOME": str(folder)}
    return {**os.environ, **own, "CLAUDE_CONFIG_DIR": str(folder / "claude")}


def new_key(env: Mapping[str, str], *scope: str, name: str = "a") -> str:
    """A new key to the server of a home."""
    return json.loads(_run(env, "key", "new", "--json", "--name", name, *scope).stdout)["key"]


def _run(env: Mapping[str, str], *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*MAIN, *words], env=dict(env), check=True, capture_output=True)


@contextmanager
def started_server(
    env: Mapping[str, str], folder: Path, *options: str
) -> Generator[tuple[int, psutil.Process]]:
    """A server that runs: its port, and its process."""
    command = [*MAIN, "serve", "--port", "0", "--json", *options]
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(
            command, env=dict(env), cwd=folder, stdout=subprocess.PIPE, stderr=log
        ) as server,
    ):
        assert server.stdout is not None
        told = b""
        while b"}" not in told:
            line = server.stdout.readline()
            assert line, (folder / "log").read_text()
            told += line
        try:
            yield int(json.loads(told)["url"].rpartition(":")[2]), psutil.Process(server.pid)
        finally:
            server.terminate()


def load(server: Serving, clients: int, seconds: float, most: int = 1 << 62) -> Load:
    """Let so many ask for so long, or until so much was asked."""
    until, each = time.monotonic() + seconds, max(1, most // clients)
    made = [_Client(server.port, server.keys[number % _KEYS], number) for number in range(clients)]
    threads = [threading.Thread(target=one.ask_until, args=(until, each)) for one in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    statuses = sum((one.statuses for one in made), Counter[int]())
    return Load(statuses, [s for one in made for s in one.seconds])


class _Client:
    def __init__(self, port: int, key: str, number: int) -> None:
        self._line = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self._headers = {"Authorization": f"Bearer {key}"}
        self._turn = number
        self.statuses: Counter[int] = Counter()
        self.seconds: list[float] = []

    def ask_until(self, until: float, most: int) -> None:
        while time.monotonic() < until and len(self.seconds) < most:
            began = time.perf_counter()
            try:
                self._line.request("GET", _ASKED[self._turn % len(_ASKED)], headers=self._headers)
                answer = self._line.getresponse()
                answer.read()
                self.statuses[answer.status] += 1
            except (OSError, http.client.HTTPException):
                self.statuses[0] += 1
                self._line.close()
            self.seconds.append(time.perf_counter() - began)
            self._turn += 1
        self._line.close()


def growth(server: Serving, requests: int = REQUESTS) -> tuple[float, float]:
    """How many megabytes the server holds when it has answered a tenth of them, and all."""
    load(server, 8, 3600.0, requests // 10)
    before = server.process.memory_info().rss / 1e6
    load(server, 8, 3600.0, requests - requests // 10)
    return before, server.process.memory_info().rss / 1e6


def reading_in(folder: Path, copies: int = _COPIES) -> tuple[float, float]:
    """How many seconds it takes to read the same transcripts in directly, and through a server
    that is asked to; programs run already."""
    (folder / "direct").mkdir()
    (folder / "served").mkdir()
    took: list[float] = []
    for name in ("direct", "served"):
        env = home_environment(folder / name)
        copy_samples(folder / name / "claude" / "projects", copies)
        if name == "direct":
            code = [sys.executable, "-c", _DIRECTLY]
            done = subprocess.run(code, env=env, check=True, capture_output=True)
            took.append(float(done.stdout))
            continue
        key = new_key(env, "--all-banks", "--level", "admin")
        with started_server(env, folder / name) as (port, _):
            line = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
            began = time.perf_counter()
            headers = {"Authorization": f"Bearer {key}"}
            line.request("POST", "/api/v1/ingest", headers=headers)
            answer = line.getresponse()
            told = answer.read()
            assert answer.status == 200, told
            took.append(time.perf_counter() - began)
    return took[0], took[1]


def run() -> list[str]:
    """Measure; returns the lines of a report."""
    seconds = float(os.environ.get("HOLDFAST_BENCH_SECONDS", SECONDS))
    clients = int(os.environ.get("HOLDFAST_BENCH_CLIENTS", CLIENTS))
    folder = Path(tempfile.mkdtemp())
    try:
        with serving(folder / "load") as server:
            load(server, 1, 3600.0, 2 * len(_ASKED))  # what is loaded at first is loaded now
            told = load(server, clients, seconds)
            before, after = growth(server)
        direct, served = reading_in(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return [
        f"serve: {clients} clients for {seconds:.0f} s: {told.statuses.total():,} requests, "
        f"{told.errors} errors; p99 {told.spread:.1f} x p50 (limit 10)",
        f"serve: memory {before:.0f} MB after {REQUESTS // 10:,} requests, {after:.0f} MB after "
        f"{REQUESTS:,}",
        f"serve: reading in through the server at {direct / served:.2f} of the direct rate "
        "(limit 0.60)",
    ]


if __name__ == "__main__":
    for line in run():
        print(line)
