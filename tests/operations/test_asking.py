"""Questions: what the caller is told while they are answered, and the sessions that remain."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.app.memory import Holdfast
from holdfast.errors import CancelledError, InputError, NotFoundError
from holdfast.operations.operation import Call
from holdfast.operations.registry import find_operation
from holdfast.operations.running import perform, result_text
from holdfast.operations.shapes import result_json
from holdfast.principal import Level, Principal
from tests.support.sample_memory import memory_with_session

ASK = find_operation("ask")
QUESTION: dict[str, Any] = {"question": "What colour is the yawl painted?", "bank": "proj"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Holdfast]:
    with memory_with_session(tmp_path) as opened:
        yield opened


def run(memory: Holdfast, name: str, call: Call | None = None, **given: Any) -> Any:
    return result_json(perform(find_operation(name), memory, given, call or Call()))


def test_the_caller_is_told_the_session_first_and_then_each_step(memory: Holdfast) -> None:
    told: list[str] = []
    steps: list[dict[str, Any]] = []
    answer = perform(ASK, memory, QUESTION, Call(progress=told.append, on_step=steps.append))
    assert told[0] == f"Session {answer.session_id}"
    assert told[1].startswith("planned: ") and told[-1].startswith("done: ")
    assert {step["session_id"] for step in steps} == {answer.session_id}
    assert [step["stage"] for step in steps][-1] == "done" and steps[-1]["answer"] == answer
    assert all("answer" not in step for step in steps[:-1])
    assert "continue with" not in result_text(ASK, answer, QUESTION)
    assert answer.session_id in result_text(ASK, answer, {**QUESTION, "session": "mem-1"})


@pytest.mark.parametrize("after", [0, 1])
def test_cancelling_the_call_cancels_the_research(memory: Holdfast, after: int) -> None:
    handlers: list[Callable[[], object]] = []
    told: list[str] = []

    def progress(text: str) -> None:
        told.append(text)
        if len(told) == after + 1:
            handlers[0]()

    with pytest.raises(CancelledError):
        perform(ASK, memory, QUESTION, Call(progress=progress, on_cancel=handlers.append))
    session = told[0].removeprefix("Session ")
    assert run(memory, "research show", id=session)["state"] == "cancelled"


def test_a_session_is_listed_read_found_useful_and_removed(memory: Holdfast) -> None:
    ids = [run(memory, "ask", **QUESTION)["session_id"] for _ in range(2)]
    first = run(memory, "research list", limit=1)
    rest = run(memory, "research list", limit=1, cursor=first["cursor"])
    assert [one["id"] for page in (first, rest) for one in page["sessions"]] == ids[::-1]
    assert rest["cursor"] is None
    shown = run(memory, "research show", id=ids[0])
    assert shown["questions"] == [QUESTION["question"]] and shown["lines"][0]["stage"] == "asked"
    assert run(memory, "research cancel", id=ids[0]) == {"session_id": ids[0], "cancel": False}
    confirmed = run(memory, "research useful", Call(who="ada"), id=ids[0])
    assert confirmed["session_id"] == ids[0] and confirmed["records"] >= 1
    assert run(memory, "research remove", id=ids[0]) == {"session_id": ids[0], "remove": True}
    with pytest.raises(NotFoundError):
        run(memory, "research show", id=ids[0])


def test_a_running_session_is_not_removed(memory: Holdfast) -> None:
    told: list[str] = []

    def remove(text: str) -> None:
        told.append(text)
        if len(told) == 2:
            with pytest.raises(InputError, match="is running"):
                run(memory, "research remove", id=told[0].removeprefix("Session "))

    perform(ASK, memory, QUESTION, Call(progress=remove))
    assert len(told) > 2


def test_a_key_for_some_banks_sees_only_its_own_sessions(memory: Holdfast) -> None:
    bank = memory.reader.banks.all()[0].id
    others = run(memory, "ask", **QUESTION)["session_id"]
    for key in ("one", "two"):
        with memory.scoped_to(Principal("ada", (bank,), Level.READ, key)):
            assert run(memory, "research list")["sessions"] == []
            own = run(memory, "ask", **QUESTION)["session_id"]
            assert [one["id"] for one in run(memory, "research list")["sessions"]] == [own]
            for name in ("research show", "research cancel", "research remove"):
                with pytest.raises(NotFoundError):
                    run(memory, name, id=others)
    assert [one["id"] for one in run(memory, "research list")["sessions"]] == [others]


def test_the_report_of_a_team_is_an_answer_with_evidence_and_people(memory: Holdfast) -> None:
    found = perform(find_operation("team"), memory, QUESTION)
    assert found.whole_answer.question == found.question == QUESTION["question"]
    told = run(memory, "team", **QUESTION)
    assert set(run(memory, "ask", **QUESTION)) | {"evidence", "people"} == set(told)
    assert {hit["bank"] for hit in told["evidence"]} <= {"proj"}


def test_a_brief_and_an_opinion_need_one_bank(memory: Holdfast) -> None:
    assert run(memory, "brief", bank="proj")["text"].startswith("<holdfast-brief")
    assert run(memory, "brief", bank="proj", prompt="zymurgy")["text"] == ""
    assert run(memory, "reflect", query="Is the yawl fine?", bank="proj")["stored"] == []
    with pytest.raises(InputError, match="needs one bank"):
        run(memory, "brief", bank="all")
    with pytest.raises(InputError, match="needs one bank"):
        run(memory, "reflect", query="Is the yawl fine?", bank="all")
