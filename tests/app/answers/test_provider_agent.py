"""Plugins in the memory agent's hands: a real server behind each, a service on loopback."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.model.query import Answer, Layer
from holdfast.model.trust import Trust
from holdfast.operations.asking import ask
from holdfast.settings import ModelSettings
from tests.app.search.test_provider_recall import memory_with
from tests.support.model_service import Answered, Json, running
from tests.support.plugins import NOW

pytestmark = pytest.mark.process  # the product starts the programs

QUESTION = "When do the retries of the importer stop?"


def calls(*made: tuple[str, object]) -> Answered:
    asked = [
        {"id": f"c{n}", "function": {"name": name, "arguments": json.dumps(given)}}
        for n, (name, given) in enumerate(made)
    ]
    return 200, {}, {"choices": [{"message": {"tool_calls": asked}}]}


def offered(body: Json) -> list[str]:
    return [tool["function"]["name"] for tool in body["tools"]]


def answer_of(tmp_path: Path, providers: bool) -> tuple[Answer, list[Json]]:
    """A model that asks the plugin, if it is offered, and cites what it says."""
    with memory_with(tmp_path, "good") as memory, running() as service:

        def reply(body: Json) -> Answered:
            plugin = [name for name in offered(body) if name.startswith("good_")]
            if len(service.asked) == 1:
                return calls((plugin[0] if plugin else "memory_list_layers", {"query": "retries"}))
            text = json.dumps(body["messages"])
            at = text.find("holdfast://provided/")
            cited = text[at:].split('\\"')[0] if at >= 0 else "holdfast://provided/x"
            result = "Retries of the importer stop after five attempts."
            return calls(("answer", {"sentences": [{"text": result, "cites": [cited]}]}))

        service.answer = reply
        models = ModelSettings(use="openai", agent="small", endpoint=f"{service.url}/v1")
        with Holdfast(replace(memory.settings, models=models), lambda: NOW) as asking:
            answer = ask(asking, QUESTION, providers=providers)
        return answer, [body for _, _, body in service.asked]


def test_the_agent_queries_plugins_and_their_text_stays_external(tmp_path: Path) -> None:
    answer, asked = answer_of(tmp_path, providers=True)
    assert any(name.startswith("good_search") for name in offered(asked[0]))
    told = json.dumps(asked[0]["tools"])
    assert "in its words" in told and told.count("Its guide: ") == 1
    assert "Search the wiki." in told, "the system_prompt of its manifest"
    assert "Search the wiki." not in json.dumps(asked[0]["messages"]), "no instruction of ours"
    assert answer.answer == "Retries of the importer stop after five attempts. [1]"
    cited = answer.citations[0]
    assert (cited.layer, cited.trust) == (Layer.PROVIDERS, Trust.EXTERNAL)
    assert any("outside the project" in caveat for caveat in answer.caveats)


def test_no_plugin_is_offered_unless_requested(tmp_path: Path) -> None:
    answer, asked = answer_of(tmp_path, providers=False)
    assert all(name.startswith("memory_") or name == "answer" for name in offered(asked[0]))
    assert not any(citation.layer is Layer.PROVIDERS for citation in answer.citations)
