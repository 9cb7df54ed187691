from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError, NotFoundError
from holdfast.model.query import Answer, Confidence, Layer, RecallResult
from holdfast.model.trust import Trust
from holdfast.recall.core.plan import RecallPlan
from tests.support.plugins import NOW, make_plugin, misbehaving_server, settings_for
from tests.support.transcripts import Script

pytestmark = pytest.mark.process  # the product starts the programs

PROJECT = "/home/dev/proj"
OWN = "The retries of the importer stop after seven attempts, says the deployment guide."


def memory_with(tmp_path: Path, *modes: str, more: str = "", own: bool = True) -> Holdfast:
    """A memory whose user has one plugin of each mode."""
    for mode in modes:
        make_plugin(tmp_path / mode, misbehaving_server(mode, tmp_path / "notes"))
    settings = settings_for(tmp_path, [tmp_path / mode for mode in modes], more)
    memory = Holdfast(replace(settings, bank="proj", embed_model="none"), lambda: NOW)
    script = Script(cwd=PROJECT)
    script.user("When do the retries of the importer stop?" if own else "Paint the fence, please.")
    script.assistant(OWN if own else "The fence is green now.")
    memory.ingest(memory.ingestion.find([script.write(tmp_path / "projects")]))
    return memory


def recall(memory: Holdfast, query: str = "when do retries of the importer stop") -> RecallResult:
    return memory.search.recall_with_plan(query, None, RecallPlan(providers=True))


def ask(memory: Holdfast, providers: bool = True) -> Answer:
    return memory.ask("When do the retries of the importer stop?", providers=providers)


def test_results_of_plugins_come_after_our_own(tmp_path: Path) -> None:
    with memory_with(tmp_path, "good") as memory:
        found = recall(memory)
    ours = [hit for hit in found.hits if hit.layer is not Layer.PROVIDERS]
    result = found.hits[-1]
    assert ours and found.hits[: len(ours)] == tuple(ours)
    assert (result.layer, result.trust, result.provider) == (
        Layer.PROVIDERS,
        Trust.EXTERNAL,
        "good/search",
    )
    assert result.score <= ours[-1].score
    assert result.uri.startswith("holdfast://provided/good/search/")
    assert "provider good" in [arm.name for arm in found.strategies]


def test_plugins_answer_when_the_memory_abstains_and_the_result_says_so(tmp_path: Path) -> None:
    with memory_with(tmp_path, "good", own=False) as memory:
        found, answer = recall(memory), ask(memory)
        assert memory.ask("When do the retries of the importer stop?").abstained
    assert not found.abstained and [hit.provider for hit in found.hits] == ["good/search"]
    assert answer.answer == (
        "From outside (good/search): “Retries of the importer stop after five attempts.” [1]"
    )
    assert (answer.confidence, answer.source) == (Confidence.LOW, "providers")
    assert answer.citations[0].trust is Trust.EXTERNAL
    assert any("nobody here has checked it" in caveat for caveat in answer.caveats)


def test_plugins_do_not_raise_the_confidence_of_an_answer(tmp_path: Path) -> None:
    with memory_with(tmp_path, "good") as memory:
        without, with_them = ask(memory, providers=False), ask(memory)
    assert with_them.confidence is without.confidence
    assert with_them.answer.startswith(without.answer)
    assert with_them.answer.endswith(f"[{len(without.citations) + 1}]")
    assert with_them.citations[-1].excerpt.startswith("good/search: Retries")
    assert Layer.PROVIDERS in with_them.layers_searched
    assert Layer.PROVIDERS not in without.layers_searched


def test_instructions_in_plugin_text_are_only_quoted(tmp_path: Path) -> None:
    with memory_with(tmp_path, "orders") as memory:
        before = memory.inventory.counts()
        answer = ask(memory)
        after = memory.inventory.counts()
        passages = memory.reader.passages.search(None, ["rm", "ignore", "previous"], limit=5)
    [line] = [line for line in answer.answer.splitlines() if "(orders/search)" in line]
    assert line.startswith("From outside (orders/search): “") and "[1]" not in line
    assert before == after and passages == []


def test_a_failing_plugin_is_reported_and_skipped_after_the_second_failure(tmp_path: Path) -> None:
    with memory_with(tmp_path, "dies", "good") as memory:
        for _ in range(2):
            answer = ask(memory)
            assert "No answer from: dies: it ended or refused the request." in answer.caveats
            assert "good/search" in answer.answer
        started = (tmp_path / "notes").read_text().count("started")
        found = recall(memory)
    [arm] = [arm for arm in found.strategies if arm.name == "provider dies"]
    assert arm.problem.startswith("paused until 2026-03-01 12:10: it ended")
    assert (tmp_path / "notes").read_text().count("started") == started + 1


def test_plugins_are_queried_only_if_settings_and_question_allow_it(tmp_path: Path) -> None:
    with memory_with(tmp_path, "good", more='use = "off"') as memory:
        ask(memory, providers=False)
        with pytest.raises(InputError, match="Plugins are not queried"):
            ask(memory)
        with pytest.raises(InputError, match="Plugins are not queried"):
            memory.recall("retries", layers=[Layer.PROVIDERS])
    assert not (tmp_path / "notes").exists()
    with memory_with(tmp_path, "good") as memory:
        ask(memory, providers=False)
        memory.recall("when do retries stop")
        assert not (tmp_path / "notes").exists()
        only = memory.recall("when do the retries stop", layers=[Layer.PROVIDERS])
        assert [hit.layer for hit in only.hits] == [Layer.PROVIDERS]
    with memory_with(tmp_path, "good", more='use = "always"') as memory:
        assert "good/search" in ask(memory, providers=False).answer
        assert not any(hit.provider for hit in memory.recall("when do retries stop").hits)


def test_text_from_plugins_is_not_stored(tmp_path: Path) -> None:
    with memory_with(tmp_path, "good", own=False) as memory:
        [hit] = recall(memory).hits
        with pytest.raises(NotFoundError, match="What a plugin said is not kept"):
            memory.show(hit.uri)
    kept = b"".join(path.read_bytes() for path in (tmp_path / ".holdfast").rglob("*.*"))
    assert b"five attempts" not in kept
