from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from holdfast.capture.redact import Redactor
from holdfast.errors import InputError, ModelAnswerError
from holdfast.inference.chat import Tool
from holdfast.model.query import Answer, Citation, Confidence, Hit, Layer
from holdfast.model.trust import Trust
from holdfast.research.answering.agent_answer import (
    LIMITS,
    LookupTools,
    Sentence,
    check_answer,
    question_for,
    read_sentences,
)

PUMP = "holdfast://turn/aa"
VALVE = "holdfast://turn/bb"
TEXTS = {
    PUMP: "The retry wrapper ran load() twice, so the nightly import doubled its rows.",
    VALVE: "We keep SQLite because one file is easy to back up.",
}
TOLD = Answer("Why were rows doubled?", "By rules.", Confidence.LOW, False, "transcripts")


def opened(uri: str) -> tuple[Hit, Citation] | None:
    text = TEXTS.get(uri)
    if text is None:
        return None
    hit = Hit(uri, "turn", Layer.TRANSCRIPTS, 0.0, text, "2026-01-05T00:00:00Z", uri[-2:], "b")
    return hit, Citation(0, uri, Layer.TRANSCRIPTS, text, "/sessions/s#msg-1")


def ignore_event(name: str, arguments: Mapping[str, Any], found: int) -> None:
    """Whoever listens does not."""


def looked(*uris: str, given: Mapping[str, Any] | None = None) -> LookupTools:
    rows = [{"uri": uri, "text": TEXTS.get(uri, "")} for uri in uris]
    lookups = LookupTools(lambda n, a: given or {"results": rows}, ignore_event, lambda: False)
    lookups.look_up("search", {})
    return lookups


def test_a_sentence_keeps_the_citations_that_support_it() -> None:
    said = [Sentence("The retry wrapper ran load() twice.", (PUMP,)),
            Sentence("SQLite is easy to back up.", ("[turn/bb]",))]  # fmt: skip
    checked = check_answer(said, looked(PUMP, VALVE), opened, TOLD, Redactor())
    assert checked.dropped == 0 and checked.answer.confidence is Confidence.HIGH
    assert checked.answer.answer.splitlines() == [
        "The retry wrapper ran load() twice. [1]", "SQLite is easy to back up. [2]"
    ]  # fmt: skip
    assert [(c.number, c.uri) for c in checked.answer.citations] == [(1, PUMP), (2, VALVE)]


@pytest.mark.parametrize(
    "wrong",
    [
        Sentence("The retry wrapper ran load() twice.", ()),
        Sentence("The retry wrapper ran load() twice.", ("holdfast://turn/invented",)),
        Sentence("The retry wrapper ran load() twice.", (VALVE,)),
        Sentence("The outage was caused by kubernetes in `deploy/prod.yaml`.", (PUMP,)),
        Sentence("Rows were doubled by `drop_tables()` twice.", (PUMP,)),
    ],
)
def test_sentences_without_support_are_dropped_and_counted(wrong: Sentence) -> None:
    good = Sentence("The nightly import doubled its rows.", (PUMP,))
    checked = check_answer([good, wrong], looked(PUMP, VALVE), opened, TOLD, Redactor())
    assert checked.dropped == 1 and wrong.text not in checked.answer.answer
    assert "left out" in checked.answer.caveats[0]
    assert check_answer([wrong], looked(PUMP, VALVE), opened, TOLD, Redactor()).answer is TOLD


def test_a_record_that_was_not_shown_or_is_gone_cannot_be_cited() -> None:
    said = [Sentence("The nightly import doubled its rows.", (PUMP,))]
    # A text may speak of a record without being it.
    trick = looked(given={"results": [{"uri": VALVE, "text": f"see {PUMP}"}]})
    assert check_answer(said, trick, opened, TOLD, Redactor()).dropped == 1
    assert check_answer(said, looked(PUMP), lambda uri: None, TOLD, Redactor()).dropped == 1


def test_secrets_are_redacted_from_an_answer() -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    TEXTS["holdfast://turn/cc"] = f"The import uses the token {key} for the nightly rows."
    said = [Sentence(f"The import uses the token {key}.", ("holdfast://turn/cc",))]
    checked = check_answer(said, looked("holdfast://turn/cc"), opened, TOLD, Redactor())
    assert key not in checked.answer.answer


def test_an_answer_from_external_sources_only_says_so() -> None:
    def outside(uri: str) -> tuple[Hit, Citation] | None:
        hit = Hit(uri, "turn", Layer.TEAM, 0, TEXTS[uri], "", "", "b", trust=Trust.EXTERNAL)
        return hit, Citation(0, uri, Layer.TEAM, "", "")

    said = [Sentence("The nightly import doubled its rows.", (PUMP,))]
    answer = check_answer(said, looked(PUMP), outside, TOLD, Redactor()).answer
    assert any("outside the project" in caveat for caveat in answer.caveats)


def test_the_text_shown_to_the_model_is_limited() -> None:
    rows = [{"uri": f"holdfast://turn/{n}", "text": "x" * 900} for n in range(500)]
    lookups = LookupTools(lambda n, a: {"results": rows}, ignore_event, lambda: False)
    given = [lookups.look_up("search", {}) for _ in range(20)]
    assert sum(map(len, given[:-1])) <= LIMITS.run_chars + 1500
    assert "Answer now" in given[-1]
    first = json.loads(given[0])["results"]
    assert 0 < len(first) < 500 and all(len(row["text"]) == 900 for row in first)


def test_a_tool_error_is_reported_to_the_model() -> None:
    def refuse(name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        raise InputError("There is no tool 'Bash'.", "Use search.")

    lookups = LookupTools(refuse, ignore_event, lambda: False)
    assert lookups.look_up("Bash", {}) == "There is no tool 'Bash'. Use search."


def test_a_stopped_conversation_looks_up_nothing() -> None:
    calls: list[str] = []

    def call(name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        calls.append(name)
        return {}

    lookups = LookupTools(call, ignore_event, lambda: True)
    assert lookups.look_up("search", {}) == "Stopped." and not calls


def test_a_follow_up_includes_the_earlier_questions() -> None:
    box = looked(PUMP).toolbox([Tool("search", "", {})])
    asked = question_for("And who found it?", ["Why were rows doubled?"], box)
    assert "Why were rows doubled?" in asked.text and asked.text.endswith("And who found it?")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"sentences": "so"}'])
def test_an_answer_in_a_wrong_format_is_reported_to_the_model(text: str) -> None:
    with pytest.raises(ModelAnswerError):
        read_sentences(text)


def test_small_errors_in_an_answer_are_corrected() -> None:
    told: dict[str, list[Any]] = {
        "sentences": [{"text": "So."}, {"cites": []}, 3, {"text": "Yes.", "cites": "turn/a"}]
    }
    assert read_sentences(json.dumps(told)) == (Sentence("So.", ()), Sentence("Yes.", ()))
