"""The figures for what was distilled, by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from holdfast.app.evaluation.distilled import Distilled, DistilledRecord, DistilledSession
from holdfast.app.evaluation.knowledge import ALIKE, measure_knowledge
from holdfast.app.evaluation.labels import LabelledItem, LabelledTitle, Labels
from holdfast.inference.embedder import Vectors
from holdfast.model.knowledge import Kind


class AngleEncoder:
    """An `Embedder` in a plane: the text "25" is the direction of 25 degrees. The cosine of 53
    degrees is 0.602, that of 54 degrees 0.588."""

    name = "angles"
    dimension = 2

    def embed(self, texts: Sequence[str]) -> Vectors:
        angles = np.radians([float(text) for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], 1).astype(np.float32)


def record(session: str, text: str, kind: Kind = Kind.FACT) -> DistilledRecord:
    return DistilledRecord(session, kind, text, f"holdfast://memory/{session}{text}", ())


LABELS = Labels(
    [
        LabelledItem("a", Kind.LESSON, "0", 3),
        LabelledItem("a", Kind.RULE, "107", 2),
        LabelledItem("a", Kind.RULE, "160", 1),
        LabelledItem("b", Kind.LESSON, "0", 2),
        LabelledItem("b", Kind.TODO, "90", 3),
        LabelledItem("gone", Kind.FACT, "10", 2),
    ],
    [LabelledTitle("a", "0"), LabelledTitle("b", "0"), LabelledTitle("gone", "0")],
)
DISTILLED = Distilled(
    (
        record("a", "53"),  # says the lesson (53°), but not the rule (54°)
        record("a", "200"),  # says the rule of weight 1 only
        record("a", "270"),  # says nothing that is labelled
        record("bank__b", "91"),  # says the todo
        record("b", "300"),  # 60 degrees off the lesson
        record("c", "0"),  # of a session without labels
    ),
    (
        DistilledSession("a", "30", ""),
        DistilledSession("b", "70", ""),
        DistilledSession("c", "0", ""),
    ),
)


def test_the_figures_are_those_worked_out_by_hand() -> None:
    found = measure_knowledge(LABELS, DISTILLED, AngleEncoder(), ["gone"])
    assert found.recall == pytest.approx(2 / 5)
    assert found.precision == pytest.approx(3 / 5)
    assert found.recall_weight_3 == pytest.approx(2 / 2)
    assert found.recall_by_kind == {"fact": 0, "lesson": 1 / 2, "rule": 1 / 2, "todo": 1}
    assert list(found.recall_by_kind) == ["fact", "lesson", "rule", "todo"]
    assert found.titles_alike == pytest.approx(1 / 2)
    assert (found.items, found.all_items, found.items_weight_3) == (5, 6, 2)
    assert found.items_by_kind == {"fact": 1, "lesson": 2, "rule": 2, "todo": 1}
    assert (found.records, found.sessions, found.titles) == (5, 3, 2)
    assert (found.threshold, found.encoder, ALIKE) == (0.6, "angles", 0.6)
    assert found.sessions_without_transcript == ("gone",)


def test_a_record_counts_for_its_own_session_only() -> None:
    elsewhere = Distilled((record("b", "107"),), ())
    found = measure_knowledge(LABELS, elsewhere, AngleEncoder())
    assert found.recall == pytest.approx(1 / 5) and found.recall_by_kind["rule"] == 0


def test_the_kind_of_a_record_is_not_compared() -> None:
    kinds = [
        measure_knowledge(LABELS, Distilled((record("a", "0", kind),), ()), AngleEncoder())
        for kind in (Kind.LESSON, Kind.TODO)
    ]
    assert kinds[0] == kinds[1] and kinds[0].precision == 1


def test_nothing_distilled_is_no_recall_and_no_precision() -> None:
    found = measure_knowledge(LABELS, Distilled((), ()), AngleEncoder())
    assert (found.recall, found.precision, found.titles_alike) == (0, 0, None)
    assert (found.records, found.titles) == (0, 0)


def test_what_labels_do_not_allow_is_not_measured() -> None:
    light = Labels([LabelledItem("a", Kind.RULE, "0", 1)], [])
    found = measure_knowledge(light, Distilled((record("a", "0"),), ()), AngleEncoder())
    assert (found.recall, found.recall_weight_3, found.titles_alike) == (None, None, None)
    assert (found.precision, found.recall_by_kind) == (1, {"rule": 1})


def test_progress_counts_every_text() -> None:
    told: list[tuple[int, int]] = []
    many = Distilled(tuple(record("a", str(angle)) for angle in range(60)), ())
    measure_knowledge(
        LABELS, many, AngleEncoder(), progress=lambda done, total: told.append((done, total))
    )
    assert told == [(32, 66), (64, 66), (66, 66)]


def test_limits_tell_of_few_items_missing_sessions_and_unread_lines() -> None:
    found = measure_knowledge(LABELS, DISTILLED, AngleEncoder(), ["gone"], failed_lines=2)
    said = " ".join(found.cannot_claim)
    assert "Only 5 items of weight 2 or 3" in said
    assert "1 labelled session" in said and "gone" in said
    assert "2 lines of the set could not be read" in said
