from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from holdfast.sources.providers.reliability import (
    Reliability,
    ReliabilityFile,
    after_failure,
    after_success,
)

NOON = "2026-03-01T12:00:00.000Z"


def test_the_score_combines_success_and_speed() -> None:
    swift = after_success(Reliability(), 100.0, NOON)
    slow = after_success(Reliability(), 4000.0, NOON)
    torn = after_failure(swift, "it hangs", NOON)
    assert 1 > swift.score > slow.score > torn.score * 0.8 > 0
    assert torn.score < swift.score and after_success(torn, 100.0, NOON).score > torn.score
    assert swift.ms == 100.0 and after_success(swift, 200.0, NOON).ms == 130.0


def test_one_failure_is_forgiven_and_repeated_ones_pause_ever_longer() -> None:
    standing, until = Reliability(), list[str]()
    for _ in range(12):
        standing = after_failure(standing, "it hangs", NOON)
        until.append(standing.resting_until)
    assert until[:4] == [
        "",
        "2026-03-01T12:10:00.000Z",
        "2026-03-01T12:20:00.000Z",
        "2026-03-01T12:40:00.000Z",
    ]
    assert until[-1] == "2026-03-02T12:00:00.000Z"
    assert standing.is_paused(NOON) and not standing.is_paused("2026-03-03T00:00:00.000Z")
    again = after_success(standing, 50.0, NOON)
    assert (again.failures, again.resting_until, again.problem) == (0, "", "")


def test_the_reliability_file_is_private_and_concurrent_updates_are_kept(tmp_path: Path) -> None:
    book = ReliabilityFile(tmp_path / "home")
    threads = [
        threading.Thread(target=book.record, args=(f"p{n % 2}", NOON, 10.0)) for n in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {id: standing.calls for id, standing in book.read().items()} == {"p0": 10, "p1": 10}
    path = tmp_path / "home" / "providers.json"
    assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700
    assert json.loads(path.read_text())["version"] == 1


@pytest.mark.parametrize("junk", ["", "{", "[]", '{"providers": {"a": {"no": 1}}}', "[" * 99_999])
def test_an_invalid_reliability_file_is_treated_as_empty(tmp_path: Path, junk: str) -> None:
    (tmp_path / "providers.json").write_text(junk)
    book = ReliabilityFile(tmp_path)
    assert book.read() == {}
    book.record("wiki@m", NOON, 0.0, "it hangs")
    assert book.read()["wiki@m"].problem == "it hangs"


def test_an_unwritable_reliability_file_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    book = ReliabilityFile(tmp_path / "home")
    assert book.record("wiki@m", NOON, 10.0) == Reliability() and book.read() == {}
    assert (tmp_path / "home").read_text() == "a file"
