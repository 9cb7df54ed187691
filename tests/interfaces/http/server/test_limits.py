"""The limits of a team server: connections and disk."""

from __future__ import annotations

import json
import socket
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from holdfast.app.memory import Holdfast
from holdfast.app.server.keys import KeyRequest, make_key
from holdfast.principal import Level
from holdfast.settings import load_settings
from tests.support.http.server import empty_home, read_startup_message
from tests.support.http.server_process import ServerProcess
from tests.support.waiting import wait_until

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
def served(folder: Path, store: str = "", settings: str = "") -> Generator[Served]:
    env = empty_home(folder) | {"HOLDFAST_EMBEDDER": "none", "HOLDFAST_STORE": store}
    (folder / "home" / "config.toml").write_text(f'bank = "{BANK}"\n{settings}')
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
def test_a_full_disk_is_named_and_writing_works_again_once_there_is_room() -> None:
    body = json.dumps({"text": "The harbour master has a new boat.", "bank": BANK})
    with small_disk(40) as folder, served(folder) as server:
        ballast = folder / "ballast"
        with ballast.open("wb") as file, pytest.raises(OSError, match="No space"):
            while True:
                file.write(bytes(65_536))
                file.flush()

        refused, why = server.ask("/api/v1/memories", body=body)
        read, _ = server.ask("/api/v1/banks")
        ballast.unlink()
        written, _ = server.ask("/api/v1/memories", body=body)

    assert refused.status == 507 and "Disk full" in json.loads(why)["error"]["message"]
    assert read.status == 200
    assert written.status == 201


def test_connections_beyond_the_limit_are_refused(tmp_path: Path) -> None:
    with served(tmp_path, settings="[serve]\nconnections = 4\n") as server, ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port), 60))
        wait_until(lambda: server.ask("/health")[0].status == 503, "the server is full")
        stack.close()
        wait_until(lambda: server.ask("/health")[0].status == 200, "there is room again")
