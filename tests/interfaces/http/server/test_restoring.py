"""A backup is restored while the team writes: what was acknowledged is kept."""

from __future__ import annotations

import json
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.app.server.keys import KeyRequest, make_key
from holdfast.app.transfer.backup import back_up, restore
from holdfast.principal import Level
from holdfast.settings import load_settings
from tests.e2e.access.plain_client import PlainClient
from tests.support.http.server import empty_home, read_startup_message
from tests.support.http.server_process import running
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow

WRITERS = 4
BANK = "harbour"
SETTINGS = f'bank = "{BANK}"\n'


class Writer(threading.Thread):
    """Writes one memory after the other, and notes which were acknowledged."""

    def __init__(self, url: str, key: str, number: int, stop: threading.Event) -> None:
        super().__init__()
        self.acknowledged: list[str] = []
        self.refused: set[int] = set()
        self._client = PlainClient(
            url,
            {"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
            f"127.0.0.{number + 1}",
        )
        self._number, self._stop_writing = number, stop

    def run(self) -> None:
        with closing(self._client):
            count = 0
            while not self._stop_writing.is_set():
                count += 1
                text = f"Writer {self._number} wrote sentence {count} about the harbour."
                body = json.dumps({"text": text, "bank": BANK})
                status = self._client.post("/api/v1/memories", body).status_code
                if status == 201:
                    self.acknowledged.append(text)
                else:
                    self.refused.add(status)


def remembered(database: Path) -> set[str]:
    with closing(sqlite3.connect(database)) as connection:
        return {row[0] for row in connection.execute("SELECT text FROM remembered_memory")}


def test_no_acknowledged_write_is_lost_while_a_backup_is_restored(
    tmp_path: Path,
) -> None:
    env = empty_home(tmp_path) | {"HOLDFAST_EMBEDDER": "none"}
    (tmp_path / "home" / "config.toml").write_text(SETTINGS)
    settings = load_settings(env)
    with Holdfast(settings) as memory:
        memory.remember("The harbour opens at six.")
        key = make_key(memory, KeyRequest("writers", (), Level.ADMIN))[0]
    made = back_up(settings, tmp_path / "kept.db")
    stop = threading.Event()
    with running(["serve", "--port", "0", "--json"], env, tmp_path) as server:
        url = read_startup_message(server)["url"]
        writers = [Writer(url, key, number, stop) for number in range(WRITERS)]
        for writer in writers:
            writer.start()

        def write_more(times: int) -> None:
            wanted = [len(writer.acknowledged) + times for writer in writers]
            wait_until(
                lambda: all(
                    len(writer.acknowledged) >= least
                    for writer, least in zip(writers, wanted, strict=True)
                ),
                "every writer has written more",
            )

        asides: list[Path] = []
        try:
            for _ in range(3):
                write_more(3)
                asides.append(Path(restore(settings, made.path).aside))
            write_more(1)
        finally:
            stop.set()
            for writer in writers:
                writer.join(60)

    kept = remembered(settings.database).union(*map(remembered, asides))
    lost = [text for writer in writers for text in writer.acknowledged if text not in kept]
    assert not lost
    assert set().union(*(writer.refused for writer in writers)) <= {503}
