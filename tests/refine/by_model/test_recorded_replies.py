"""The replies that `bench.knowledge_by_model` serves are such as the product can read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from bench import knowledge_by_model
from bench.knowledge_by_model import REPLIES, RecordedModel, read_prompt

from holdfast.inference.chat import Question
from holdfast.model.knowledge import Kind
from holdfast.refine.by_model import memory_extraction
from holdfast.refine.by_model.memory_extraction import parse_memories
from holdfast.refine.memories.retention_rules import MAX_WHAT_CHARS
from holdfast.refine.model_output import prompts
from holdfast.refine.model_output.responses import parse_digest, parse_exchanges
from tests.support.model_service import running

RECORDS: list[dict[str, Any]] = [
    json.loads(line) for line in REPLIES.read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("record", RECORDS, ids=[record["key"] for record in RECORDS])
def test_a_recorded_reply_is_of_the_form_that_was_asked_for(record: dict[str, Any]) -> None:
    text = json.dumps(record["reply"])
    match record["about"]:
        case "memories":
            drafts = parse_memories(text)
            assert drafts and {draft.kind for draft in drafts} <= set(Kind)
            assert all(draft.turn and len(draft.what) <= MAX_WHAT_CHARS for draft in drafts)
        case "exchanges":
            wanted = len(record["reply"]["exchanges"])
            assert len(parse_exchanges(text, wanted)) == wanted > 0
        case about:
            assert about == "digest" and parse_digest(text).request


def test_every_reply_has_a_key_of_its_own() -> None:
    assert len({record["key"] for record in RECORDS}) == len(RECORDS) == 40
    assert len({record["session"] for record in RECORDS}) == 10


def test_a_prompt_is_recognised_by_its_turns_and_not_by_its_instructions() -> None:
    def key(question: Question) -> tuple[str, str]:
        form = {"json_schema": {"schema": dict(question.schema)}}
        said = [{"content": question.system}, {"content": question.text}]
        asked = read_prompt({"messages": said, "response_format": form})
        return asked.about, asked.key

    def memories(text: str, task: str = "Give.") -> Question:
        return prompts.build_question(task, [text], memory_extraction.SCHEMA, 100)

    first = key(memories("[1 user] Use tabs.\n[2 assistant] Done."))
    assert first == key(memories("[1 user] Use tabs.\n[2 assistant] Done.", "Give more."))
    assert first != key(memories("[1 user] Use blanks.\n[2 assistant] Done."))
    assert (
        first[0] == "memories" and key(prompts.digest_question("- change, done: a"))[0] == "digest"
    )


def test_without_the_sessions_the_measurement_is_skipped_with_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_BENCH_DATA", str(tmp_path))
    (line,) = knowledge_by_model.run()
    assert line == (f"knowledge_by_model: skipped, eval/archaeology.tar.xz is not in {tmp_path}")


def test_a_prompt_without_a_recorded_reply_is_kept_and_answered_with_nothing() -> None:
    with running() as service:
        model = RecordedModel(service, {})
        question = prompts.build_question(
            "Give.", ["[1 user] Use tabs."], memory_extraction.SCHEMA, 100
        )
        assert parse_memories(service.completions().ask(question).text) == []
        (asked,) = model.unanswered.values()
        assert "Use tabs." in asked.text and model.calls == 1
