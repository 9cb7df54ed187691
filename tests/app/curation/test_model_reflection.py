"""Reflection and extraction with a model: what it is asked, what is kept, and what stands when
it does not answer."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from holdfast.app.background import model_tasks
from holdfast.app.memory import Holdfast
from holdfast.settings import ModelSettings
from tests.support.opinion_sessions import (
    Clock,
    ingest_and_update,
    open_dated_memory,
    session_on_day,
)
from tests.support.permitted_model_service import Json, Service
from tests.support.transcripts import bug_hunt

OSLO = "The ferry timetable of the harbour is printed in Oslo every spring."


def with_model(memory: Holdfast, service: Service) -> None:
    """Let the settings of a memory name a service."""
    models = ModelSettings(
        use="openai", endpoint=service.url, reflection="small", extraction="small"
    )
    memory.context.settings = replace(memory.settings, models=models)


def answered(answer: Json) -> tuple[int, Json]:
    """An answer as a service sends it."""
    usage = {"prompt_tokens": 1000, "completion_tokens": 100}
    choices = [{"message": {"content": json.dumps(answer)}}]
    return 200, {"choices": choices, "usage": usage, "model": "small"}


def test_the_opinion_of_a_model_is_stored(tmp_path: Path, service: Service) -> None:
    said = {
        "answer": "The ferry timetable is printed in Oslo, as records [1] and [2] tell.",
        "claims": [{"sentence": OSLO, "for": [*range(1, 9)], "against": [], "confidence": 0.99}],
    }
    service.answer = lambda: answered(said)
    with open_dated_memory(tmp_path) as memory:
        ingest_and_update(memory, session_on_day(1, OSLO), session_on_day(2, f"{OSLO} Mind that."))
        with_model(memory, service)
        reflection = memory.opinions.reflect("where is the ferry timetable printed")
        assert (
            reflection.author == f"openai@127.0.0.1:{service.server.server_port}/small"
            and "nothing is inferred" not in reflection.answer
        )
        assert reflection.claims[0].confidence < 0.99, "no more than the sources allow"
        (name,) = reflection.stored
        assert name in {f"holdfast://memory/{o.id}" for o in memory.opinions.opinions()}
        assert memory.store.model_calls.total_spent().calls == 1 and len(service.asked) == 1
        system, question = (message["content"] for message in service.asked[0]["messages"])
        assert OSLO in question and OSLO not in system


def test_records_against_a_claim_lower_the_confidence_of_an_opinion(
    tmp_path: Path, service: Service
) -> None:
    claim: Json = {"sentence": OSLO, "for": [*range(1, 5)], "against": [], "confidence": 0.99}
    service.answer = lambda: answered({"answer": f"{OSLO} [1]", "claims": [claim]})
    with open_dated_memory(tmp_path) as memory:
        ingest_and_update(memory, session_on_day(1, OSLO), session_on_day(2, f"{OSLO} Mind that."))
        with_model(memory, service)
        memory.opinions.reflect("where is the ferry timetable printed")
        (before,) = memory.opinions.opinions()
        claim["for"], claim["against"] = [1, 2, 3], [4]
        memory.opinions.reflect("where is the ferry timetable printed")
        (after,) = memory.opinions.opinions()
        assert after.id == before.id and after.confidence < before.confidence
        assert len(after.evidence_against) == 1
        notes = [one.note for one in memory.show(after.id).beliefs]
        assert notes == ["formed", "weakened"]
        memory.forget(after.evidence_for[0])
        assert memory.opinions.opinions(all=True) == []


def test_what_only_agents_said_is_not_believed(tmp_path: Path, service: Service) -> None:
    claim: Json = {"sentence": OSLO, "for": [*range(1, 5)], "against": [], "confidence": 0.99}
    service.answer = lambda: answered({"answer": f"{OSLO} [1]", "claims": [claim]})
    with open_dated_memory(tmp_path) as memory:
        scripts = [session_on_day(day) for day in (1, 2)]
        for script in scripts:
            script.user("Look at the harbour page, please.")
            script.assistant(OSLO)
        ingest_and_update(memory, *scripts)
        with_model(memory, service)
        reflection = memory.opinions.reflect("where is the ferry timetable printed")
        assert reflection.claims and not any(one.believed for one in reflection.claims)
        assert reflection.stored == ()


def test_without_an_answer_the_evidence_is_listed(tmp_path: Path, service: Service) -> None:
    service.answer = lambda: (401, {"error": {"message": "No key."}})
    with open_dated_memory(tmp_path) as memory:
        ingest_and_update(memory, session_on_day(1, OSLO))
        with_model(memory, service)
        reflection = memory.opinions.reflect("where is the ferry timetable printed")
        assert reflection.author == "" and "nothing is inferred" in reflection.answer
        assert any("No key." in caveat for caveat in reflection.caveats)


def test_memories_of_ended_sessions_are_extracted(tmp_path: Path, service: Service) -> None:
    found = {"turn": 8, "kind": "outcome", "what": "Gave load() an idempotency key so that "
             "the retry wrapper does no harm.", "where": "src/importer.py",
             "who": "load(), retry wrapper",
             "why": "The retry wrapper ran load() a second time."}  # fmt: skip
    service.answer = lambda: answered({"memories": [found]})
    clock = Clock()
    clock.day = 186
    with open_dated_memory(tmp_path, clock) as memory:
        ingest_and_update(memory, bug_hunt())
        with_model(memory, service)
        done = model_tasks.extract_memories(memory, lambda: None)
        assert (done.exchanges, done.failed, done.stopped) == (1, 0, "")
        memory.ingestion.update()
        (bank,) = memory.banks.all()
        assert "retry wrapper" in {e.name for e in memory.browse.entities(limit=500)}, (
            "the model named it"
        )
        (kept,) = memory.reader.memories.retained(bank.id)
        assert kept.what.startswith("Gave load()") and kept.where == "src/importer.py"
        assert "retry wrapper" in kept.why
