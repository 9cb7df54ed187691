"""Models with tools, against real servers on loopback, and through the real Claude Code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from holdfast.errors import ModelError, ModelStoppedError
from holdfast.inference.chat import Question, Tool, Toolbox
from holdfast.spend.governor import max_usage
from tests.support.model_service import Answered, Json, Service

FORM = {"type": "object", "properties": {"said": {"type": "string"}}, "required": ["said"]}
LOOK = Tool("look", "Look something up.", {"type": "object", "properties": {}})
USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "input_tokens": 100, "output_tokens": 10}


class Asked:
    """A toolbox that remembers its calls."""

    def __init__(self, turns: int = 4) -> None:
        self.calls: list[tuple[str, Mapping[str, Any]]] = []
        self.stop = False
        self.box = Toolbox((LOOK,), self.call, turns, 1000, lambda: self.stop)
        self.question = Question("Look it up.", "What broke?", FORM, 300, self.box)

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        self.calls.append((name, arguments))
        return "the pump broke" if name == "look" else f"There is no tool {name!r}."


def used(*calls: tuple[str, object]) -> Answered:
    """OpenAI's way of calling tools."""
    asked = [
        {
            "id": f"c{n}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": given if isinstance(given, str) else json.dumps(given),
            },
        }
        for n, (name, given) in enumerate(calls)
    ]
    message = {"content": None, "tool_calls": asked}
    return 200, {}, {"choices": [{"message": message}], "usage": USAGE, "model": "small"}


def blocks(*calls: tuple[str, object]) -> Answered:
    """Anthropic's."""
    content = [
        {"type": "tool_use", "id": f"t{n}", "name": name, "input": given}
        for n, (name, given) in enumerate(calls)
    ]
    return 200, {}, {"content": content, "usage": USAGE, "model": "claude-haiku-5-5"}


def play(service: Service, *answers: Answered) -> None:
    left = list(answers)
    service.answer = lambda body: left.pop(0) if len(left) > 1 else left[0]


@pytest.mark.slow
def test_a_model_can_call_tools_and_answer_in_both_apis(service: Service) -> None:
    for chat, way in ((service.completions(), used), (service.messages(), blocks)):
        asked = Asked()
        play(service, way(("look", {"for": "pump"})), way(("answer", {"said": "the pump"})))
        reply = chat.ask(asked.question)
        assert json.loads(reply.text) == {"said": "the pump"}
        assert asked.calls == [("look", {"for": "pump"})]
        assert reply.usage.tokens_in == 200 and reply.usage.tokens_out == 20
        assert "the pump broke" in json.dumps(service.asked[-1][2]["messages"])


@pytest.mark.slow
def test_a_wrong_tool_call_is_reported_and_can_be_corrected(service: Service) -> None:
    asked = Asked()
    play(
        service,
        used(("Bash", {"command": "rm"}), ("look", "no json")),
        used(("answer", "[]")),
        used(("answer", {"said": "so"})),
    )
    assert json.loads(service.completions().ask(asked.question).text) == {"said": "so"}
    told = json.dumps(service.asked[-1][2]["messages"])
    assert "no tool 'Bash'" in told and "not one object of JSON" in told
    assert asked.calls == [("Bash", {"command": "rm"})]
    play(service, used(("answer", {"told": "so"})), used(("answer", {"said": "so"})))
    assert json.loads(service.completions().ask(asked.question).text) == {"said": "so"}
    assert "it has no said" in json.dumps(service.asked[-1][2]["messages"])
    play(service, used(("answer", {"said": ["so"]})), used(("answer", {"said": "so"})))
    assert json.loads(service.completions().ask(asked.question).text) == {"said": "so"}
    assert "said is no string" in json.dumps(service.asked[-1][2]["messages"])


@pytest.mark.slow
def test_in_its_last_turn_a_model_can_only_answer(service: Service) -> None:
    for chat, way in ((service.completions(), used), (service.messages(), blocks)):
        asked = Asked(turns=3)
        service.asked.clear()
        play(service, way(("look", {})))
        assert chat.ask(asked.question).text == ""
        assert len(service.asked) == 3 and len(asked.calls) == 2
        choices = [json.dumps(body["tool_choice"]) for _, _, body in service.asked]
        assert "answer" in choices[-1] and not any("answer" in one for one in choices[:-1])


def test_a_model_that_does_not_use_the_format_is_reminded(service: Service) -> None:
    talk: Answered = (200, {}, {"choices": [{"message": {"content": "It broke."}}]})
    play(service, talk, used(("answer", {"said": "so"})))
    asked = Asked()
    assert json.loads(service.completions().ask(asked.question).text) == {"said": "so"}
    whole: Answered = (200, {}, {"choices": [{"message": {"content": '{"said": "so"}'}}]})
    play(service, whole)
    assert json.loads(service.completions().ask(asked.question).text) == {"said": "so"}


def test_a_stopped_conversation_makes_no_tool_call(service: Service) -> None:
    asked = Asked()
    asked.stop = True
    play(service, used(("look", {})))
    with pytest.raises(ModelStoppedError):
        service.completions().ask(asked.question)
    assert not asked.calls


@pytest.mark.parametrize("told", [{}, {"choices": []}, {"choices": [{"message": "so"}]}])
def test_an_answer_in_a_wrong_format_is_an_error(service: Service, told: Json) -> None:
    play(service, (200, {}, told))
    with pytest.raises(ModelError):
        service.completions().ask(Asked().question)


def test_the_maximum_usage_of_a_whole_conversation_is_reserved() -> None:
    asked = Asked().question
    alone, whole = max_usage(asked._replace(toolbox=None)), max_usage(asked)
    assert whole.tokens_in > 4 * alone.tokens_in and whole.tokens_out == 4 * 300
