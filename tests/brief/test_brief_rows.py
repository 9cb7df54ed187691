"""The rows that the prepared files of a bank are made of are bounded: they do not grow with it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from holdfast.app.memory import Holdfast
from holdfast.brief import known_statements, session_brief, triggers
from holdfast.brief.prepared_files import write_briefs
from holdfast.capture.home_paths import HomePaths
from holdfast.settings import Settings
from holdfast.store.sqlite.connection import SqliteConnection
from tests.support.transcripts import Script

NOW = "2026-11-01T00:00:00.000Z"


def write_session(folder: Path, number: int) -> None:
    """Decisions, findings and an error that was understood; different in each session."""
    script = Script(f"{number:08x}-0000-4000-8000-000000000001", cwd="/home/dev/harbour")
    script.user(f"We decided that quay {number} must never be closed, because ferries land there.")
    script.tool("Edit", file_path=f"/home/dev/harbour/src/quay{number}.py")
    script.tool("Bash", f"TypeError: quay{number} is not open", error=True, command="make check")
    script.assistant(f"The root cause was that quay{number} is opened by the tide table too late.")
    script.tool("Bash", "ok", command="make check")
    script.assistant(f"The tide table opens quay {number} an hour earlier now.")
    script.write(folder / "projects")


@pytest.fixture
def count_rows(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Starts to count the rows that are read, and returns how many there were since."""
    amounts: list[int] = []
    read_all, read_one = SqliteConnection.all, SqliteConnection.one

    def noting_all(self: SqliteConnection, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        found = read_all(self, sql, values)
        amounts.append(len(found))
        return found

    def noting_one(self: SqliteConnection, sql: str, values: Sequence[Any] = ()) -> Any:
        is_count = "count(*)" in sql and "turn" in sql
        assert not is_count or sql.endswith("AND false"), "it would read all turns"
        found = read_one(self, sql, values)
        amounts.append(found is not None)
        return found

    monkeypatch.setattr(SqliteConnection, "all", noting_all)
    monkeypatch.setattr(SqliteConnection, "one", noting_one)

    def count() -> int:
        total = sum(amounts)
        amounts.clear()
        return total

    return count


@pytest.mark.slow
def test_a_larger_bank_needs_no_more_rows_once_the_limits_are_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count_rows: Callable[[], int]
) -> None:
    limits = known_statements._LIMITS, session_brief._LIMITS  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(known_statements, "_LIMITS", limits[0]._replace(read=8))
    monkeypatch.setattr(session_brief, "_LIMITS", limits[1]._replace(records=6, sessions=3))
    monkeypatch.setattr(triggers, "_MAX_RECORDS", 4)
    settings = Settings(tmp_path / "home", tmp_path, embed_model="none")
    rows: list[int] = []
    with Holdfast(settings) as memory:
        for first, last in ((0, 21), (21, 33)):
            for number in range(first, last):
                write_session(tmp_path, number)
            memory.ingest(memory.ingestion.find([tmp_path / "projects"]))
            paths = HomePaths(settings.home)
            shutil.rmtree(paths.briefs, ignore_errors=True)
            count_rows()
            assert write_briefs(memory.store, paths, settings.brief, NOW)
            rows.append(count_rows())
            # What holds is known of facts only together.
            bank = memory.reader.banks.all()[0].id
            rows[-1] -= len(memory.reader.facts.all(bank))
            assert json.loads((paths.briefs / f"{bank}.triggers.json").read_text())["files"]
    # Which statements are looked at differs a little; a row for each of the twelve sessions that
    # were added would be seen.
    assert rows[0] > 50 and rows[1] - rows[0] < 12
