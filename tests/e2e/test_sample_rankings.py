from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.recall.core.tuning import DEFAULT_WEIGHTS, RankingWeights
from tests.support.sample_rankings import (
    QUESTIONS,
    Rankings,
    memory_of_sample_sessions,
    rank_sample_questions,
    ranking_differences,
    read_rankings,
)

pytestmark = [pytest.mark.model, pytest.mark.slow]

RECORDED = Path(__file__).parents[1] / "recorded" / "rankings" / "tidewatch.json"


@pytest.fixture(scope="module")
def recorded() -> Rankings:
    return read_rankings(RECORDED.read_text("utf-8"))


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Holdfast]:
    with memory_of_sample_sessions(tmp_path_factory.mktemp("sample")) as opened:
        yield opened


def test_any_machine_ranks_the_sample_sessions_as_recorded(
    memory: Holdfast, recorded: Rankings
) -> None:
    differences = ranking_differences(recorded, rank_sample_questions(memory))

    assert differences == []
    assert all(tuple(of_questions) == QUESTIONS for of_questions in recorded.values())
    assert sum(len(hits) for found in recorded.values() for hits in found.values()) > 500


@pytest.mark.parametrize(
    ("search", "weights"),
    [
        ("by words", DEFAULT_WEIGHTS._replace(neighbour=0.14)),
        ("by meaning", DEFAULT_WEIGHTS._replace(meaning=0.44)),
        ("by meaning", DEFAULT_WEIGHTS._replace(soft=0.31)),
    ],
)
def test_the_recorded_rankings_notice_a_weight_that_is_off_by_a_hundredth(
    memory: Holdfast, recorded: Rankings, search: str, weights: RankingWeights
) -> None:
    some = QUESTIONS[:3]
    expected = {name: {q: found[q] for q in some} for name, found in recorded.items()}

    found = rank_sample_questions(memory, some, weights)

    differences = ranking_differences(expected, found)
    assert any(difference.startswith(search) for difference in differences)
