"""Recalls of `holdfast serve` by the number of its search processes and of its clients.

Every client asks the next question as soon as the last is answered, over one connection, and no
question is asked twice, so nothing is answered from a cache. Servers take turns, so that a noisy
machine slows all alike. Told are recalls a second and the median time of one, in times of one
client of the server without search processes, and the processor time of a request in the server,
in its search processes and in the clients, which run on the same machine: the first two tell what
other work on the machine hides.
`HOLDFAST_BENCH_SECONDS` for other lengths.
"""

from __future__ import annotations

import json
import os
import re
import selectors
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import NamedTuple

import psutil

from bench.startup import SESSIONS, make_home
from holdfast.app.memory import Holdfast
from holdfast.settings import Settings

_MAIN = (sys.executable, "-m", "holdfast")
_LIMITS = "[serve]\nwaiting = 1000\n"
WORKERS = (1, 2, 4)
CLIENTS = (1, 4, 16, 64)
SECONDS = 6.0
ROUNDS = 2


def home_environment(folder: Path) -> dict[str, str]:
    """A home in a folder, with a limit that nobody reaches, and the environment for it."""
    (folder / "home").mkdir(mode=0o700, parents=True)
    (folder / "home" / "config.toml").write_text(_LIMITS)
    own = {"HOLDFAST_HOME": str(folder / "home"), "HOME": str(folder)}
    return {**os.environ, **own, "CLAUDE_CONFIG_DIR": str(folder / "claude")}


def new_key(env: Mapping[str, str], *scope: str, name: str = "a") -> str:
    """A new key to the server of a home."""
    return json.loads(_run(env, "key", "new", "--json", "--name", name, *scope).stdout)["key"]


def _run(env: Mapping[str, str], *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*_MAIN, *words], env=dict(env), check=True, capture_output=True)


@contextmanager
def started_server(
    env: Mapping[str, str], folder: Path, *options: str
) -> Generator[tuple[int, psutil.Process]]:
    """A server that runs: its port, and its process."""
    command = [*_MAIN, "serve", "--port", "0", "--json", *options]
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


class Server(NamedTuple):
    """A server that runs."""

    port: int
    key: str
    process: psutil.Process


class Measured(NamedTuple):
    """What came of asking for a while: answers a second, the median time of one, and the processor
    time that one took of the server, of its search processes and of the clients."""

    rate: float
    median_s: float
    server_s: float
    searches_s: float
    clients_s: float


class _Client:
    """A client with one connection, which asks the next question once it has the whole answer."""

    def __init__(self, server: Server) -> None:
        self.connection = socket.create_connection(("127.0.0.1", server.port), 120)
        self._head = f"Host: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.key}\r\n\r\n"
        self._left = 0
        self.began = 0.0

    def ask(self, number: int) -> None:
        about = f"tide_{number % SESSIONS}+of+the+harbour+table,+question+{number}"
        line = f"GET /api/v1/recall?query={about}&bank=bench HTTP/1.1\r\n"
        self.began = time.perf_counter()
        self.connection.sendall((line + self._head).encode())

    def has_answer(self) -> bool:
        """Read what has come; whether that was the end of the answer."""
        data = self.connection.recv(1 << 20)
        if not self._left:
            head, _, data = data.partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200 "), head
            self._left = int(re.findall(rb"(?i)\r\ncontent-length: (\d+)", head)[0])
        self._left -= len(data)
        return not self._left


def measure(server: Server, clients: int, seconds: float, questions: Iterator[int]) -> Measured:
    """Let so many clients ask for so long. One thread serves all their connections: it takes a
    fraction of a millisecond for a request, and leaves the cores to the server."""
    taken: list[float] = []
    own, others = _cpu_s(server)
    began, began_cpu = time.monotonic(), time.process_time()
    with selectors.DefaultSelector() as ready, ExitStack() as stack:
        for _ in range(clients):
            client = _Client(server)
            stack.enter_context(client.connection)
            ready.register(client.connection, selectors.EVENT_READ, client)
            client.ask(next(questions))
        while ready.get_map():
            for key, _ in ready.select():
                client: _Client = key.data
                if not client.has_answer():
                    continue
                taken.append(time.perf_counter() - client.began)
                if time.monotonic() - began < seconds:
                    client.ask(next(questions))
                else:
                    ready.unregister(client.connection)
    took, clients_cpu = time.monotonic() - began, time.process_time() - began_cpu
    own_after, others_after = _cpu_s(server)
    each = [one / len(taken) for one in (own_after - own, others_after - others, clients_cpu)]
    return Measured(len(taken) / took, statistics.median(taken), *each)


def _cpu_s(server: Server) -> tuple[float, float]:
    """The processor time of a server so far, and that of its search processes."""
    others = [sum(one.cpu_times()[:2]) for one in server.process.children(recursive=True)]
    return sum(server.process.cpu_times()[:2]), sum(others)


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
        (home / "config.toml").write_text(_LIMITS)
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
    means = {
        case: Measured(*(statistics.mean(values) for values in zip(*told, strict=True)))
        for case, told in found.items()
    }
    first = means[WORKERS[0], CLIENTS[0]]
    lines = [
        f"serve: {workers} workers, {clients} clients: {told.rate:.1f} recalls/s, "
        f"{told.rate / first.rate:.2f} x; p50 {told.median_s * 1000:.0f} ms, "
        f"{told.median_s / first.median_s:.1f} x; processor time of one: server "
        f"{told.server_s * 1000:.1f} ms, searches {told.searches_s * 1000:.1f} ms, "
        f"clients {told.clients_s * 1000:.2f} ms"
        for (workers, clients), told in sorted(means.items())
    ]
    lines += [
        f"serve: {workers} workers hold {whole:.0f} MB of their own, each process {each:.0f} MB"
        for workers, (whole, each) in memory_mb.items()
    ]
    return lines


if __name__ == "__main__":
    for line in run():
        print(line)
