from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.support.killed_processes import kill_during_writes
from tests.support.memory_dump import dump
from tests.support.seeds import seeded_random
from tests.support.transcripts import Script, bug_hunt
from tests.support.waiting import wait_until

ROUNDS = 3
KILLS = 5
# Of so many bytes in a call, eight short sessions are enough to be read by several processes.
MANY = 140_000


def make_corpus(folder: Path, sessions: int, padding: int, turns: int = 4) -> None:
    for number in range(sessions):
        script = bug_hunt(f"{number:08x}-0000-4000-8000-000000000001")
        for turn in range(turns):
            script.user(f"Request {turn} of session {number}: rename field_{turn} everywhere")
            script.tool("Grep", "x" * padding, pattern=f"field_{turn}", path="/home/dev/proj")
            script.assistant(f"Renamed field_{turn} in {number} files because the API changed.")
        script.write(folder)
    fork = Script("ffffffff-0000-4000-8000-000000000001")
    fork.lines += bug_hunt("00000000-0000-4000-8000-000000000001").lines
    fork.user("And now in the fork only")
    fork.write(folder)


def command(folder: Path, workers: int) -> list[str]:
    main = "import sys; from holdfast.interfaces.cli.main import main; sys.exit(main())"
    return [sys.executable, "-c", main, "ingest", str(folder), "--workers", str(workers)]


def environment(home: Path, model: str = "") -> dict[str, str]:
    own = {"HOLDFAST_HOME": str(home), "HOLDFAST_BANK": "kept", "HOLDFAST_EMBEDDER": model}
    return {**os.environ, **own}


def ingest(folder: Path, home: Path, workers: int, model: str = "") -> None:
    subprocess.run(
        command(folder, workers),
        env=environment(home, model),
        check=True,
        capture_output=True,
        timeout=120,
    )


# Without a model the kills hit the reading and what follows from it; with one, mostly the model.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("workers", "sessions", "padding", "model"), [(1, 10, 200, "none"), (2, 8, MANY, "")]
)
def test_killed_at_random_points_and_resumed_ingest_stores_the_same_rows(
    tmp_path: Path, workers: int, sessions: int, padding: int, model: str
) -> None:
    corpus = tmp_path / "corpus"
    make_corpus(corpus, sessions, padding)
    started = time.monotonic()
    ingest(corpus, tmp_path / "calm", workers, model)
    whole = time.monotonic() - started
    calm = dump(tmp_path / "calm" / "memory.db")
    rng = seeded_random()
    landed = 0
    for round in range(ROUNDS // workers):
        home = tmp_path / f"home{round}"
        for _ in range(KILLS):
            process = subprocess.Popen(
                command(corpus, workers),
                env=environment(home, model),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            landed += kill_during_writes(process, home / "memory.db", rng.uniform(0, whole / 2))
        ingest(corpus, home, workers, model)
        assert dump(home / "memory.db") == calm
    assert landed >= 2, "the kills must have hit a running ingest"


@pytest.mark.slow
def test_two_runs_at_once_do_no_harm(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    make_corpus(corpus, 8, 500)
    ingest(corpus, tmp_path / "calm", 1)
    home = tmp_path / "home"
    both = [
        subprocess.Popen(
            command(corpus, 1),
            env=environment(home),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(3)
    ]
    for process in both:
        _, complaint = process.communicate(timeout=120)
        assert process.returncode == 0, complaint.decode()
    assert dump(home / "memory.db") == dump(tmp_path / "calm" / "memory.db")


def test_no_process_is_left_behind_when_ingest_is_killed(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    make_corpus(corpus, 10, MANY)
    process = subprocess.Popen(
        command(corpus, 2),
        env=environment(tmp_path / "home"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    family: list[psutil.Process] = []

    def has_children() -> bool:
        if process.poll() is None:
            family[:] = psutil.Process(process.pid).children(recursive=True)
        return len(family) >= 2 or process.returncode is not None

    wait_until(has_children, "the workers were started", every_s=0.001)
    assert len(family) >= 2, "the workers must have been started"
    process.kill()
    process.wait(timeout=60)
    _, alive = psutil.wait_procs(family, timeout=60)
    assert alive == []
