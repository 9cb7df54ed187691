"""What is found below the threshold of relevance: told as weak to whoever asks, on every way in,
and never put into a session unasked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from holdfast.app.memory import Holdfast
from holdfast.errors import NotFoundError
from holdfast.operations.briefs import handoff as hand_off
from tests.research.answering.test_code_lines import open_with
from tests.support.ways_in import command_ways, http_ways, mcp_ways, python_ways

pytestmark = pytest.mark.slow

# Shares some words with what was said, and is not answered by it.
QUESTION = "Which library draws the tide tables?"
SAID = "north pier"
UNRELATED = "Who maintains kubernetes?"
ASKED = re.compile(r"(ask |holdfast ask |POST ask |page /\?q=|memory \{)")
SEARCHED = re.compile(
    r"(recall |holdfast recall |GET recall|GraphQL |memory_recall |memory_search_with|page /search)"
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Holdfast]:
    folder = tmp_path_factory.mktemp("weak")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOLDFAST_HOME", str(folder / "home"))
        patch.setenv("HOLDFAST_BANK", "proj")
        said = "The tide tables of the harbour come from the gauge at the north pier."
        with open_with(folder, "Where do the tide tables come from?", said) as opened:
            yield opened


@pytest.fixture(scope="module")
def told(memory: Holdfast) -> dict[str, Any]:
    """What each way in says to the question."""
    ways = (
        python_ways(memory, [QUESTION], [QUESTION]),
        command_ways([QUESTION], [QUESTION]),
        http_ways(memory.settings, [QUESTION], [QUESTION], []),
        mcp_ways([QUESTION]),
    )
    return {name: said for some in ways for name, said in some}


def test_every_search_tells_what_it_found_and_that_it_is_weak(told: dict[str, Any]) -> None:
    searches = {name: said for name, said in told.items() if SEARCHED.match(name)}
    assert len(searches) == 7, sorted(told)
    for name, said in searches.items():
        assert SAID in str(said), name
        hits = said if isinstance(said, str) else _hits(said)
        if isinstance(hits, str):
            assert "nly loosely related" in hits, name
        else:
            assert hits and all(hit["weak"] for hit in hits), name


def _hits(said: dict[str, Any]) -> list[dict[str, Any]]:
    found = said.get("recall", said)
    return found["results"] if "results" in found else found["hits"]


def test_every_answer_says_perhaps_and_names_its_source(told: dict[str, Any]) -> None:
    answers = {name: said for name, said in told.items() if ASKED.match(name)}
    assert len(answers) == 5, sorted(told)
    for name, said in answers.items():
        text = said if isinstance(said, str) else json.dumps(said)
        assert "Perhaps: " in text and SAID in text and "Not known" not in text, name
        assert re.search("low", text), name
        if isinstance(said, dict):
            assert said["weak"] and said["confidence"] == "low" and said["citations"], name
            assert not said["abstained"], name


def test_what_nobody_asked_for_has_nothing_weak(memory: Holdfast) -> None:
    assert SAID not in memory.briefs.goal_brief(QUESTION, bank="proj").text
    with pytest.raises(NotFoundError, match="nothing to hand over"):
        hand_off(memory, QUESTION, bank="proj")
    reflected = memory.opinions.reflect(QUESTION, bank="proj", store=False)
    assert reflected.abstained and reflected.citations == ()


def test_not_known_is_said_only_where_nothing_fits(memory: Holdfast) -> None:
    answer = memory.ask(UNRELATED, bank="proj")
    assert answer.abstained and not answer.weak and answer.citations == ()
    assert answer.answer == "Not known: memory has no record about this."
