"""Reflection and extraction over a real service on loopback: settings, governor, ledger, and what
stands where the service does not do."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from tests.e2e.claude_code.api import Api, Say, Use
from tests.e2e.claude_code.sandbox import find_claude
from tests.support.opinion_sessions import session_on_day
from tests.support.permitted_model_service import (
    Json,
    Service,
    User,
    completion,
    model_settings,
)
from tests.support.transcripts import bug_hunt

OSLO = "The ferry timetable of the harbour is printed in Oslo every spring."
ASKED = "where is the ferry timetable printed"
REFLECTING = 'reflection = "small"'
KEPT = {
    "turn": 8,
    "kind": "outcome",
    "what": "Gave load() an idempotency key so that the retry wrapper does no harm.",
    "where": "src/importer.py, src/invented.py",
    "who": "load()",
    "why": "The retry wrapper ran load() a second time.",
}


def said(answer: object) -> tuple[int, Json]:
    """An answer as the service would send it."""
    usage = {"prompt_tokens": 700, "completion_tokens": 50}
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return 200, {"choices": [{"message": {"content": text}}], "usage": usage, "model": "small"}


def thought(*claims: Json) -> Json:
    return {"answer": "The ferry timetable is printed in Oslo [1] [77].", "claims": list(claims)}


def claim(sentence: str, *records: int) -> Json:
    return {"sentence": sentence, "for": records, "against": [], "confidence": 0.99}


def reader(folder: Path, service: Service, more: str = REFLECTING) -> User:
    """Somebody who has read two sessions about a timetable."""
    user = User(
        folder,
        model_settings(service, more),
        session_on_day(1, OSLO),
        session_on_day(2, f"{OSLO} Mind that."),
    )
    user.env["HOLDFAST_BANK"] = "proj"
    user.run("ingest", "--embed", "none")
    service.asked.clear()
    return user


def reflect(user: User) -> Json:
    return json.loads(user.run("reflect", ASKED, "--bank", "proj", "--json"))


def operations(user: User) -> list[tuple[str, int]]:
    return [(day["operation"], day["calls"]) for day in user.status()["days"]]


def test_an_answer_of_a_model_is_checked_stored_and_paid_for(
    service: Service, tmp_path: Path
) -> None:
    believed, invented = claim(OSLO, *range(1, 9)), claim(OSLO, 98, 99)
    elsewhere = claim("The harbour master resigned in Lisbon over a quarrel.", 1)
    service.answer = lambda: said(thought(believed, invented, elsewhere))
    user = reader(tmp_path, service)
    told = reflect(user)
    assert told["author"].endswith("/small") and "nothing is inferred" not in told["answer"]
    assert "printed in Oslo [1]." in told["answer"], "a record that is not there is not named"
    (kept,) = told["claims"]
    assert kept["sentence"] == OSLO and kept["confidence"] < 0.99, "by its sources, not its words"
    assert max(kept["cited"]) <= len(told["citations"])
    assert told["stored"] and len(service.asked) == 1
    (asked,) = service.asked
    assert OSLO in str(asked["messages"][-1]) and asked["model"] == "small"
    assert operations(user) == [("reflection", 1)] and user.status()["tokens"] == 750


def test_an_unreadable_answer_is_requested_again_and_paid_each_time(
    service: Service, tmp_path: Path
) -> None:
    answers = iter(
        ["I would rather not say.", {"claims": "none"}, thought(claim(OSLO, *range(1, 9)))]
    )
    service.answer = lambda: said(next(answers))
    user = reader(tmp_path, service)
    told = reflect(user)
    assert told["author"].endswith("/small") and len(service.asked) == 3
    assert "could not be used" in str(service.asked[1]["messages"][-1])
    assert operations(user) == [("reflection", 3)] and user.status()["tokens"] == 3 * 750


@pytest.mark.parametrize(
    ("answer", "more", "problem", "calls"),
    [
        (said("never an object"), "", "could not be used", 3),
        (said(thought()), "day_tokens = 10", "tokens", 0),
        (
            said({"answer": "Lisbon has seven hills and a bridge.", "claims": []}),
            "",
            "the records support no sentence",
            1,
        ),
        ((429, {"error": {"message": "slow down"}}), "", "slow down", 1),
        ((401, {"error": {"message": "no such key"}}), "", "no such key", 1),
    ],
)
def test_without_a_model_answer_the_evidence_is_listed_with_the_reason(
    service: Service,
    tmp_path: Path,
    answer: tuple[int, Json],
    more: str,
    problem: str,
    calls: int,
) -> None:
    service.answer = lambda: answer
    told = reflect(reader(tmp_path, service, f"{REFLECTING}\n{more}"))
    assert told["author"] == "" and "nothing is inferred" in told["answer"]
    assert OSLO.rstrip(".") in told["answer"] and len(service.asked) == calls
    (caveat,) = (text for text in told["caveats"] if text.startswith("The evidence alone"))
    assert problem in caveat


@pytest.mark.slow
def test_a_slow_service_is_not_waited_for(service: Service, tmp_path: Path) -> None:
    answered = threading.Event()

    def slow() -> tuple[int, Json]:
        answered.wait(60)
        return said(thought())

    service.answer = slow
    user = reader(tmp_path, service, f"{REFLECTING}\ntimeout_s = 1")
    try:
        told = reflect(user)
    finally:
        answered.set()
    assert told["author"] == "" and any("The evidence alone" in text for text in told["caveats"])
    asked = len(service.asked)
    again = reflect(user)
    assert len(service.asked) == asked, "it rests for a while"
    assert any("paused until" in text for text in again["caveats"])


class Extracting:
    """A service that sums up as it does elsewhere, and extracts what a test wants."""

    def __init__(self, service: Service, *answers: object) -> None:
        self.calls = 0
        self._answers = iter(answers)
        self._service = service
        service.answer = self

    def __call__(self) -> tuple[int, Json]:
        if "memories" not in str(self._service.asked[-1]["messages"][0]):
            return 200, completion()
        self.calls += 1
        return said(next(self._answers))


def extracting(folder: Path, service: Service, more: str = "") -> User:
    return User(folder, model_settings(service, f'extraction = "small"\n{more}'), bug_hunt())


def memories(user: User, *networks: str) -> list[Json]:
    named = [word for network in networks for word in ("--network", network)]
    asked = ("recall", "load retry wrapper idempotency key", "--bank", "all", *named, "--json")
    return json.loads(user.run(*asked))["hits"]


def test_a_worker_extracts_memories_and_keeps_those_the_turns_support(
    service: Service, tmp_path: Path
) -> None:
    invented = {**KEPT, "what": "The harbour master resigned in Lisbon over a quarrel."}
    played = Extracting(service, {"memories": "none"}, {"memories": [KEPT, invented]})
    user = extracting(tmp_path, service)
    user.run("worker")
    (hit,) = memories(user, "experience")
    shown = json.loads(user.run("show", hit["uri"], "--json"))["record"]
    assert shown["what"] == KEPT["what"] and shown["where"] == "src/importer.py"
    assert shown["kind"] == "outcome"
    assert "retry wrapper" in shown["why"]
    assert ("extraction", 2) in operations(user) and played.calls == 2
    user.run("worker")
    assert played.calls == 2, "once for each exchange"


def test_without_a_budget_the_memories_of_the_rules_are_kept(
    service: Service, tmp_path: Path
) -> None:
    Extracting(service, {"memories": [KEPT]})
    user = extracting(tmp_path, service, "day_tokens = 10")
    assert "stopped: A call may take" in user.run("worker") and not service.asked
    told = [hit["text"] for hit in memories(user, "world", "experience")]
    assert any("The root cause was the retry wrapper" in text for text in told)


@pytest.mark.slow
def test_a_subscription_reflects_through_the_real_program(tmp_path: Path) -> None:
    if find_claude() is None:
        pytest.skip("Claude Code is not here: pip install claude-agent-sdk brings it")
    plays = {
        "answer": (
            [Use("StructuredOutput", thought(claim(OSLO, *range(1, 9)), claim(OSLO, 99)))],
            [Say("Done.")],
        )
    }
    api = Api(plays, str(tmp_path))
    spoken = f"{OSLO} PLAY:answer"
    settings = '[models]\nuse = "claude"\nreflection = "haiku"\n'
    user = User(
        tmp_path, settings, session_on_day(1, spoken), session_on_day(2, f"{spoken} Mind that.")
    )
    user.env |= api.env(tmp_path)
    user.run("ingest", "--embed", "none")
    told = reflect(user)
    api.close()
    assert told["author"].startswith("claude") and "printed in Oslo" in told["answer"]
    (kept,) = told["claims"]
    assert kept["sentence"] == OSLO and told["stored"]
    assert operations(user) == [("reflection", 1)] and user.status()["tokens"] > 100
