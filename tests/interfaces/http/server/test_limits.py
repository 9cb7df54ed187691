"""The limits of a team server say what they are: connections, disk, lengths of requests."""

from __future__ import annotations

import json
import socket
import subprocess
import tempfile
from collections import Counter
from collections.abc import Generator
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from holdfast.app.memory import Holdfast
from holdfast.app.server.keys import KeyRequest, make_key
from holdfast.interfaces.http.server.slow_clients import RefusedConnections
from holdfast.principal import Level
from holdfast.settings import load_settings
from tests.support.http.server import empty_home, read_startup_message
from tests.support.http.server_process import ServerProcess
from tests.support.waiting import wait_until

FEW = "connections = 12\nconnections_per_address = 6\nconnections_without_key = 8\n"
UNLIMITED = "rate = 1000000\nburst = 1000000\n"
BANK = "harbour"


class Served(NamedTuple):
    process: ServerProcess
    port: int
    key: str

    def connect(self, address: str = "127.0.0.1") -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self.port, 60, source_address=(address, 0))

    def ask(
        self, path: str, connection: HTTPConnection | None = None, body: str | None = None
    ) -> tuple[HTTPResponse, bytes]:
        """One request with the key; on a connection of its own, if none is given."""
        line = connection or self.connect("127.0.0.77")
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        line.request("POST" if body else "GET", path, body, headers)
        answer = line.getresponse()
        told = answer, answer.read()
        if connection is None:
            line.close()
        return told


@contextmanager
def served(folder: Path, settings: str, store: str = "") -> Generator[Served]:
    env = empty_home(folder) | {"HOLDFAST_EMBEDDER": "none", "HOLDFAST_STORE": store}
    (folder / "home" / "config.toml").write_text(f'bank = "{BANK}"\n[serve]\n{settings}')
    with Holdfast(load_settings(env)) as memory:
        memory.remember("The harbour opens at six.")
        key = make_key(memory, KeyRequest("all", (), Level.ADMIN))[0]
    command = ["serve", "--port", "0", "--json", "--log-format", "json", "--workers", "1"]
    process = ServerProcess(command, env, folder, read_stderr=True)
    try:
        url: str = read_startup_message(process)["url"]
        yield Served(process, urlsplit(url).port or 0, key)
    finally:
        process.close()


def heard(line: socket.socket) -> bytes:
    line.settimeout(60)
    return b"".join(iter(lambda: line.recv(4096), b""))


def refusal(told: bytes) -> tuple[int, str, str]:
    """Status, Retry-After and code of a response."""
    head, _, body = told.partition(b"\r\n\r\n")
    headers = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:])
    code = json.loads(body)["error"]["code"]
    return int(head.split()[1]), headers[b"retry-after"].decode(), code


def test_whoever_has_to_make_room_is_told_so_and_when_to_come_again(tmp_path: Path) -> None:
    with served(tmp_path, FEW + UNLIMITED) as server, ExitStack() as stack:

        def half_open(address: str) -> socket.socket:
            place = ("127.0.0.1", server.port)
            line = stack.enter_context(socket.create_connection(place, 60, (address, 0)))
            line.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
            return line

        first = half_open("127.0.0.2")
        for _ in range(6):
            half_open("127.0.0.2")
        assert refusal(heard(first)) == (429, "2", "too_many_connections")
        second = half_open("127.0.0.3")
        for _ in range(6):
            half_open("127.0.0.3")
        assert refusal(heard(second)) == (429, "2", "too_many_connections")

        answer, metrics = server.ask("/metrics")

        assert answer.status == 200
        assert b'holdfast_connections_refused_total{why="of_address"}' in metrics
        assert b'holdfast_connections_refused_total{why="without_key"}' in metrics


def test_an_address_whose_connections_all_have_shown_a_key_is_answered_with_429(
    tmp_path: Path,
) -> None:
    with served(tmp_path, FEW + UNLIMITED) as server, ExitStack() as stack:
        kept = [stack.enter_context(closing(server.connect("127.0.0.2"))) for _ in range(6)]
        assert [server.ask("/api/v1/banks", line)[0].status for line in kept] == [200] * 6
        with closing(server.connect("127.0.0.2")) as line:
            answer, body = server.ask("/api/v1/banks", line)

        assert (answer.status, answer.headers["retry-after"]) == (429, "2")
        assert json.loads(body)["error"]["message"] == "Too many connections from this address."
        # Those that are there go on, and others come in.
        assert [server.ask("/api/v1/banks", line)[0].status for line in kept] == [200] * 6
        assert server.ask("/api/v1/banks")[0].status == 200


def test_a_full_server_answers_503_and_makes_room_for_keys_where_there_is_any(
    tmp_path: Path,
) -> None:
    with served(tmp_path, FEW + UNLIMITED) as server, ExitStack() as stack:
        kept: list[HTTPConnection] = []
        for n in range(12):
            line = stack.enter_context(closing(server.connect(f"127.0.0.{2 + n // 6}")))
            assert server.ask("/api/v1/banks", line)[0].status == 200
            kept.append(line)
        answer, body = server.ask("/api/v1/banks")
        assert (answer.status, answer.headers["retry-after"]) == (503, "2")
        assert json.loads(body)["error"]["code"] == "too_many_connections"
        assert [server.ask("/api/v1/banks", line)[0].status for line in kept] == [200] * 12
        for line in kept[:3]:
            line.close()
        # Strangers have taken the room: they go for whoever shows a key.
        for _ in range(3):
            place = ("127.0.0.1", server.port)
            stack.enter_context(socket.create_connection(place, 60, ("127.0.0.9", 0)))
        assert server.ask("/api/v1/banks")[0].status == 200

        server.process.terminate()
        _, logged = server.process.finish()

    lines = [json.loads(line) for line in logged.splitlines()]
    told = [line for line in lines if line["event"] == "connections_refused"]
    assert len(told) == 1 and told[0]["in_all"] == 1


def test_refused_connections_are_logged_once_a_minute_with_their_number() -> None:
    now = 0.0
    counts: Counter[str] = Counter()
    logged: list[dict[str, int]] = []
    refused = RefusedConnections(counts, lambda told: logged.append(dict(told)), lambda: now)
    for second in range(130):
        now = float(second)
        refused.add("in_all")

    assert logged == [{"in_all": 1}, {"in_all": 60}, {"in_all": 60}]
    assert counts == {"in_all": 130}


@pytest.mark.parametrize("path", ["/health", "/api/v1/memories", "/login"])
def test_a_request_with_two_lengths_is_refused_and_its_connection_closed(
    tmp_path: Path, path: str
) -> None:
    smuggled = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
    with (
        served(tmp_path, UNLIMITED) as server,
        socket.create_connection(("127.0.0.1", server.port), 60) as line,
    ):
        line.sendall(
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
            f"Authorization: Bearer {server.key}\r\nContent-Length: {5 + len(smuggled)}\r\n"
            "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n".encode()
            + smuggled
        )
        told = heard(line)

    assert told.startswith(b"HTTP/1.1 400 ") and told.count(b"HTTP/1.1") == 1
    assert b"two_lengths" in told


@contextmanager
def small_disk(megabytes: int) -> Generator[Path]:
    with tempfile.TemporaryDirectory(prefix="hf-small-") as folder:
        command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder]
        if subprocess.run(command, check=False, capture_output=True).returncode:
            pytest.skip("only root can make a small disk")
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.slow
def test_a_full_disk_is_named_and_the_server_is_not_ready_until_there_is_room() -> None:
    body = json.dumps({"text": "The harbour master has a new boat.", "bank": BANK})
    with small_disk(40) as folder, served(folder, UNLIMITED) as server:
        assert server.ask("/ready")[0].status == 200
        ballast = folder / "ballast"
        with ballast.open("wb") as file, pytest.raises(OSError, match="No space"):
            while True:
                file.write(bytes(65_536))
                file.flush()
        # Readiness is looked at once a second.
        wait_until(lambda: server.ask("/ready")[0].status == 503, "the server is not ready")

        not_ready, problem = server.ask("/ready")
        refused, why = server.ask("/api/v1/memories", body=body)
        read, _ = server.ask("/api/v1/banks")
        ballast.unlink()
        wait_until(lambda: server.ask("/ready")[0].status == 200, "the server is ready")
        written, _ = server.ask("/api/v1/memories", body=body)

    assert (not_ready.status, json.loads(problem)["problem"]) == (503, "disk full")
    assert refused.status == 507 and "Disk full" in json.loads(why)["error"]["message"]
    assert read.status == 200
    assert written.status == 201
