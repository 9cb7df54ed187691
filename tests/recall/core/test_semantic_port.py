from __future__ import annotations

import pytest

from holdfast.model.query import Passage
from holdfast.model.trust import Status, Trust
from holdfast.recall.core.candidates import ScoredPassage
from holdfast.recall.core.semantic_port import by_session, session_cosine, typical_cosine


def scored(session: str, score: float, kind: str = "turn") -> ScoredPassage:
    passage = Passage(
        bank="b",
        kind=kind,
        id=f"{session}-{score}",
        session=session,
        time="2026-01-01T00:00:00Z",
        body="text",
        trust=Trust.USER,
        status=Status.OBSERVED,
    )
    return ScoredPassage(passage, score)


def nearest(*cosines: float) -> list[ScoredPassage]:
    """Three equal passages of one session for each cosine, nearest first."""
    ranked = sorted(enumerate(cosines), key=lambda one: -one[1])
    return [scored(f"s{number}", cosine) for number, cosine in ranked for _ in range(3)]


def test_the_typical_cosine_is_the_median_over_sessions() -> None:
    found = by_session(nearest(0.9, 0.5, 0.4, 0.4, 0.3, 0.2, 0.2, 0.1))
    assert typical_cosine(found) == pytest.approx(0.35)


def test_one_long_session_does_not_raise_the_typical_cosine() -> None:
    long = [scored("s0", 0.9) for _ in range(100)]
    found = by_session([*long, *nearest(0.9, 0.5, 0.4, 0.4, 0.3, 0.2, 0.2, 0.1)])
    assert typical_cosine(found) == pytest.approx(0.35)


def test_few_sessions_have_no_typical_cosine() -> None:
    assert typical_cosine(by_session(nearest(0.9, 0.5, 0.4))) is None
    assert typical_cosine({}) is None


def test_passages_that_a_session_lacks_count_as_the_least_of_all() -> None:
    assert session_cosine([scored("s", 0.8)], 0.2) == pytest.approx(0.4)


def test_records_of_no_session_are_left_out() -> None:
    found = by_session([scored("", 0.9, "commit"), scored("s", 0.8), scored("s", 0.7, "fact")])
    assert [len(passages) for passages in found.values()] == [1]
