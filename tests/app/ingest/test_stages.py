"""The stages above the session in the worker: in portions, and only where one is behind."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from holdfast.app.background import steps
from holdfast.app.background.runner import WorkerOptions
from holdfast.app.background.worker import run_worker
from holdfast.app.ingest import stages
from holdfast.app.memory import Holdfast
from holdfast.learn import opinions
from holdfast.model.opinions import Trend
from holdfast.refine.concepts import concept_stage
from holdfast.refine.entities import entity_stage
from holdfast.refine.facts import fact_stage
from holdfast.refine.git import commit_authorship
from holdfast.refine.memories import memory_stage
from holdfast.refine.rules import pattern_stage
from holdfast.settings import Settings
from tests.support.empty_memory import with_empty_memory
from tests.support.installed_home import make_home
from tests.support.memory_dump import dump
from tests.support.opinion_sessions import START, session_on_day

QUICK = WorkerOptions(respect_retry_times=True, start_delay_s=0, linger_s=0, lease_timeout_s=0)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    home = make_home(tmp_path)
    return Settings(home, tmp_path / "claude", bank="proj", embed_model="none")


def at(day: float) -> str:
    moment: datetime = START + timedelta(days=day)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def break_stages(settings: Settings) -> None:
    """Let the database refuse that any stage notes how far it has come."""
    with closing(sqlite3.connect(settings.database)) as database:
        for event in ("INSERT", "UPDATE"):
            database.execute(
                f"CREATE TRIGGER broken_{event} BEFORE {event} ON stage_progress "
                "BEGIN SELECT RAISE(ABORT, 'no thought today'); END"
            )


@pytest.mark.slow
def test_a_worker_lets_opinions_fade_that_nobody_states_again(settings: Settings) -> None:
    with Holdfast(with_empty_memory(settings), lambda: at(1)) as memory:
        memory.retain("The CI is flaky.", "opinion", 0.9)
        (stated,) = memory.opinions.opinions()
    session_on_day(300, "Say hello.").write(settings.claude_dir / "projects")
    run_worker(settings, QUICK, steps.STEPS, lambda: at(301))
    with Holdfast(with_empty_memory(settings), lambda: at(301)) as memory:
        (faded,) = memory.opinions.opinions()
        assert stages.stages_behind(memory.store, memory.settings) == []
        assert (stated.confidence, faded.trend) == (0.9, Trend.STALE) and faded.confidence < 0.6
    break_stages(settings)
    assert run_worker(settings, QUICK, steps.STEPS, lambda: at(302)).failed == (), (
        "nothing is to be done"
    )


def test_a_failing_stage_does_not_stop_the_worker(settings: Settings) -> None:
    Holdfast(with_empty_memory(settings)).close()
    break_stages(settings)
    session_on_day(1, "The CI is flaky.").write(settings.claude_dir / "projects")
    outcome = run_worker(settings, QUICK, steps.STEPS, lambda: at(2))
    assert outcome.failed == ("know", "group")
    with Holdfast(with_empty_memory(settings), lambda: at(2)) as memory:
        assert memory.inventory.counts().turns == 2 and memory.recall("flaky").hits


@pytest.mark.slow
def test_incremental_stages_give_the_same_as_a_rebuild(settings: Settings) -> None:
    folder = settings.claude_dir / "projects"
    database = settings.home / "memory.db"
    with Holdfast(with_empty_memory(settings), lambda: at(9)) as memory:
        for number, words in enumerate(
            ("The CI is flaky.", "I prefer small commits of Dana Meyer.", "Never sail on Fridays."),
            1,
        ):
            memory.ingest(memory.ingestion.find([session_on_day(number, words).write(folder)]))
        memory.remember("The walrus bucket is encrypted.")
        whole = dump(database)
        memory.ingestion.rebuild()
        assert dump(database) == whole
        for session in memory.reader.sessions.latest(None):
            memory.forget(f"holdfast://session/{session.id}")
            assert not stages.stages_behind(memory.store, memory.settings)
            left = dump(database)
            memory.ingestion.rebuild()
            assert dump(database) == left
            memory.undo()
            assert dump(database) == whole


def test_every_stage_has_a_version() -> None:
    modules = (
        memory_stage,
        fact_stage,
        pattern_stage,
        opinions,
        concept_stage,
        entity_stage,
        commit_authorship,
    )
    known = [(stage.name, stage.version) for stage in stages.STAGES]
    assert known == [(module.NAME, module.VERSION) for module in modules]
    added = {stage.name: stage.by_vectors for stage in stages.STAGES if stage.by_vectors}
    assert added == {memory_stage.NAME: memory_stage.BY_VECTORS}
