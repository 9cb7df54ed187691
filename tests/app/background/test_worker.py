"""The worker in this process: passes, failures and how they are tried again."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from holdfast.app.background.runner import (
    LONGEST_RETRY_S,
    MAX_LOG_BYTES,
    Step,
    Worker,
    WorkerLog,
    WorkerOptions,
    WorkerOutcome,
)
from holdfast.app.background.steps import STEPS, group_concepts, needs_embedding
from holdfast.app.background.transcript_queue import TranscriptQueue
from holdfast.app.background.worker import run_worker
from holdfast.app.ingest.stages import stages_behind
from holdfast.app.memory import Holdfast
from holdfast.capture.home_paths import HomePaths
from holdfast.errors import ModelError, NewerSchemaError
from holdfast.inference import packaged
from holdfast.model.ledgers.failed_tasks import FailedTask
from holdfast.settings import Settings
from tests.support.installed_home import make_home, make_old
from tests.support.transcripts import Script, bug_hunt

QUICK = WorkerOptions(respect_retry_times=True, start_delay_s=0, linger_s=0, lease_timeout_s=0)
BY_HAND = QUICK._replace(respect_retry_times=False)
SESSION = "22222222-0000-4000-8000-000000000001"


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 9, 1, 12, tzinfo=UTC)

    def __call__(self) -> str:
        return self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def turn(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    home = make_home(tmp_path)
    return Settings(home, tmp_path / "claude", embed_model="none")


def drop_event(settings: Settings, name: str, content: str = "{}") -> Path:
    inbox = HomePaths(settings.home).inbox()
    assert inbox is not None
    path = inbox / name
    path.write_text(content)
    return path


def failed_tasks_of(settings: Settings) -> list[FailedTask]:
    with Holdfast(settings) as memory:
        return memory.inventory.failed_tasks()


def turns_of(settings: Settings) -> int:
    with Holdfast(settings) as memory:
        return memory.inventory.counts().turns


def failing(times: list[int]) -> Callable[[Worker], str]:
    def fail(made: Worker) -> str:
        times[0] += 1
        raise ModelError("The model is out.", "Wait for it.")

    return fail


def noting(ran: list[str], name: str) -> Callable[[Worker], str]:
    def note(made: Worker) -> str:
        ran.append(name)
        return name

    return note


def test_a_failed_step_is_noted_and_the_others_run(settings: Settings) -> None:
    bug_hunt().write(settings.claude_dir / "projects")
    tried = [0]
    outcome = run_worker(settings, QUICK, (Step("broken", failing(tried)), *STEPS), Clock())
    assert outcome == WorkerOutcome(1, ("broken",))
    assert turns_of(settings) == 8
    (chore,) = failed_tasks_of(settings)
    assert (chore.name, chore.attempts) == ("broken", 1)
    assert chore.problem == "The model is out. Wait for it."
    assert "broken failed (1)" in HomePaths(settings.home).worker_log.read_text()


@pytest.mark.slow
def test_a_failed_step_is_retried_after_doubling_pauses_and_then_cleared(
    settings: Settings,
) -> None:
    clock, tried = Clock(), [0]
    steps = (Step("broken", failing(tried)),)
    pauses: list[float] = []
    for attempt in range(1, 14):
        run_worker(settings, QUICK, steps, clock)
        run_worker(settings, QUICK, steps, clock)
        assert tried == [attempt], "not before its time"
        (chore,) = failed_tasks_of(settings)
        due = datetime.fromisoformat(chore.not_before)
        pauses.append((due - clock.now).total_seconds())
        clock.turn(pauses[-1] + 1)
    assert pauses[:4] == [30, 60, 120, 240] and pauses[-1] == LONGEST_RETRY_S
    run_worker(settings, QUICK, (Step("broken", noting([], "well")),), clock)
    assert failed_tasks_of(settings) == []


@pytest.mark.slow
def test_a_clock_set_back_a_day_delays_nothing(settings: Settings) -> None:
    clock, tried = Clock(), [0]
    run_worker(settings, QUICK, (Step("broken", failing(tried)),), clock)
    clock.turn(-86400)
    run_worker(settings, QUICK, (Step("broken", failing(tried)),), clock)
    assert tried == [2]
    looked = HomePaths(settings.home).last_scan
    looked.touch()
    make_old(looked, -86400)
    bug_hunt().write(settings.claude_dir / "projects")
    run_worker(settings, QUICK)
    assert turns_of(settings) == 8


def test_an_internal_error_is_logged_with_its_location_and_without_secrets(
    settings: Settings,
) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

    def fail(made: Worker) -> str:
        raise KeyError(token)

    run_worker(settings, QUICK, (Step("broken", fail),), Clock())
    (chore,) = failed_tasks_of(settings)
    assert "KeyError" in chore.problem and "test_worker.py:" in chore.problem
    assert token not in chore.problem + HomePaths(settings.home).worker_log.read_text()


@pytest.mark.slow
def test_the_transcript_of_a_session_with_an_event_is_read_before_the_hour(
    settings: Settings,
) -> None:
    run_worker(settings, QUICK)
    named = bug_hunt(SESSION).write(settings.claude_dir / "projects")
    other = Script("33333333-0000-4000-8000-000000000001")
    other.user("Nobody told of this one")
    other.write(settings.claude_dir / "projects")
    child = named.with_suffix("") / "subagents" / "agent-1.jsonl"
    child.parent.mkdir(parents=True)
    aside = Script(SESSION)
    aside.user("Look around, subagent", isSidechain=True, agentId="1")
    child.write_bytes(aside.dumps())
    drop_event(settings, f"1.Stop.{SESSION}.77")
    run_worker(settings, QUICK)
    with Holdfast(settings) as memory:
        read = {source.path for source in memory.reader.sources.all()}
    assert read == {str(named), str(child)}
    make_old(HomePaths(settings.home).last_scan, 4000)
    run_worker(settings, QUICK)
    assert turns_of(settings) == 10


@pytest.mark.slow
def test_everything_is_scanned_after_a_worker_died(settings: Settings) -> None:
    run_worker(settings, QUICK)
    bug_hunt().write(settings.claude_dir / "projects")
    run_worker(settings, QUICK)
    assert turns_of(settings) == 0
    HomePaths(settings.home).worker_pid.write_text("1\n1\n")
    run_worker(settings, QUICK)
    assert turns_of(settings) == 8


@pytest.mark.slow
def test_what_a_failed_scan_missed_is_read_next_time(settings: Settings) -> None:
    run_worker(settings, QUICK)
    bug_hunt(SESSION).write(settings.claude_dir / "projects")
    event = drop_event(settings, f"1.Stop.{SESSION}.77")

    def take_up(made: Worker) -> str:
        event.unlink(missing_ok=True)
        return ""

    tried = [0]
    steps = (Step("drain", take_up, True), Step("ingest", failing(tried)))
    run_worker(settings, QUICK, steps, Clock())
    assert turns_of(settings) == 0 and tried == [1]
    run_worker(settings, BY_HAND)
    assert turns_of(settings) == 8


def test_an_event_that_arrives_during_a_pass_starts_another_pass(settings: Settings) -> None:
    seen: list[set[str]] = []

    def note(made: Worker) -> str:
        seen.append(set(made.sessions))
        if len(seen) == 1:
            drop_event(settings, f"1.Stop.{SESSION}.78")
        return ""

    outcome = run_worker(settings, QUICK, (Step("note", note),))
    assert (outcome.passes, seen) == (2, [set(), {SESSION}])


@pytest.mark.slow
def test_concepts_of_a_large_bank_are_built_every_few_hours(settings: Settings) -> None:
    folder, marks = settings.claude_dir / "projects", HomePaths(settings.home).grouping_marks
    large = Step("group", partial(group_concepts, large=1))

    def behind_after(number: int) -> list[str]:
        script = Script(f"22222222-0000-4000-8000-00000000000{number}")
        script.user(f"Harbour {number} closes at night.")
        script.write(folder)
        HomePaths(settings.home).last_scan.unlink(missing_ok=True)
        run_worker(settings, QUICK, [large if step.name == "group" else step for step in STEPS])
        with Holdfast(settings) as memory:
            return stages_behind(memory.store, settings)

    assert behind_after(1) == []
    assert behind_after(2) == ["concepts"], "only concepts wait"
    (mark,) = marks.iterdir()
    make_old(mark, 7 * 3600)
    assert behind_after(3) == []


def test_an_event_that_cannot_be_processed_does_not_keep_the_worker_running(
    settings: Settings,
) -> None:
    drop_event(settings, "1.Stop.none.1", '{"half')
    drop_event(settings, "2.Stop.none.1")
    assert run_worker(settings, QUICK).passes == 1


def test_a_full_scan_is_processed_in_batches(settings: Settings) -> None:
    for number in range(5):
        bug_hunt(f"{number:08x}-0000-4000-8000-000000000001").write(
            settings.claude_dir / "projects"
        )
    unread = TranscriptQueue(settings, HomePaths(settings.home))
    with Holdfast(settings) as memory:
        assert unread.scan_is_due()
        unread.scan(memory.reader)
    first = unread.take_batch(max_bytes=6000)
    unread.mark_batch_read()
    assert len(first) == 2 and unread.has_more and not HomePaths(settings.home).last_scan.exists()
    assert len(unread.take_batch(max_bytes=10**9)) == 3
    unread.mark_batch_read()
    assert not unread.has_more and not unread.scan_is_due()


def test_steps_that_need_no_database_run_without_one(settings: Settings) -> None:
    settings.database.write_bytes(b"this is not a database" * 100)
    ran: list[str] = []
    steps = (
        Step("drain", noting(ran, "drain"), runs_without_memory=True),
        Step("ingest", noting(ran, "ingest")),
    )
    assert run_worker(settings, QUICK, steps).failed == ("open",)
    assert ran == ["drain"]
    assert "damaged" in HomePaths(settings.home).worker_log.read_text()


def test_a_memory_of_a_newer_version_is_not_changed(settings: Settings) -> None:
    run_worker(settings, QUICK)
    with closing(sqlite3.connect(settings.database)) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = settings.database.read_bytes()
    ran: list[str] = []
    steps = (Step("drain", noting(ran, "drain"), runs_without_memory=True),)
    assert run_worker(settings, QUICK, steps).passes == 0
    assert ran == [] and settings.database.read_bytes() == before
    assert "schema 99" in HomePaths(settings.home).worker_log.read_text()
    with pytest.raises(NewerSchemaError):
        run_worker(settings, BY_HAND, steps)


@pytest.mark.slow
def test_a_vanished_transcript_is_reported_once_with_what_was_saved(settings: Settings) -> None:
    path = bug_hunt().write(settings.claude_dir / "projects")
    run_worker(settings, QUICK)
    path.unlink()
    for _ in range(2):
        run_worker(settings, QUICK)
    told = HomePaths(settings.home).worker_log.read_text()
    assert told.count(f"gone: {path} (13 lines of it are kept)") == 1


def test_old_markers_and_leftovers_are_removed_and_recent_ones_stay(settings: Settings) -> None:
    places = HomePaths(settings.home)
    vectors = settings.home / "vectors"
    for folder in (places.session_marks, vectors):
        folder.mkdir()
    kept = [places.session_marks / "young.goal", vectors / "a.vectors", vectors / ".b.vectors.1-2"]
    gone = [places.session_marks / "old.goal", vectors / ".a.vectors.1-2"]
    for path in (*kept, *gone):
        path.touch()
    for path in gone:
        make_old(path, 40 * 86400)
    run_worker(settings, QUICK)
    assert all(path.exists() for path in kept)
    assert not any(path.exists() for path in gone)


def test_the_model_is_loaded_only_when_something_is_pending(settings: Settings) -> None:
    shipped = Settings(settings.home, settings.claude_dir)
    own = Settings(settings.home, settings.claude_dir, embed_model="/somewhere")
    with Holdfast(settings) as memory:
        assert not needs_embedding(memory.reader, shipped)
        assert not needs_embedding(memory.reader, own)
        bug_hunt().write(settings.claude_dir / "projects")
        memory.ingest(memory.ingestion.find([]))
        assert needs_embedding(memory.reader, shipped) and needs_embedding(memory.reader, own)
        assert not needs_embedding(memory.reader, settings)
        waiting = memory.reader.vectors.unembedded(packaged.EMBEDDER_NAME)
        rows = [(passage.hash, 0, b"\0" * 1536) for passage in waiting]
        with memory.store.transaction():
            memory.store.vectors.put(waiting[0].bank, packaged.EMBEDDER_NAME, rows)
        assert not needs_embedding(memory.reader, shipped)
        assert needs_embedding(memory.reader, own), "another model was chosen"
        served = replace(
            own, embed_model="", embed_endpoint="http://x/v1", embed_endpoint_model="m"
        )
        assert needs_embedding(memory.reader, served)
        for name, chosen in (("somewhere-0123456789ab", own), ("m@x:384", served)):
            with memory.store.transaction():
                memory.store.vectors.put(waiting[0].bank, name, rows)
                memory.store.vectors.prune(name)
            assert not needs_embedding(memory.reader, chosen)


def test_the_log_stays_within_its_size_limit(tmp_path: Path) -> None:
    log = WorkerLog(tmp_path / "worker.log", lambda: "now")
    for number in range(600):
        log.write(f"{number} {'x' * 1000}")
    path = tmp_path / "worker.log"
    assert MAX_LOG_BYTES // 3 < path.stat().st_size <= MAX_LOG_BYTES + 2000
    assert path.read_text().splitlines()[-1].endswith("x" * 1000)
    assert path.stat().st_mode & 0o777 == 0o600
