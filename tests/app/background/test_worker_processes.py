"""Real workers: started by the real hook, several at once, killed at random points."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from holdfast.app.core.lease import take_lease
from holdfast.capture.home_paths import HomePaths
from tests.refine.ingest.test_ingest_crash import make_corpus
from tests.support.installed_home import (
    MAIN,
    environment,
    hook,
    make_home,
    processes_of,
    run,
    start,
    wait_until_quiet,
)
from tests.support.memory_dump import dump
from tests.support.seeds import seeded_random
from tests.support.transcripts import Script, bug_hunt
from tests.support.waiting import wait_until
from tests.support.warm_commands import warm_interpreter

SESSION = "22222222-0000-4000-8000-000000000001"
MOST_MB = 80
PEAK = MAIN.replace("sys.exit(main())", "main(); print(open('/proc/self/status').read())")


class Undisturbed(NamedTuple):
    """Sessions that a worker has read without being disturbed: where they are, what was stored and
    in how many bytes, and how much processor time that took."""

    projects: Path
    rows: dict[str, list[str]]
    size: int
    cpu_s: float

    def home(self, folder: Path) -> Path:
        """A home in which nothing of these sessions has been read."""
        home = make_home(folder)
        (folder / "claude" / "projects").symlink_to(self.projects)
        return home


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    folder = tmp_path_factory.mktemp("undisturbed")
    make_corpus(folder / "projects", 10, 400)
    home = Undisturbed(folder / "projects", {}, 0, 0.0).home(folder)
    worker = start(home, "worker")
    assert worker.wait(timeout=120) == 0
    size = (home / "memory.db").stat().st_size
    return Undisturbed(folder / "projects", _rows(home), size, worker.cpu_s)


def status(home: Path) -> Any:
    done = run(home, "status", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_hook_starts_a_worker_that_reads_the_session_and_exits(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    bug_hunt(SESSION).write(tmp_path / "claude" / "projects")
    for _ in range(5):
        hook(home, "PostToolUse", SESSION)
    for _ in range(5):
        hook(home, "Stop", SESSION)
    assert len(processes_of(home)) >= 1
    wait_until_quiet(home)
    assert status(home)["turns"] == 8
    assert not HomePaths(home).worker_pid.exists()


@pytest.mark.slow
def test_a_stale_pid_file_or_one_of_another_process_stops_no_worker(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    bug_hunt(SESSION).write(tmp_path / "claude" / "projects")
    for stale in (f"{2**22 - 3}\n77\n", f"{os.getpid()}\n1\n"):
        HomePaths(home).last_scan.unlink(missing_ok=True)
        HomePaths(home).worker_pid.write_text(stale)
        hook(home, "Stop", SESSION)
        wait_until(HomePaths(home).last_scan.exists, f"a worker has run in spite of {stale!r}")
        wait_until_quiet(home)
    assert status(home)["turns"] == 8


def test_a_hook_starts_no_worker_while_one_runs(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    with take_lease(HomePaths(home)):
        hook(home, "Stop", SESSION)
        assert not HomePaths(home).starting_worker.exists()
        assert processes_of(home) == []
    hook(home, "Stop", SESSION)
    wait_until(HomePaths(home).last_scan.exists, "a worker has run")
    wait_until_quiet(home)


def test_a_second_worker_exits_without_doing_anything(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    bug_hunt(SESSION).write(tmp_path / "claude" / "projects")
    with take_lease(HomePaths(home)):
        done = run(home, "worker")
    assert done.returncode == 0 and "Another worker is running" in done.stdout
    assert not (home / "memory.db").exists()


@pytest.mark.slow
def test_many_workers_and_an_ingest_at_once_do_no_harm(
    undisturbed: Undisturbed, tmp_path: Path
) -> None:
    home = undisturbed.home(tmp_path)
    crowd = [start(home, "worker", "--nudged") for _ in range(3)] + [start(home, "ingest")]
    assert [process.wait(timeout=120) for process in crowd] == [0, 0, 0, 0]
    assert _rows(home) == undisturbed.rows
    assert processes_of(home) == []


def _rows(home: Path) -> dict[str, list[str]]:
    """What is stored, by paths that do not tell which home it is of."""
    rows = dump(home / "memory.db")
    folder = str(home.parent / "claude")
    return {table: sorted(r.replace(folder, "") for r in found) for table, found in rows.items()}


@pytest.mark.slow
def test_a_worker_killed_at_random_points_and_restarted_stores_the_same_rows(
    undisturbed: Undisturbed, tmp_path: Path
) -> None:
    rng = seeded_random()
    landed = 0
    for round in range(2):
        home = undisturbed.home(tmp_path / str(round))
        # What was done before a kill is kept, so that these reach every part of the run.
        for part in rng.sample(range(4), 4):
            after = (part + rng.random()) / 4 * undisturbed.cpu_s / 2
            process = start(home, "worker", dies_after_s=after)
            landed += process.wait(timeout=120) == -signal.SIGPROF
        assert run(home, "worker").returncode == 0
        assert _rows(home) == undisturbed.rows
        assert run(home, "doctor").returncode == 0
    assert landed >= 4, "the kills must have hit a running worker"


def test_a_worker_that_is_terminated_exits_cleanly_and_misses_nothing(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    make_corpus(tmp_path / "claude" / "projects", 24, 2000)
    process = start(home, "worker", "--nudged")
    wait_until((home / "memory.db").exists, "the worker has begun")
    process.terminate()
    assert process.wait(timeout=60) == 0
    assert not HomePaths(home).worker_pid.exists() and not HomePaths(home).last_scan.exists()
    assert run(home, "worker").returncode == 0
    ledger = status(home)["ledger"]
    assert ledger["pending"] == 0 and ledger["balanced"]


@pytest.mark.slow
def test_a_full_disk_loses_nothing(undisturbed: Undisturbed, tmp_path: Path) -> None:
    home = undisturbed.home(tmp_path)
    for limit in (0, 100_000, undisturbed.size * 3 // 4, undisturbed.size * 9 // 10):
        done = warm_interpreter().run(["worker", "--nudged"], environment(home), file_size=limit)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), limit
    told = HomePaths(home).worker_log.read_text()
    assert "the memory cannot be opened" in told and "ingest failed" in told
    assert run(home, "worker").returncode == 0
    assert _rows(home) == undisturbed.rows


def test_a_worker_without_a_model_uses_little_memory(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    script = Script(SESSION)
    for number in range(150):
        script.user(f"Look at log number {number} and say what is wrong")
        script.tool("Bash", "log line with words and numbers 12345\n" * 1500, command="cat log")
        script.assistant(f"Log {number} shows that the worker restarts every hour.")
    script.write(tmp_path / "claude" / "projects")
    done = subprocess.run(
        [sys.executable, "-c", PEAK, "worker"],
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=120,
    )
    peak = next(line for line in done.stdout.splitlines() if line.startswith("VmHWM"))
    assert int(peak.split()[1]) / 1000 <= MOST_MB
    assert "600 lines of 1 file" in done.stdout
