"""What a pass reads of the files that are known already does not grow with their number."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from holdfast.app.background.runner import WorkerOptions
from holdfast.app.background.worker import run_worker
from holdfast.capture.home_paths import HomePaths
from holdfast.model.ledgers.lines import Source
from holdfast.settings import Settings
from holdfast.store.sql.table import Table
from tests.support.transcripts import bug_hunt
from tests.support.watched_calls import watched_calls

QUICK = WorkerOptions(start_delay_s=0, linger_s=0)


def write_sessions(settings: Settings, numbers: range) -> None:
    for number in numbers:
        script = bug_hunt(f"{number:08x}-0000-4000-8000-000000000001")
        script.write(settings.claude_dir / "projects")


def scan(settings: Settings) -> None:
    """Let a worker read whatever is new, though it looked a moment ago."""
    HomePaths(settings.home).last_scan.unlink(missing_ok=True)
    run_worker(settings, QUICK)


@pytest.mark.slow
def test_a_pass_reads_as_many_sources_whatever_it_knows(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "home", tmp_path / "claude", embed_model="none")
    settings.home.mkdir()
    amounts: list[int] = []
    known = 0
    for more in (3, 9):
        write_sessions(settings, range(known, known + more))
        scan(settings)
        write_sessions(settings, range(known + more, known + more + 1))
        known += more + 1
        with watched_calls(cast("Any", Table).record) as read:
            scan(settings)
        amounts.append(sum(isinstance(one.returned, Source) for one in read))
    assert amounts[0] == amounts[1] > 0
