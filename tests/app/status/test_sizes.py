from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.app.background.steps import STEPS
from holdfast.app.background.worker import WorkerOptions, run_worker
from holdfast.app.background.worker_log import MAX_LOG_BYTES, WorkerLog, last_lines
from holdfast.app.status.sizes import measure_sizes
from holdfast.app.transfer.backup import back_up
from holdfast.capture.home_paths import HomePaths
from holdfast.learn.bank_settings import BankChanges
from tests.interfaces.cli.test_cli import holdfast, read_json
from tests.support.sample_memory import open_memory, sample_session


@pytest.fixture
def home(tmp_path: Path) -> Path:
    script = sample_session()
    script.write(tmp_path / "claude" / "projects")
    with open_memory(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([]))
    return tmp_path


def test_the_sizes_add_up_to_the_size_of_the_file(home: Path) -> None:
    with open_memory(home) as memory:
        memory.ingestion.embed()
        back_up(memory.settings)
        sizes = measure_sizes(memory)
    size = (home / "memory.db").stat().st_size
    assert 0 < sum(sizes.tables.values()) <= size + sizes.disk.database
    assert sizes.tables["turn"] and sizes.tables["passage_fts"]
    (bank,) = [b for b in sizes.banks if b.sessions]
    assert bank.words > 100 and bank.vectors > 0 and bank.put_away == 0
    assert {one.what for one in sizes.freeable} >= {"backups", "vectors"}
    told = read_json(home, "status", "--size")
    assert told["tables"]["turn"] == sizes.tables["turn"]
    shown = holdfast(home, "status", "--size").stdout
    assert "could be freed" in shown and "restore-backup --list" in shown


def test_sessions_hidden_by_retention_are_reported_and_can_be_restored(home: Path) -> None:
    steps = [step for step in STEPS if step.name == "know"]
    manner = WorkerOptions(respect_retry_times=True, start_delay_s=0, linger_s=0)
    with open_memory(home) as memory:
        settings = memory.settings
        with memory.store.transaction():
            memory.store.banks.update(replace(memory.banks.get("proj"), retention=1))
    run_worker(settings, manner, steps, now=lambda: "2036-01-01T00:00:00.000Z")
    assert "hidden by its retention" in HomePaths(home).worker_log.read_text()
    assert "1 session hidden" in " ".join(holdfast(home, "status").stdout.split())
    with open_memory(home) as memory:
        assert measure_sizes(memory).banks[0].put_away == 1
        memory.banks.change(BankChanges(retention=0), "proj")
        assert measure_sizes(memory).banks[0].put_away == 0
        assert memory.inventory.counts("proj").sessions == 1


def test_a_log_stays_within_its_size_limit(tmp_path: Path) -> None:
    log = WorkerLog(tmp_path / "worker.log", lambda: "2026-11-01T10:00:00.000Z")
    for number in range(300):
        log.write(f"{number} " + "x" * 50_000)
    size = (tmp_path / "worker.log").stat().st_size
    assert MAX_LOG_BYTES / 4 < size <= MAX_LOG_BYTES + 5_000
    assert [path.name for path in tmp_path.iterdir()] == ["worker.log"]
    assert last_lines(tmp_path / "worker.log", 1)[0].split()[2] == "299"
