"""The stages of the mind in the worker: in portions, only where there is something to do."""

from __future__ import annotations

from datetime import datetime, timedelta
from importlib import import_module
from pathlib import Path

import pytest
from tests.app.homes import make_home
from tests.dump import dump
from tests.learn.minds import START, talk

from holdfast.app import knowing, steps
from holdfast.app.memory import Holdfast
from holdfast.app.worker import Manner, work
from holdfast.learn.banks import Wish
from holdfast.settings import Settings
from holdfast.store.protocol import Store

QUICK = Manner(patient=True, settle_s=0, linger_s=0, patience_s=0)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    home = make_home(tmp_path)
    return Settings(home, tmp_path / "claude", bank="proj", embed_model="none")


def at(day: float) -> str:
    moment: datetime = START + timedelta(days=day)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def fail(store: Store, *rest: object) -> None:
    raise ValueError("no thought today")


def test_a_worker_reflects_at_the_end_of_sessions(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = settings.claude_dir / "projects"
    for number in (1, 2):
        talk(number, "The CI is flaky.").write(folder)
    work(settings, QUICK, steps.STEPS, lambda: at(3))
    with Holdfast(settings, lambda: at(3)) as memory:
        (believed,) = memory.opinions()
        assert believed.what == "CI is flaky" and believed.sessions == 2
    for stage in knowing.STAGES:
        monkeypatch.setattr(import_module(stage.module), stage.function, fail)
    assert work(settings, QUICK, steps.STEPS, lambda: at(4)).failed == (), "nothing is to be done"


def test_a_reflection_that_fails_holds_nothing_up(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(knowing, "know", fail)
    talk(1, "The CI is flaky.").write(settings.claude_dir / "projects")
    outcome = work(settings, QUICK, steps.STEPS, lambda: at(2))
    assert outcome.failed == ("know",)
    with Holdfast(settings, lambda: at(2)) as memory:
        assert memory.counts().turns == 2 and memory.recall("flaky").hits


def test_a_worker_keeps_to_the_retention(settings: Settings) -> None:
    for number in (1, 300):
        talk(number, f"The xebec{number} sails.").write(settings.claude_dir / "projects")
    work(settings, QUICK, steps.STEPS, lambda: at(301))
    with Holdfast(settings, lambda: at(301)) as memory:
        memory.set_bank(Wish(retention=12))
        assert memory.counts().sessions == 2
    work(settings, QUICK, steps.STEPS, lambda: at(400))
    with Holdfast(settings, lambda: at(400)) as memory:
        assert [s.host[:8] for s in memory.reader.sessions(None)] == ["00000300"]


def test_what_stages_make_of_what_is_left_is_what_a_rebuild_makes(settings: Settings) -> None:
    folder = settings.claude_dir / "projects"
    database = settings.home / "memory.db"
    with Holdfast(settings, lambda: at(9)) as memory:
        for number, words in enumerate(
            ("The CI is flaky.", "I prefer small commits of Dana Meyer.", "Never sail on Fridays."),
            1,
        ):
            memory.ingest(memory.find([talk(number, words).write(folder)]))
        memory.remember("The walrus bucket is encrypted.")
        whole = dump(database)
        memory.rebuild()
        assert dump(database) == whole
        for session in memory.reader.sessions(None):
            memory.forget(f"holdfast://session/{session.id}")
            assert not knowing.stages_behind(memory.store)
            left = dump(database)
            memory.rebuild()
            assert dump(database) == left
            memory.undo()
            assert dump(database) == whole


def test_a_stage_has_the_version_it_is_known_by() -> None:
    for stage in knowing.STAGES:
        module = import_module(stage.module)
        assert (stage.name, stage.version) == (module.NAME, module.VERSION)
        assert callable(getattr(module, stage.function))
