"""Lines of a server's log, and whoever reads them slowly or not at all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from holdfast.interfaces.http.core.logs import JSON, Log
from tests.support.http.team import OUR_WORDS, new_key, team_serving, two_banks

# More than any pipe holds.
_LONG = "x" * 3000


def test_writing_a_log_does_not_wait_for_a_reader_and_keeps_the_order() -> None:
    taken, given = os.pipe()
    log = Log(JSON, given)
    for number in range(200):
        log.write("request", number=number, text=_LONG)
    log.flush(0.05)
    with os.fdopen(taken) as read:
        lines = [json.loads(read.readline()) for _ in range(200)]
    assert [line["number"] for line in lines] == list(range(200))
    os.close(given)


def test_a_server_whose_log_is_not_read_answers_and_exits(tmp_path: Path) -> None:
    env = two_banks(tmp_path)
    key = new_key(env, "--name", "root", "--all-banks", "--level", "admin")
    with team_serving(env, tmp_path) as team:
        # 64 kB are in the pipe after most of these, and nobody takes them.
        with ThreadPoolExecutor(4) as many:
            told = [got.status for got in many.map(team.ask, ["/api/v1/me"] * 400, [key] * 400)]
        assert told == [200] * 400
        assert OUR_WORDS in team.ask("/api/v1/memories", key).text
        team.process.send_signal(signal.SIGTERM)
        try:
            assert team.process.wait(60) == 0
        except subprocess.TimeoutExpired:
            raise AssertionError("it waits for who does not read") from None
