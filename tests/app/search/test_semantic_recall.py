"""From transcripts to recall by meaning, with the model that comes with the package."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast.app.background.steps import needs_embedding
from holdfast.app.background.worker import WorkerOptions, run_worker
from holdfast.app.memory import Holdfast
from holdfast.errors import ModelError
from holdfast.inference import packaged
from holdfast.inference.embedder import Vectors
from holdfast.model.query import RecallResult, RetrieverReport
from holdfast.recall.core.plan import Budget, RecallPlan
from holdfast.recall.engine import recall
from holdfast.recall.retrievers.semantic_search import ModelSemanticSearch, SemanticModels
from holdfast.recall.retrievers.vector_matrix import VectorMatrix
from holdfast.settings import NO_MODEL, SHIPPED, Settings
from holdfast.store.sqlite.store import SqliteStore
from holdfast.times import format_time
from tests.support.command_line import runner
from tests.support.embedders import BagOfWords
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


def test_an_explicit_run_deletes_vectors_of_no_passage_although_nothing_waits(
    tmp_path: Path,
) -> None:
    with ingested(settings_of(tmp_path)) as memory:
        memory.ingestion.embed()
        before = memory.reader.vectors.models()
        bank = memory.context.bank_id("kitchen") or ""
        with memory.store.transaction():
            memory.store.vectors.put(bank, MODEL, [("of no passage", 0, bytes(1536))])
        assert memory.ingestion.embed() == 0
        assert memory.reader.vectors.models() == before


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


def test_turns_are_embedded_later_when_there_is_no_time(tmp_path: Path) -> None:
    with ingested(settings_of(tmp_path)) as memory:
        left = memory.ingestion.embed(turns_for=-1)
        assert left == memory.reader.vectors.count_unembedded(MODEL, ["turn"]) > 0
        assert memory.reader.vectors.count_unembedded(MODEL, ["digest", "exchange", "commit"]) == 0
        assert memory.ingestion.embed() == 0


def test_a_rebuilt_memory_keeps_its_vectors(tmp_path: Path) -> None:
    with ingested(settings_of(tmp_path)) as memory:
        memory.ingestion.embed()
        before = memory.reader.vectors.models()
        memory.ingestion.rebuild()
        assert memory.reader.vectors.count_unembedded(MODEL) == 0
        assert before and memory.reader.vectors.models() == before


def test_without_a_model_recall_answers_by_words(tmp_path: Path) -> None:
    settings = replace(settings_of(tmp_path), embed_model=NO_MODEL)
    with ingested(settings) as memory:
        assert memory.ingestion.embed() == 0
        assert memory.reader.vectors.models() == []
        found = memory.recall("retry wrapper", bank="proj", budget=Budget.MID)
        assert not found.abstained and "retry wrapper" in found.hits[0].text
        assert all(not arm.problem for arm in found.strategies)


def test_a_configured_reranker_works_without_embeddings(tmp_path: Path) -> None:
    model = str(count_of_second(tmp_path / "pairs.onnx"))
    for embed_model in ("", NO_MODEL):
        settings = replace(settings_of(tmp_path), embed_model=embed_model, rerank_model=model)
        with ingested(settings) as memory:
            found = memory.recall("retry wrapper", bank="proj")
            assert "rerank" in [arm.name for arm in found.strategies]
            assert found.hits and "rerank" in found.hits[0].why


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


def test_a_command_reranks_only_with_a_high_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ingested(settings_of(tmp_path)) as memory:
        memory.ingestion.embed()
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOLDFAST_RERANKER", "")
    run = runner(capsys)
    for budget, reranks in (("mid", False), ("high", True)):
        status, printed = run(
            "recall", "retry wrapper", "--bank", "proj", "--budget", budget, "--json"
        )
        names = [arm["name"] for arm in json.loads(printed)["strategies"]]
        assert status == 0
        assert "semantic" in names and ("rerank" in names) is reranks


def test_an_unusable_reranker_is_reported_and_recall_continues(tmp_path: Path) -> None:
    model = tmp_path / "pairs.onnx"
    settings = replace(settings_of(tmp_path), rerank_model=str(model))
    with ingested(replace(settings, rerank_model=NO_MODEL)) as memory:
        memory.ingestion.embed()
        plain = memory.recall("retry wrapper", bank="proj")
    with Holdfast(settings, now=lambda: NOW, create=False) as asking:
        found = asking.recall("retry wrapper", bank="proj")
        (arm,) = [arm for arm in found.strategies if arm.problem]
        assert arm.name == "rerank" and "There is no" in arm.problem and "Correct" in arm.problem
        assert found.hits and found.hits == plain.hits
    count_of_second(model)
    with Holdfast(
        settings, now=lambda: NOW, create=False
    ) as asking:  # put right, in a program that runs on
        found = asking.recall("retry wrapper", bank="proj")
        assert not any(arm.problem for arm in found.strategies) and "rerank" in found.hits[0].why


def test_a_memory_with_vectors_can_be_searched_without_a_model(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    with ingested(settings) as memory:
        memory.ingestion.embed()
    with Holdfast(replace(settings, embed_model=NO_MODEL), now=lambda: NOW, create=False) as asking:
        found = asking.recall("retry wrapper", bank="proj")
        assert any("retry wrapper" in hit.text for hit in found.hits[:3])
        assert all(not arm.problem for arm in found.strategies)


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


def test_an_unusable_model_embeds_nothing(tmp_path: Path) -> None:
    with ingested(replace(settings_of(tmp_path), embed_model="/nonexistent")) as memory:
        with pytest.raises(ModelError):
            memory.ingestion.embed()
        assert memory.recall("retry wrapper", bank="proj").hits


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


def test_the_file_of_a_replaced_model_is_removed_with_its_vectors(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    with ingested(settings) as memory:
        folder = settings.home / "vectors"
        folder.mkdir()
        old = VectorMatrix(folder, memory.reader.banks.all()[0].id, "older", 8)
        old.path.write_bytes(b"as it was")
        assert memory.ingestion.embed(turns_for=-1) > 0 and old.path.exists()
        assert memory.ingestion.embed() == 0 and not old.path.exists()


def test_leftovers_of_an_interrupted_model_change_are_removed_later(tmp_path: Path) -> None:
    with ingested(settings_of(tmp_path)) as memory:
        memory.ingestion.embed()
        store = SqliteStore(tmp_path / "home" / "memory.db")
        with store.transaction():
            store.vectors.put("any bank", "older", [("hash", 0, b"data")])
        store.close()
        assert memory.ingestion.embed() == 0
        assert [model for model, _ in memory.reader.vectors.models()] == [MODEL]


class OutOfOrder(BagOfWords):
    """A model that does not answer; counts how often it is asked."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        raise ModelError("The model does not answer.")


def test_an_unreachable_service_is_a_failure_of_one_retriever(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    with ingested(settings) as memory:
        memory.ingestion.embed()
    away = replace(settings, embed_endpoint="http://127.0.0.1:9/v1", embed_endpoint_model="small")
    with Holdfast(away, now=lambda: NOW, create=False) as memory:
        found = memory.recall("retry wrapper", "all")
    arms = [arm for arm in found.strategies if arm.name == "semantic"]
    assert len(arms) == 1 and "127.0.0.1:9" in arms[0].problem
    assert any("retry wrapper" in hit.text for hit in found.hits)


def test_a_model_that_fails_during_a_query_is_tried_once(tmp_path: Path) -> None:
    ingested(settings_of(tmp_path)).close()
    embedder = OutOfOrder()
    meaning = ModelSemanticSearch(tmp_path / "vectors", SemanticModels(embedder, None, None, None))
    store = SqliteStore(tmp_path / "home" / "memory.db")
    found = recall(store, None, "retry wrapper", RecallPlan(), lambda: NOW, meaning)
    store.close()
    arm = semantic(found)
    assert arm is not None and arm.problem == "The model does not answer."
    assert any("retry wrapper" in hit.text for hit in found.hits)
    assert embedder.asked == ["retry wrapper"]


def test_an_answer_quotes_the_item_that_is_near_in_meaning(tmp_path: Path) -> None:
    script = Script("88888888-0000-4000-8000-000000000002", cwd="/home/dev/harbour")
    script.user("Sum up what was done about the buoys.")
    script.assistant(
        "What was done about the buoys of the harbour:\n\n"
        "1. **Colour**: The buoys of the harbour are counted by the colour in which the crew of "
        "the tug wrote the names of its ships on them, as it has always been done in spring.\n"
        "2. **Light**: A bulb that needs less current replaced the bright one, so that a charge "
        "lasts for a whole month and nobody has to row out every week to change it.\n"
        "3. **Chain**: The harbour crew of the tug named the chain of the buoys in the book of "
        "the harbour, where the colour of the ships is written down, too.\n"
    )
    script.write(tmp_path / "p")
    question = "how does the harbour crew save power on the lamps of the buoys"
    with Holdfast(settings_of(tmp_path), now=lambda: NOW) as memory:
        memory.ingest(memory.ingestion.find([tmp_path / "p"]))
        by_words = memory.ask(question, bank="harbour")
        memory.ingestion.embed()
        by_both = memory.ask(question, bank="harbour")
    assert by_words.weak and not by_both.weak
    assert "**Light**: A bulb that needs less" in by_both.answer.split("\n")[0]


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
