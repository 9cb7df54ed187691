"""Recalls of `holdfast serve` by the number of its search processes and of its clients.

Every client asks the next question as soon as the last is answered, over one connection, and no
question is asked twice, so nothing is answered from a cache. Servers take turns, so that a noisy
machine slows all alike. Told are recalls a second and the median time of one, in times of one
client of the server without search processes. The clients run on the same machine.
`HOLDFAST_BENCH_SECONDS` for other lengths.
"""

from __future__ import annotations

import http.client
import os
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import NamedTuple

import psutil

from bench.serve_load import LIMITS, home_environment, new_key, started_server
from bench.startup import SESSIONS, make_home
from holdfast.app.memory import Holdfast
from holdfast.settings import Settings

WORKERS = (1, 2, 4)
CLIENTS = (1, 4, 16, 64)
SECONDS = 6.0
ROUNDS = 2


class Server(NamedTuple):
    """A server that runs."""

    port: int
    key: str
    process: psutil.Process


class Measured(NamedTuple):
    """What came of asking for a while: answers a second, and the median time of one."""

    rate: float
    median_s: float


def _ask(server: Server, questions: Iterator[int], until: float, taken: list[float]) -> None:
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    headers = {"Authorization": f"Bearer {server.key}"}
    while time.monotonic() < until:
        number = next(questions)
        began = time.perf_counter()
        about = f"tide_{number % SESSIONS}+of+the+harbour+table,+question+{number}"
        line.request("GET", f"/api/v1/recall?q={about}&bank=bench", headers=headers)
        answer = line.getresponse()
        answer.read()
        assert answer.status == 200, answer.status
        taken.append(time.perf_counter() - began)
    line.close()


def measure(server: Server, clients: int, seconds: float, questions: Iterator[int]) -> Measured:
    """Let so many clients ask for so long."""
    taken: list[float] = []
    began = time.monotonic()
    asking = [
        threading.Thread(target=_ask, args=(server, questions, began + seconds, taken))
        for _ in range(clients)
    ]
    for one in asking:
        one.start()
    for one in asking:
        one.join()
    return Measured(len(taken) / (time.monotonic() - began), statistics.median(taken))


def _memory_mb(server: Server) -> tuple[float, float]:
    """The memory of a server with its processes: in all, and what each process adds by itself."""
    processes = [server.process, *server.process.children(recursive=True)]
    own = [one.memory_full_info().uss / 1e6 for one in processes]
    return sum(own), statistics.mean(own[1:]) if own[1:] else 0.0


def run() -> list[str]:
    """Measure; returns the lines of a report."""
    seconds = float(os.environ.get("HOLDFAST_BENCH_SECONDS", SECONDS))
    folder = Path(tempfile.mkdtemp())
    questions = count()
    found: dict[tuple[int, int], list[Measured]] = {}
    try:
        env = home_environment(folder)
        home = folder / "home"
        make_home(home)
        with Holdfast(Settings(home=home, claude_dir=home, bank="bench")) as memory:
            memory.ingestion.embed()
        (home / "config.toml").write_text(LIMITS)
        key = new_key(env, "--all-banks")
        with ExitStack() as stack:
            servers: dict[int, Server] = {}
            for workers in WORKERS:
                place = folder / str(workers)
                place.mkdir()
                port, process = stack.enter_context(
                    started_server(env, place, "--workers", str(workers))
                )
                servers[workers] = Server(port, key, process)
                measure(servers[workers], 2 * workers, 3.0, questions)  # processes start now
            for _ in range(ROUNDS):
                for clients in CLIENTS:
                    for workers, server in servers.items():
                        told = measure(server, clients, seconds, questions)
                        found.setdefault((workers, clients), []).append(told)
            memory_mb = {workers: _memory_mb(server) for workers, server in servers.items()}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    rates = {case: statistics.mean(one.rate for one in told) for case, told in found.items()}
    medians = {case: statistics.mean(one.median_s for one in told) for case, told in found.items()}
    first = (WORKERS[0], CLIENTS[0])
    lines = [
        f"serve: {workers} workers, {clients} clients: {rate:.1f} recalls/s, "
        f"{rate / rates[first]:.2f} x; p50 {medians[workers, clients] * 1000:.0f} ms, "
        f"{medians[workers, clients] / medians[first]:.1f} x"
        for (workers, clients), rate in sorted(rates.items())
    ]
    lines += [
        f"serve: {workers} workers hold {whole:.0f} MB of their own, each process {each:.0f} MB"
        for workers, (whole, each) in memory_mb.items()
    ]
    return lines


if __name__ == "__main__":
    for line in run():
        print(line)
