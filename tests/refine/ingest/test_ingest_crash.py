from __future__ import annotations

import os
import signal
from pathlib import Path

import psutil
import pytest

from tests.support.memory_dump import dump
from tests.support.seeds import seeded_random
from tests.support.transcripts import Script, bug_hunt
from tests.support.waiting import wait_until
from tests.support.warm_commands import warm_interpreter

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
    return ["ingest", str(folder), "--workers", str(workers)]


def environment(home: Path, model: str = "") -> dict[str, str]:
    own = {"HOLDFAST_HOME": str(home), "HOLDFAST_BANK": "kept", "HOLDFAST_EMBEDDER": model}
    return {**os.environ, **own}


def ingest(folder: Path, home: Path, workers: int, model: str = "") -> float:
    """Read a folder; returns how much processor time it took, without that of the workers."""
    process = warm_interpreter().start(command(folder, workers), environment(home, model))
    assert process.wait(timeout=120) == 0
    return process.cpu_s


# Without a model the kills hit the reading and what follows from it; with one, mostly the model.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("kills", "rounds", "workers", "turns", "padding", "model"),
    [(4, 2, 1, 4, 200, "none"), (3, 1, 2, 2, 2 * MANY, "")],
)
def test_killed_at_random_points_and_resumed_ingest_stores_the_same_rows(
    tmp_path: Path, kills: int, rounds: int, workers: int, turns: int, padding: int, model: str
) -> None:
    corpus = tmp_path / "corpus"
    make_corpus(corpus, 8, padding, turns)
    whole = ingest(corpus, tmp_path / "calm", workers, model)
    calm = dump(tmp_path / "calm" / "memory.db")
    rng = seeded_random()
    landed = 0
    for round in range(rounds):
        home = tmp_path / f"home{round}"
        # What was done before a kill is kept, so that these reach every part of the run.
        for part in rng.sample(range(kills), kills):
            after = (part + rng.random()) / kills * whole / 2
            process = warm_interpreter().start(
                command(corpus, workers), environment(home, model), dies_after_s=after
            )
            landed += process.wait(timeout=120) == -signal.SIGPROF
        ingest(corpus, home, workers, model)
        assert dump(home / "memory.db") == calm
    assert landed >= 2, "the kills must have hit a running ingest"


@pytest.mark.slow
def test_two_runs_at_once_do_no_harm(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    make_corpus(corpus, 4, 500, turns=2)
    ingest(corpus, tmp_path / "calm", 1)
    home = tmp_path / "home"
    with (tmp_path / "errors").open("w+") as errors:
        running = [
            warm_interpreter().start(command(corpus, 1), environment(home), files=(errors, errors))
            for _ in range(3)
        ]
        ended = [process.wait(timeout=120) for process in running]
        errors.seek(0)
        assert ended == [0, 0, 0], errors.read()
    assert dump(home / "memory.db") == dump(tmp_path / "calm" / "memory.db")


def test_no_process_is_left_behind_when_ingest_is_killed(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    make_corpus(corpus, 10, MANY)
    process = warm_interpreter().start(command(corpus, 2), environment(tmp_path / "home", "none"))
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
