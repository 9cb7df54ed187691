"""A server that starts before its keys, or before its database."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from holdfast.interfaces.http.server import browse_server, team_server
from holdfast.settings import load_settings
from tests.e2e.access.plain_client import PlainClient
from tests.support.command_line import run_command
from tests.support.http.server import empty_home, read_startup_message
from tests.support.http.server_process import ServerProcess
from tests.support.postgres_server import Server
from tests.support.waiting import wait_until

KEY = ["key", "new", "--name", "first", "--all-banks", "--level", "admin", "--json"]


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return empty_home(tmp_path) | {"HOLDFAST_EMBEDDER": "none"}


@contextmanager
def starting(env: Mapping[str, str], folder: Path, *options: str) -> Generator[ServerProcess]:
    command = ["serve", "--port", "0", "--json", "--log-format", "json", *options]
    process = ServerProcess(command, env, folder, read_stderr=True)
    try:
        yield process
    finally:
        process.close()


def status_of(url: str, path: str, key: str = "") -> int:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    with closing(PlainClient(url, headers, "127.0.0.1")) as client:
        return client.get(path).status_code


def test_a_server_whose_output_nobody_reads_goes_on(env: dict[str, str], tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "holdfast", "serve", "--port", "0", "--log-format", "json"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=env, stdout=write, stderr=subprocess.PIPE, text=True
    ) as process:
        os.close(write)
        assert process.stderr is not None
        lines = (json.loads(line) for line in process.stderr)
        url = next(line["url"] for line in lines if line["event"] == "started")
        assert status_of(url, "/health") == 200
        process.terminate()
        assert [line["event"] for line in lines][-1] == "ended"
    assert process.returncode == 0


def test_pages_are_served_though_nobody_reads_the_link(env: dict[str, str], tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "holdfast", "browse", "--no-open", "--port", "0"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=env, stdout=write, stderr=subprocess.PIPE
    ) as process:
        os.close(write)

        def link() -> browse_server.Address | None:
            assert process.poll() is None, "the server ended"
            return browse_server.running_server(load_settings(env), browse_server.BrowseOptions())

        wait_until(lambda: link() is not None, "the server hands out links")
        address = link()
        assert address is not None
        token = Path(address.token_file).read_text().strip()
        assert status_of(address.url, "/", token) == 200
        process.terminate()
    assert process.returncode == 0


@pytest.mark.parametrize("port", ["browse", "serve"])
def test_accepted_sockets_are_tcp_so_that_responses_are_not_delayed(port: str) -> None:
    serves = team_server.listen(team_server.ListenOptions(port=0))
    for listening in browse_server.listen(0) if port == "browse" else [serves]:
        listening.setblocking(True)
        with listening, socket.create_connection(listening.getsockname()[:2]):
            accepted, _ = listening.accept()
            with accepted:
                # By this, asyncio tells where it may switch the holding back off.
                assert accepted.proto == socket.IPPROTO_TCP
    serves.close()


@pytest.mark.slow
def test_a_server_without_a_key_answers_health_checks_alone_until_one_is_made_beside_it(
    env: dict[str, str], tmp_path: Path
) -> None:
    with starting(env, tmp_path, "--host", "0.0.0.0", "--behind-proxy") as process:
        url = read_startup_message(process)["url"].replace("0.0.0.0", "127.0.0.1")
        assert process.stderr is not None
        told = json.loads(process.stderr.readline())
        assert told["event"] == "no_key" and told["make"].startswith("holdfast key new")
        assert status_of(url, "/health") == status_of(url, "/ready") == 200
        for path in ("/", "/api/v1/banks", "/metrics", "/api/v1/openapi.json"):
            assert status_of(url, path) in (303, 401), path

        made = run_command(KEY, env, tmp_path)

        assert made.returncode == 0, made.stderr
        assert status_of(url, "/api/v1/banks", json.loads(made.stdout)["key"]) == 200


@pytest.fixture(scope="module")
def postgres() -> Iterator[Server]:
    with closing(Server()) as server:
        yield server


@pytest.mark.slow
def test_a_server_waits_for_a_database_that_comes_later(
    postgres: Server, env: dict[str, str], tmp_path: Path
) -> None:
    store = postgres.database()
    postgres.shut_down()
    with starting(env | {"HOLDFAST_STORE": store}, tmp_path) as process:
        assert process.stderr is not None
        told = json.loads(process.stderr.readline())
        assert told["event"] == "waiting" and 50 < told["seconds_left"] <= 60
        assert process.poll() is None
        postgres.start()

        url = read_startup_message(process)["url"]

        assert status_of(url, "/ready") == 200


@pytest.mark.slow
def test_a_server_gives_up_once_it_has_waited_long_enough(
    postgres: Server, env: dict[str, str], tmp_path: Path
) -> None:
    store = postgres.database()
    (tmp_path / "home" / "config.toml").write_text("[serve]\nstart_s = 1\n")
    postgres.shut_down()
    try:
        with starting(env | {"HOLDFAST_STORE": store}, tmp_path) as process:
            _, complained = process.finish()
            assert process.wait(60) != 0
    finally:
        postgres.start()

    # Where the first try took a second, it says so at once.
    assert complained.count(b'"event":"waiting"') <= 1
    assert b"cannot be used right now" in complained
