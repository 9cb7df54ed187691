"""Answers that rest on synonyms of the question's words."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.language import stem
from holdfast.model.query import Confidence, Hit, Layer
from holdfast.recall.core.plan import Budget, RecallPlan
from holdfast.recall.core.relevance import coverage
from holdfast.recall.query.terms import read_terms
from holdfast.research.answering.confidence import confidence_in
from holdfast.research.answering.sentence_choice import choose_part, read_question
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


def test_the_sentence_is_quoted_that_says_the_question_in_other_words(tmp_path: Path) -> None:
    reply = (
        "The harbour page has a new frame around it, and its parts are removed one by one.\n\n"
        "Each entry of the harbour list has a button that deletes it after a question.\n\n"
        + "The list of piers is read from a file that the harbour office writes at night. "
        * 6
    )
    said = talk(1, "2026-03-10", "Look at the harbour list.", reply)
    with open_with_sessions(tmp_path, said) as memory:
        answer = memory.ask("How do I remove an entry of the harbour list?", "shop").answer
    assert "deletes it after a question" in answer.split("\n")[0]


@pytest.mark.parametrize(
    ("question", "sentence", "says_it"),
    [
        ("How do I start the server?", "Run `harbour serve` in the folder.", True),
        ("How do I install the hooks?", "Run `harbour setup` for the hooks.", True),
        ("How do I remove the hooks?", "Run `harbour uninstall` for the hooks.", True),
        ("Which folder has the entries?", "The entries are in the directory `out`.", True),
        ("How do I remove the hooks?", "Run `harbour serve` for the hooks.", False),
    ],
)
def test_a_word_that_is_said_by_another_term_counts_in_part(
    question: str, sentence: str, says_it: bool
) -> None:
    weights = {stem(word): 1.0 for word in read_terms(question).words}
    hit = Hit("holdfast://memory/1", "memory", Layer.OBSERVATIONS, 1.0, sentence, "", "", "shop")
    covered = choose_part(hit, read_question(question, weights), by_person=False).covered
    by_words = coverage(weights, sentence)
    assert by_words == 0.5
    assert (covered > by_words) is says_it and covered < 1.0
