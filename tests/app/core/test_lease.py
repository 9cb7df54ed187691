from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from time import monotonic

from holdfast.app.core.lease import process_start, take_lease, worker_status
from holdfast.capture.home_paths import HomePaths

HOLD = """
import sys, time
from pathlib import Path
from holdfast.app.core.lease import take_lease
from holdfast.capture.home_paths import HomePaths
with take_lease(HomePaths(Path(sys.argv[1])), float(sys.argv[2])) as held:
    print("held" if held else "taken", flush=True)
    time.sleep(float(sys.argv[3]))
"""
TURNS = """
import os, sys, time
from pathlib import Path
from holdfast.app.core.lease import take_lease
from holdfast.capture.home_paths import HomePaths
home = Path(sys.argv[1])
with take_lease(HomePaths(home), 30) as held:
    assert held
    inside = os.open(home / "inside", os.O_CREAT | os.O_EXCL)
    time.sleep(0.02)
    (home / "inside").unlink()
"""


def hold(home: Path, patience: float = 0, seconds: float = 60) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(home), str(patience), str(seconds)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() in ("held\n", "taken\n")
    return process


def end(process: subprocess.Popen[str], number: int = signal.SIGKILL) -> None:
    process.send_signal(number)
    process.communicate(timeout=60)


def places_in(home: Path) -> HomePaths:
    places = HomePaths(home)
    places.hooks.mkdir(parents=True)
    return places


def test_only_one_process_holds_the_lease(tmp_path: Path) -> None:
    places = places_in(tmp_path)
    with take_lease(places) as first:
        assert first is not None
        assert places.worker_pid.read_text().split("\n")[:2] == [
            str(os.getpid()),
            process_start(os.getpid()),
        ]
        assert worker_status(places) == (True, os.getpid(), False)
        with take_lease(places, timeout_s=0.1) as second:
            assert second is None
        assert places.worker_pid.exists(), "whoever does not get it takes nothing away"
    assert not places.worker_pid.exists()
    assert worker_status(places) == (False, None, False)


def test_many_processes_take_the_lease_one_by_one(tmp_path: Path) -> None:
    crowd = [
        subprocess.Popen([sys.executable, "-c", TURNS, str(tmp_path)], stderr=subprocess.PIPE)
        for _ in range(8)
    ]
    for process in crowd:
        _, complaint = process.communicate(timeout=60)
        assert process.returncode == 0, complaint.decode()


def test_the_lease_ends_when_its_process_is_killed(tmp_path: Path) -> None:
    places = places_in(tmp_path)
    holder = hold(tmp_path)
    assert worker_status(places).pid == holder.pid
    end(holder)
    assert worker_status(places) == (False, None, True)
    with take_lease(places, timeout_s=0) as held:
        assert held is not None and held.orphaned
    with take_lease(places, timeout_s=0) as held:
        assert held is not None and not held.orphaned


def test_a_holder_that_wrote_its_pid_is_not_waited_for(tmp_path: Path) -> None:
    places = places_in(tmp_path)
    holder = hold(tmp_path)
    began = monotonic()
    with take_lease(places, timeout_s=30) as held:
        assert held is None
    places.worker_pid.unlink()  # as one does that is about to exit
    with take_lease(places, timeout_s=0.3) as held:
        assert held is None
    assert 0.3 <= monotonic() - began < 20
    end(holder)


def test_a_removed_lock_file_is_created_again(tmp_path: Path) -> None:
    places = places_in(tmp_path)
    holder = hold(tmp_path)
    places.worker_lock.unlink()
    with take_lease(places, timeout_s=0) as held:
        assert held is not None
    end(holder)


def test_a_start_request_is_cleared_when_a_worker_looks_for_the_lease(tmp_path: Path) -> None:
    places = HomePaths(tmp_path)
    places.hooks.mkdir()
    for held in (True, False):
        places.starting_worker.write_text("1\n2\n")
        with take_lease(places) if held else nullcontext(), take_lease(places, timeout_s=0):
            assert not places.starting_worker.exists()
