"""Lines of a server's log, and whoever reads them slowly or not at all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from holdfast.interfaces.http.server.logs import JSON, Log
from tests.support.http.team import OUR_WORDS, new_key, team_serving, two_banks

# More than any pipe holds.
_LONG = "x" * 3000


def test_writing_a_log_does_not_wait_for_a_slow_reader() -> None:
    taken, given = os.pipe()
    with ThreadPoolExecutor(1) as beside, os.fdopen(taken, "rb") as read:
        with os.fdopen(given, "w") as out:
            log = Log(JSON, out, max_waiting=50)
            for number in range(200):
                log.write("request", number=number, text=_LONG)
            log.flush(0.05)
            assert 0 < log.lost < 200
            taking = beside.submit(read.readlines)
            log.flush(10)
            log.write("ended")
            log.flush(10)
        told = [json.loads(line) for line in taking.result(60)]
    numbers = [line["number"] for line in told if "number" in line]
    assert numbers == sorted(numbers) and len(numbers) + log.lost == 200
    # What was left out is told of before what comes next.
    assert sum(line.get("lines", 0) for line in told) == log.lost
    assert told[-1]["event"] == "ended"


def test_log_lines_that_cannot_be_written_are_counted(tmp_path: Path) -> None:
    (tmp_path / "log").touch()
    with (tmp_path / "log").open() as for_reading:
        log = Log(JSON, for_reading)
        log.write("started")
        log.flush()
    assert log.lost == 1


def test_a_program_without_standard_error_has_no_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", None)
    log = Log()
    log.write("started")
    log.flush()
    assert log.lost == 0


def test_a_non_blocking_stream_receives_every_line() -> None:
    taken, given = os.pipe()
    os.set_blocking(given, False)
    with os.fdopen(given, "w") as out, os.fdopen(taken, "rb") as read:
        log = Log(JSON, out)
        for number in range(60):
            log.write("request", number=number, text=_LONG)
        lines = [json.loads(read.readline()) for _ in range(60)]
        assert [line["number"] for line in lines] == list(range(60)) and log.lost == 0


def test_a_server_whose_log_is_not_read_answers_and_exits(tmp_path: Path) -> None:
    env = two_banks(tmp_path)
    few = "[serve]\nrate = 10000\nburst = 10000\n"
    (Path(env["HOLDFAST_HOME"]) / "config.toml").write_text(few)
    key = new_key(env, "--name", "root", "--all-banks", "--level", "admin")
    with team_serving(env, tmp_path, "--log-queries") as team:
        # 64 kB are in the pipe after a few of these, and nobody takes them.
        path = f"/api/v1/me?long={'x' * 6000}"
        with ThreadPoolExecutor(4) as many:
            told = [got.status for got in many.map(team.ask, [path] * 40, [key] * 40)]
        assert told == [400] * 40, "each is answered: there is no parameter of that name"
        assert OUR_WORDS in team.ask("/api/v1/memories", key).text
        assert "holdfast_log_lines_lost_total 0\n" in team.ask("/metrics", key).text
        team.process.send_signal(signal.SIGTERM)
        try:
            assert team.process.wait(60) == 0
        except subprocess.TimeoutExpired:
            raise AssertionError("it waits for who does not read") from None
