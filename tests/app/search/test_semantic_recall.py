"""From transcripts to recall by meaning, with the model that comes with the package."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast.app.background.runner import WorkerOptions
from holdfast.app.background.steps import needs_embedding
from holdfast.app.background.worker import run_worker
from holdfast.app.memory import Holdfast
from holdfast.inference import packaged
from holdfast.model.query import RecallResult, RetrieverReport
from holdfast.recall.core.plan import Budget, RecallPlan
from holdfast.settings import NO_MODEL, SHIPPED, Settings
from holdfast.times import format_time
from tests.support.onnx_graphs import count_of_second
from tests.support.transcripts import Script, bug_hunt

pytestmark = pytest.mark.model

NOW = "2026-11-01T00:00:00.000Z"
MODEL = packaged.EMBEDDER_NAME
NAN = "x'" + "0000c07f" * 384 + "'"  # a vector of what is no number
QUESTION = "what meal will be served when the visitors come"


def settings_of(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", claude_dir=tmp_path)


def write_sessions(tmp_path: Path) -> None:
    bug_hunt().write(tmp_path / "p")
    other = Script("88888888-0000-4000-8000-000000000001", cwd="/home/dev/kitchen")
    other.user("Which dish shall we cook for the guests on Friday evening?")
    other.assistant("A mushroom risotto, because two of them eat no meat.")
    other.write(tmp_path / "p")


def ingested(settings: Settings) -> Holdfast:
    write_sessions(settings.claude_dir)
    memory = Holdfast(settings, now=lambda: NOW)
    memory.ingest(memory.ingestion.find([settings.claude_dir / "p"]))
    return memory


def semantic(found: RecallResult) -> RetrieverReport | None:
    return next((arm for arm in found.strategies if arm.name == "semantic"), None)


def reranks(found: RecallResult) -> bool:
    return "rerank" in [arm.name for arm in found.strategies]


def broken_settings(tmp_path: Path) -> dict[str, Settings]:
    """Models that cannot be used, each in its own way."""
    folder = tmp_path / "model"
    shutil.copytree(packaged.EMBEDDER.parent, folder)
    (folder / "model.onnx").write_bytes(packaged.EMBEDDER.read_bytes()[:100_000])
    (tmp_path / "empty").mkdir()
    settings = settings_of(tmp_path)
    return {
        "is not a folder": replace(settings, embed_model="/nonexistent"),
        "has no ONNX model": replace(settings, embed_model=str(tmp_path / "empty")),
        "cannot be opened": replace(settings, embed_model=str(folder)),
        "which model to ask": replace(settings, embed_endpoint="http://127.0.0.1:9/v1"),
    }


def test_embedded_passages_are_found_by_other_words(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    with ingested(settings_of(tmp_path)) as memory:
        before = memory.recall(QUESTION, bank="kitchen")
        assert semantic(before) is None
        assert (
            memory.ingestion.embed(on_progress=lambda done, total: told.append((done, total))) == 0
        )
        ((model, vectors),) = memory.reader.vectors.models()
        assert (model, memory.reader.vectors.count_unembedded(model)) == (MODEL, 0)
        assert vectors == told[-1][0] == told[-1][1] > 5
        ranking = memory.search.rank(QUESTION, "all")
        assert "guests" in ranking.candidates[0].passage.body
        arm = semantic(memory.recall(QUESTION, bank="kitchen"))
        assert arm is not None and arm.found > 0 and not arm.problem
        kitchen = memory.search.rank(QUESTION, "kitchen").candidates
        assert {c.passage.bank for c in kitchen} == {memory.context.bank_id("kitchen")}
        assert semantic(memory.recall("risotto", "kitchen", budget=Budget.LOW)) is None
        assert memory.ingestion.embed() == 0


def test_a_single_query_loads_no_model_unless_words_fail_or_it_asks_why(
    tmp_path: Path,
) -> None:
    with ingested(settings_of(tmp_path)) as memory:
        memory.ingestion.embed()
        plain = memory.search.recall_by_words_first(
            "mushroom risotto for the guests", "kitchen", RecallPlan()
        )
        reason = memory.search.recall_by_words_first(
            "why the mushroom risotto for the guests", "kitchen", RecallPlan()
        )
        other = memory.search.recall_by_words_first(QUESTION, "kitchen", RecallPlan())
    assert semantic(plain) is None
    assert semantic(reason) and semantic(other)


@pytest.mark.parametrize("how", ["substr(data, 1, 700)", "zeroblob(0)", "NAN"])
def test_a_damaged_vector_is_skipped_with_a_message_and_computed_again(
    tmp_path: Path, how: str
) -> None:
    settings = settings_of(tmp_path)
    with ingested(settings) as memory:
        memory.ingestion.embed()
        whole = [c.passage.id for c in memory.search.rank(QUESTION, "kitchen").candidates]
        assert whole
        ((_, vectors),) = memory.reader.vectors.models()
        bank = memory.context.bank_id("kitchen") or ""
        first = memory.reader.vectors.after(bank, MODEL, 0, 1)[0].number
    with closing(sqlite3.connect(settings.database)) as damaging, damaging:
        value = how.replace("NAN", NAN)
        damaging.execute(f"UPDATE vector SET data = {value} WHERE rowid = {first}")
    with Holdfast(settings, now=lambda: NOW) as memory:
        arm = semantic(memory.recall(QUESTION, bank="kitchen"))
        assert arm is not None and arm.found > 0 and "damaged vectors" in arm.problem
        assert needs_embedding(memory.reader, settings) == (how != "NAN")
        assert memory.ingestion.embed() == 0
        arm = semantic(memory.recall(QUESTION, bank="kitchen"))
        assert arm is not None and not arm.problem
        assert memory.reader.vectors.models() == [(MODEL, vectors)]
        assert [c.passage.id for c in memory.search.rank(QUESTION, "kitchen").candidates] == whole


def later_session(settings: Settings, number: int) -> None:
    script = Script(f"77777777-0000-4000-8000-00000000000{number}", cwd="/home/dev/kitchen")
    script.user(f"Which of the {number} ovens shall we heat for the bread?")
    script.assistant(f"Oven {number}, because it is the largest of all.")
    script.write(settings.claude_dir / "projects")


def ask_database(settings: Settings, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(settings.database)) as connection, connection:
        return connection.execute(sql).fetchall()


@pytest.mark.slow
def test_a_worker_checks_all_vectors_once_a_day(tmp_path: Path) -> None:
    settings = replace(settings_of(tmp_path), claude_dir=tmp_path / "claude")
    later_session(settings, 1)
    now = datetime.fromisoformat(NOW)

    def work(hours: int, number: int = 0) -> tuple[int, int]:
        """Returns how many vectors are damaged, and how many are of no passage."""
        if number:
            later_session(settings, number)
        run_worker(
            settings,
            WorkerOptions(start_delay_s=0, linger_s=0, lease_timeout_s=0),
            now=lambda: format_time(now + timedelta(hours=hours)),
        )
        missing = "SELECT 1 FROM passage WHERE passage.hash = vector.hash"
        ((short,),) = ask_database(settings, "SELECT count(*) FROM vector WHERE length(data) < 9")
        ((nan,),) = ask_database(settings, f"SELECT count(*) FROM vector WHERE data = {NAN}")
        ((left,),) = ask_database(
            settings, f"SELECT count(*) FROM vector WHERE NOT EXISTS ({missing})"
        )
        return short + nan, left

    settings.home.mkdir()
    assert work(0) == (0, 0)
    ask_database(settings, f"UPDATE vector SET data = {NAN} WHERE number = 1")
    ask_database(
        settings, f"INSERT INTO vector SELECT 999, bank, model, 'x', 0, {NAN} FROM vector LIMIT 1"
    )
    assert work(1, number=2) == (2, 1), "not after every session"
    assert work(26, number=3) == (0, 0), "with the first session after a day"
    ask_database(settings, "UPDATE vector SET data = zeroblob(8) WHERE number = 2")
    assert work(27) == (1, 0)
    assert work(60) == (0, 0), "the size alone shows it, without a session"


def test_an_open_memory_sees_vectors_added_later(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    with ingested(settings) as memory, Holdfast(settings, now=lambda: NOW, create=False) as asking:
        assert semantic(asking.recall(QUESTION, bank="kitchen")) is None
        memory.ingestion.embed(turns_for=-1)
        first = semantic(asking.recall(QUESTION, bank="kitchen"))
        memory.ingestion.embed()
        second = semantic(asking.recall(QUESTION, bank="kitchen"))
        assert first is not None and second is not None
        assert 0 < first.found < second.found


def test_without_a_model_recall_answers_by_words(tmp_path: Path) -> None:
    settings = replace(settings_of(tmp_path), embed_model=NO_MODEL)
    with ingested(settings) as memory:
        assert memory.ingestion.embed() == 0
        assert memory.reader.vectors.models() == []
        found = memory.recall("retry wrapper", bank="proj", budget=Budget.MID)
        assert not found.abstained and "retry wrapper" in found.hits[0].text
        assert all(not arm.problem for arm in found.strategies)


def test_the_reranker_that_ships_reads_with_a_high_budget_or_if_it_is_asked_for(
    tmp_path: Path,
) -> None:
    with ingested(settings_of(tmp_path)) as memory:
        memory.ingestion.embed()
        assert reranks(memory.recall("retry wrapper", bank="proj", budget=Budget.HIGH))
        assert not reranks(memory.recall("retry wrapper", bank="proj"))
    for model in (SHIPPED, str(count_of_second(tmp_path / "p.onnx"))):
        chosen = replace(settings_of(tmp_path), rerank_model=model)
        with Holdfast(chosen, now=lambda: NOW, create=False) as asking:
            assert reranks(asking.recall("retry wrapper", bank="proj"))


def test_an_unusable_model_is_reported_and_recall_answers_by_words(tmp_path: Path) -> None:
    with ingested(settings_of(tmp_path)) as memory:
        memory.ingestion.embed(turns_for=-1)
    for words, settings in broken_settings(tmp_path).items():
        with Holdfast(settings, now=lambda: NOW, create=False) as asking:
            found = asking.recall("retry wrapper", bank="proj")
            arm = semantic(found)
            assert any("retry wrapper" in hit.text for hit in found.hits[:3])
            assert arm is not None and words in arm.problem
            missed = semantic(asking.recall("zymurgy", bank="proj"))
            assert missed is not None and missed.problem == arm.problem
            assert semantic(asking.recall("retry wrapper", "proj", budget=Budget.LOW)) is None
            assert arm in asking.search.rank("retry wrapper", "proj").reports
            answer = asking.ask("why did the rows double", bank="proj")
            assert answer.citations and any(arm.problem in caveat for caveat in answer.caveats)


def test_a_new_model_is_used_once_everything_is_embedded_again(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    with ingested(settings) as memory:
        memory.ingestion.embed()
        old = dict(memory.reader.vectors.models())
    shutil.copytree(packaged.EMBEDDER.parent, tmp_path / "copy")
    with Holdfast(replace(settings, embed_model=str(tmp_path / "copy")), lambda: NOW) as memory:
        assert memory.recall("retry wrapper", bank="proj").hits
        assert needs_embedding(memory.reader, memory.settings)
        assert memory.ingestion.embed(turns_for=-1) > 0
        both = dict(memory.reader.vectors.models())
        assert len(both) == 2 and both[MODEL] == old[MODEL]
        assert memory.recall("retry wrapper", bank="proj").hits
        assert memory.ingestion.embed() == 0
        ((new, count),) = memory.reader.vectors.models()
        assert (new != MODEL, count) == (True, old[MODEL])
        assert not needs_embedding(memory.reader, memory.settings)
        assert "guests" in memory.search.rank(QUESTION, "all").candidates[0].passage.body


def test_texts_are_compared_only_once_a_model_is_loaded(tmp_path: Path) -> None:
    with ingested(settings_of(tmp_path)) as memory:
        memory.ingestion.embed()
        assert memory.search.cosines(QUESTION, ["a mushroom risotto"]) == []
        memory.recall(QUESTION, bank="all")
        assert len(memory.search.cosines(QUESTION, ["a mushroom risotto"])) == 1
        assert memory.search.cosines("was kochen wir für die Gäste", ["ein Risotto"]) == []
        by_service = replace(memory.settings, embed_endpoint="http://localhost:1/v1")
        memory.context.settings = by_service
        assert memory.search.cosines(QUESTION, ["a mushroom risotto"]) == []
