"""Answers that rest on synonyms of the question's words."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.model.query import Confidence
from holdfast.recall.core.plan import Budget, RecallPlan
from holdfast.research.answering.confidence import confidence_in
from tests.support.recall_bank import open_with_sessions, talk

pytestmark = pytest.mark.slow


def test_what_says_the_question_by_synonyms_alone_is_of_low_confidence(tmp_path: Path) -> None:
    said = talk(1, "2026-03-10", "Please delete the snapshot folder on halt.", "Done.")
    others = [talk(n, f"2026-03-{n}", f"Tidy drawer {n}.", "Tidy.") for n in range(11, 16)]
    with open_with_sessions(tmp_path, said, *others) as memory:
        bank = memory.context.bank_id("shop")
        plan = RecallPlan(budget=Budget.LOW)
        for question, confidence in (
            ("delete snapshot folder halt", Confidence.MEDIUM),
            ("remove backup directory stop", Confidence.LOW),
        ):
            hits = memory.search.recall_with_plan(question, "shop", plan).hits
            assert "snapshot folder" in hits[0].text
            assert confidence_in(memory.reader, bank, question, hits) is confidence
