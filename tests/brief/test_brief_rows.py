"""The rows that the prepared files of a bank are made of are bounded: they do not grow with it."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from holdfast.app.memory import Holdfast
from holdfast.brief.prepared_files import write_briefs
from holdfast.capture.home_paths import HomePaths
from holdfast.refine.memories.memory_stage import update_memories
from holdfast.settings import Settings
from holdfast.store.protocol import Store
from tests.support.transcripts import Script

NOW = "2026-11-01T00:00:00.000Z"
FIRST_DAY = datetime(2026, 8, 1, 9, 0, tzinfo=UTC)
SYLLABLES = "ba ce di fo gu la me ni po ru".split()
# So many sessions with so many errors each have more records (400 of a type) and statements (600)
# than are looked at.
ERRORS, FEW, MORE = 10, 42, 50


def name(*numbers: int) -> str:
    """A made-up word, another one for other numbers: what shares no words replaces nothing."""
    return "".join(SYLLABLES[int(digit)] for number in numbers for digit in f"{number:02}")


def write_session(folder: Path, number: int) -> None:
    """Errors that were understood, and decisions; different in each session."""
    id = f"{number:08x}-0000-4000-8000-000000000001"
    start = FIRST_DAY + timedelta(days=number)
    script = Script(id, cwd="/home/dev/harbour", start=start)
    for error in range(ERRORS):
        berth, crane, rope, quay, ferry, tide = (name(number, error, word) for word in range(6))
        decision = f"We decided that {quay} must never {ferry}, because {tide} comes first."
        script.user(f"Fix the crash of {berth} please. {decision if error % 2 else ''}")
        script.tool("Edit", file_path=f"/home/dev/harbour/src/{berth}.py")
        script.tool("Bash", f"TypeError: {berth} has no {crane}", error=True, command="make check")
        script.assistant(f"The root cause was that {berth} loses its {crane} under a {rope}.")
        script.tool("Bash", "ok", command="make check")
        script.assistant(f"{berth} keeps the {crane} of every {rope} now.")
    script.write(folder / "projects")


@contextmanager
def counted_rows(store: Store) -> Generator[Counter[str]]:
    """The rows that are read, by their columns. To count all turns would read them too."""
    rows: Counter[str] = Counter()
    asked: list[str] = []

    def note(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> tuple[Any, ...]:
        rows[", ".join(column[0] for column in cursor.description)] += 1
        return row

    connection = cast(sqlite3.Connection, store.__dict__["_raw"])
    connection.row_factory = note
    connection.set_trace_callback(asked.append)
    try:
        yield rows
    finally:
        connection.set_trace_callback(None)
        connection.row_factory = None
    counts = [sql for sql in asked if "count(*)" in sql and "turn" in sql]
    assert asked and all(sql.endswith("AND false") for sql in counts)


@pytest.mark.slow
def test_a_larger_bank_needs_no_more_rows_once_the_limits_are_reached(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "home", tmp_path, embed_model="none")
    paths = HomePaths(settings.home)
    rows: list[Counter[str]] = []
    with Holdfast(settings) as memory:
        for sessions in (range(FEW), range(FEW, MORE)):
            for number in sessions:
                write_session(tmp_path, number)
            found = memory.ingestion.find([tmp_path / "projects"])
            memory.ingestion.ingest(found, then_know=False)
            # Facts are left out: what holds is known of them only together, so a brief reads all.
            update_memories(memory.store)
            shutil.rmtree(paths.briefs, ignore_errors=True)
            with counted_rows(memory.store) as read:
                assert write_briefs(memory.store, paths, settings.brief, NOW)
            rows.append(read)
            bank = memory.reader.banks.all()[0].id
            triggers = json.loads((paths.briefs / f"{bank}.triggers.json").read_text())
            assert triggers["files"] and triggers["errors"]
    # Which statements are looked at differs a little.
    few, more = rows
    grown = {columns: n - few[columns] for columns, n in more.items() if n != few[columns]}
    assert few.total() > 1000 and all(n < (MORE - FEW) // 2 for n in grown.values()), grown
