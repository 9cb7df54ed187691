"""Secrets of every format, told in every way, are searched for in every file that Holdfast made."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from bench.secrets import PARTS, planted

from holdfast.app.background.runner import WorkerOptions
from holdfast.app.background.worker import run_worker
from holdfast.app.memory import Holdfast
from holdfast.app.server.keys import KeyRequest, make_key
from holdfast.capture.inbox import make_inbox
from holdfast.principal import Level
from holdfast.settings import load_settings
from tests.e2e.access.plain_client import PlainClient
from tests.e2e.access.two_banks import make_environment
from tests.support.command_line import run_command
from tests.support.http.server import read_startup_message
from tests.support.http.server_process import ServerProcess
from tests.support.inbox_home import Home
from tests.support.postgres_server import Server
from tests.support.transcripts import Script

# Told beside every secret: where it is not found, the search looks in the wrong place.
CONTROL = "quartzlantern"


class Planted(NamedTuple):
    secret: str
    text: str


def one_of_each() -> list[Planted]:
    """One secret for each format, in one of its three places."""
    found: dict[str, list[Planted]] = {}
    for part in PARTS:
        for name, _, secret, text in planted(part):
            found.setdefault(name, []).append(Planted(secret, f"{CONTROL}\n{text}\nend"))
    rng = random.Random(5)
    return [rng.choice(places) for places in found.values()]


class Told(NamedTuple):
    """The same number of secrets for each way in which a memory is told something."""

    transcript: Sequence[Planted]
    tools: Sequence[Planted]
    hooks: Sequence[Planted]
    server: Sequence[Planted]

    def all(self) -> list[Planted]:
        return [one for way in self for one in way]


def divided(secrets: list[Planted]) -> Told:
    random.Random(7).shuffle(secrets)
    return Told(*(secrets[start::4] for start in range(4)))


def tell_by_transcript(folder: Path, told: Told) -> None:
    script = Script("33333333-0000-4000-8000-000000000001", cwd=str(folder))
    for one in told.transcript:
        script.user(one.text)
        script.assistant(f"I see: {one.text}")
    for one in told.tools:
        script.tool("Bash", one.text, command=f"echo '{one.text}'")
        script.tool("Write", "ok", file_path="/home/dev/proj/a.txt", content=one.text)
    script.write(folder / "claude" / "projects")


@contextmanager
def home_with_inbox(folder: Path) -> Generator[Home]:
    """A home whose hooks write where they do on this machine: in memory, if there is such a
    folder."""
    home = Home(folder)
    home.inbox = make_inbox(home.places)
    try:
        yield home
    finally:
        shutil.rmtree(home.inbox)


def tell_by_hooks(home: Home, told: Told) -> None:
    for number, one in enumerate(told.hooks):
        home.prompt(one.text)
        home.bash(f"call-{number}", one.text, one.text)
        home.stop(one.text)
    home.end()


def tell_by_server(env: dict[str, str], folder: Path, key: str, told: Told) -> bytes:
    """Returns all that the server printed."""
    process = ServerProcess(["serve", "--port", "0", "--json"], env, folder, read_stderr=True)
    try:
        url = read_startup_message(process)["url"]
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        with closing(PlainClient(url, headers, "127.0.0.1")) as client:
            bank = client.get("/api/v1/banks").json()["banks"][0]["name"]
            for one in told.server:
                body = json.dumps({"text": one.text, "bank": bank})
                remembered = client.post("/api/v1/memories", body)
                assert remembered.status_code == 201, remembered.text
            asked = json.dumps({"question": told.server[0].text, "bank": bank})
            assert client.post("/api/v1/ask", asked).status_code == 200
            query = {"q": CONTROL, "token": told.server[0].secret}
            client.request("GET", "/api/v1/recall", params=query)
        process.terminate()
        return b"".join(process.finish())
    finally:
        process.close()


@pytest.fixture(scope="module", params=["file", "postgres"])
def postgres(request: pytest.FixtureRequest) -> Iterator[Server | None]:
    if request.param == "file":
        yield None
        return
    with closing(Server()) as made:
        yield made


def files_below(*folders: Path) -> dict[str, bytes]:
    found = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return {str(path): path.read_bytes() for path in found}


def surviving(secrets: Sequence[Planted], content: bytes) -> list[str]:
    """Those of which the second half is there, as it is or as JSON has it."""
    halves = [one.secret[len(one.secret) // 2 :] for one in secrets]
    return [half for half in halves if half.encode() in content]


def told_and_collected(home: Home, env: dict[str, str], told: Told) -> dict[str, bytes]:
    """Tell a memory everything, and return all that was written: by the name of its place."""
    folder, settings = home.folder, load_settings(env)
    tell_by_transcript(folder, told)
    tell_by_hooks(home, told)
    quick = WorkerOptions(start_delay_s=0, linger_s=0)
    with Holdfast(settings) as memory:
        memory.ingest(memory.ingestion.find([]))
        key = make_key(memory, KeyRequest("all", (), Level.ADMIN))[0]
    worked = run_worker(settings, quick)
    assert worked.passes and not worked.failed
    printed = tell_by_server(env, folder, key, told)
    exported = folder / "exports"
    exported.mkdir()
    commands = [
        ["export", str(exported / "memory.jsonl")],
        ["export", "--format", "markdown", str(exported / "folder")],
        *([] if settings.store else [["backup", str(exported / "kept.db")]]),
    ]
    for command in commands:
        assert run_command(command, env, folder).returncode == 0

    return {"log of the server": printed, **files_below(settings.home, exported, home.inbox)}


@pytest.mark.slow
def test_no_file_holds_a_secret_that_was_told_in_any_way(
    postgres: Server | None, tmp_path: Path
) -> None:
    told = divided(one_of_each())
    store = postgres.database() if postgres else ""
    env = make_environment(tmp_path, store)
    with home_with_inbox(tmp_path) as home:
        places = told_and_collected(home, env, told)
        assert not list(home.inbox.iterdir())
    if postgres:
        postgres.run(store, "CHECKPOINT")
        places |= files_below(postgres.home)

    held = {name for name, data in places.items() if CONTROL.encode() in data}
    assert any("export" in name for name in held) and any("events" in name for name in held)
    assert any("pg_wal" in name if postgres else name.endswith((".db", "-wal")) for name in held)
    found = {
        name: survivors
        for name, data in places.items()
        if (survivors := surviving(told.all(), data))
    }
    assert not found, json.dumps(found, indent=1)[:3000]
