"""A server whose database has no room left: what it says, and that it loses nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest

from tests.interfaces.http.server.test_limits import BANK, Served, served, small_disk
from tests.support.postgres_server import Server
from tests.support.waiting import wait_until

# The files of an empty memory take 70 MB, 32 of them its write-ahead log.
_DISK_MB = 120
_SETTINGS = {"fsync": "on", "min_wal_size": "32MB", "max_wal_size": "32MB"}
_MUCH_LOG = "SELECT pg_logical_emit_message(false, 'test', repeat('x', 4000000))"
_TEXTS = "SELECT text FROM holdfast.remembered_memory"


class Writer:
    """Writes one memory after another, and keeps those that were acknowledged."""

    def __init__(self, server: Served) -> None:
        self._server = server
        self._numbers = iter(range(10_000))
        self.acknowledged: set[str] = set()

    def write(self) -> tuple[int, str]:
        """Status and message of one request."""
        number = next(self._numbers)
        text = f"Crate {number} holds " + " ".join(f"{number}x{n}" for n in range(900))
        body = json.dumps({"text": text, "bank": BANK})
        answer, told = self._server.ask("/api/v1/memories", body=body)
        if answer.status == 201:
            self.acknowledged.add(text)
            return answer.status, ""
        return answer.status, json.loads(told)["error"]["message"]

    def until_refused(self) -> Iterator[tuple[int, str]]:
        """What is answered from the first refusal on."""
        while (told := self.write())[0] == 201:
            assert len(self.acknowledged) < 5_000
        yield told
        while True:
            yield self.write()


def fill(disk: Path) -> Path:
    """A file that takes all the room that is left."""
    ballast = disk / "ballast"
    with ballast.open("wb") as file, suppress(OSError):
        while True:
            file.write(bytes(65_536))
            file.flush()
    return ballast


@pytest.mark.slow
def test_a_full_database_is_named_and_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    with small_disk(_DISK_MB) as disk, closing(Server(_SETTINGS, disk=disk)) as postgres:
        url = postgres.database()
        with served(tmp_path, f"{url}&wait_s=2") as server:
            writer = Writer(server)
            assert writer.write() == (201, "")
            ballast = fill(disk)

            refused = writer.until_refused()
            assert next(refused) == (507, "Disk full: the memory cannot be written to.")
            assert server.ask("/api/v1/banks")[0].status == 200

            # Without room for its log, PostgreSQL ends.
            with pytest.raises(psycopg.Error), psycopg.connect(url, autocommit=True) as connection:
                for _ in range(20):
                    connection.execute(_MUCH_LOG)
            wait_until(lambda: next(refused)[0] == 503, "the database has ended")
            assert server.ask("/ready")[0].status == 503

            ballast.unlink()
            postgres.stop()
            postgres.start()
            wait_until(lambda: writer.write()[0] == 201, "there is room again")
            assert len(writer.acknowledged) >= 2
            held = {text for (text,) in postgres.run(url, _TEXTS)}
            assert writer.acknowledged <= held
