"""Statements of one session that say the same are one, with the messages of all as its sources."""

from __future__ import annotations

import numpy as np
import pytest

from holdfast.model.knowledge import Kind
from holdfast.model.records import Role, Turn
from holdfast.model.trust import Trust
from holdfast.refine.distil.distil import distil
from holdfast.refine.distil.features import Candidate, Numbers
from holdfast.refine.distil.joining import join
from holdfast.refine.distil.selector import Scored, SelectionLimits, packaged_selector
from holdfast.refine.distil.statements import Statement
from holdfast.refine.distil.utterances import Place, Utterance
from holdfast.refine.distil.wording import Context

FINDING = "The importer of the ledger loads every batch twice after a timeout of the harbour office"
SUMMARY = (
    "Rows came twice because the importer of the ledger loads each batch again after a timeout of "
    "the harbour office"
)
OTHER = "The crane sheet is printed on paper of the old format since the printer was replaced"


def said(text: str, number: int, role: Role = Role.ASSISTANT) -> Utterance:
    trust = Trust.USER if role is Role.USER else Trust.ASSISTANT
    turn = Turn("bank", f"t{number}", "s", number, "2026-05-01T10:00:00Z", role, trust, text)
    return Utterance(turn, text, Place.REPLY, role is Role.USER)


def scored(text: str, number: int, score: float, position: int = 0) -> Scored:
    statement = Statement(text, "", "", False, True, position, 1, 9)
    return Scored(Candidate(number, statement), score, Kind.FACT)


def joined(
    *texts: str, roles: tuple[Role, ...] = (), vectors: Numbers | None = None
) -> list[tuple[str, tuple[int, ...]]]:
    """What is left of statements, the best first as given, each in its own message."""
    roles = roles or (Role.ASSISTANT,) * len(texts)
    utterances = [
        said(text, n, role) for n, (text, role) in enumerate(zip(texts, roles, strict=True))
    ]
    given = [scored(text, n, -float(n)) for n, text in enumerate(texts)]
    found = join(given, utterances, -100.0, vectors)
    return [(one.candidate.statement.text, one.further) for one in found]


def test_what_several_messages_say_is_one_statement_with_all_of_them_as_sources() -> None:
    commit = "Load a batch of the ledger once, although the importer runs into a timeout twice"
    assert joined(SUMMARY, OTHER, FINDING, commit) == [(SUMMARY, (2, 3)), (OTHER, ())]


@pytest.mark.parametrize("first", [0, 1])
def test_the_statement_that_says_more_stands_for_both(first: int) -> None:
    longer = FINDING + ", which the monthly report of the tenants counts as two invoices"
    texts = (longer, FINDING) if first == 0 else (FINDING, longer)
    assert joined(*texts) == [(longer, (1 - first,))]


@pytest.mark.parametrize(
    "other",
    [
        FINDING.replace("twice", "not twice"),
        FINDING.replace("every batch", "batch 7"),
        FINDING.replace("every batch", "batch 7").replace("importer", "exporter"),
    ],
)
def test_other_numbers_and_negations_are_not_lost(other: str) -> None:
    alike = FINDING.replace("every batch", "batch 8")
    assert joined(alike, other) == [(alike, ()), (other, ())]


@pytest.mark.parametrize("place", [Place.REPLY, Place.COMMIT])
def test_the_report_that_a_plan_was_done_stands_for_the_plan(place: Place) -> None:
    plan = "Replace the importer of the ledger so that each batch of the office is loaded once"
    plan += " after a timeout, with a new column for the tenant and a longer pause"
    done = "The importer of the ledger now loads each batch of the office once after a timeout"
    utterances = [said(plan, 0)._replace(place=place), said(done, 1)]
    (found,) = join([scored(plan, 0, 1.0), scored(done, 1, 0.0)], utterances, -100.0)
    assert found.candidate.statement.text == (plan if place is Place.COMMIT else done)
    assert found.score == 1.0


@pytest.mark.parametrize("kind", [Kind.OUTCOME, Kind.FACT])
def test_a_report_that_takes_back_a_part_stands_for_the_one_before_it(kind: Kind) -> None:
    done = "The importer of the ledger loads each batch of the office once, retries after a timeout"
    done += " and writes a column for the tenant"
    later = "Reverted: the importer of the ledger loads each batch of the office after a timeout"
    given = [scored(text, n, 1.0 - n)._replace(kind=kind) for n, text in enumerate((done, later))]
    (found,) = join(given, [said(done, 0), said(later, 1)], -100.0)
    stands = 1 if kind is Kind.OUTCOME else 0
    assert found.candidate.utterance == stands and found.further == (1 - stands,)


def test_a_path_that_both_name_is_one_word() -> None:
    path = "src/harbour/office/ledger/importer/batches/loader.py"
    texts = (f"The retry of `{path}` was removed", f"Tests of `{path}` need a database")
    assert joined(*texts) == [(text, ()) for text in texts]


def test_items_of_one_message_and_words_of_people_stay_apart() -> None:
    utterances = [said(f"{FINDING}. {SUMMARY}.", 0)]
    items = [scored(FINDING, 0, 1.0), scored(SUMMARY, 0, 0.0, position=1)]
    assert join(items, utterances, -100.0) == items
    assert len(joined(SUMMARY, FINDING, roles=(Role.ASSISTANT, Role.USER))) == 2


def test_statements_that_are_far_by_vectors_stay_apart() -> None:
    near = np.array([[1, 0], [0.8, 0.6]], np.float32)
    assert len(joined(SUMMARY, FINDING, vectors=near)) == 1
    assert len(joined(SUMMARY, FINDING, vectors=np.eye(2, dtype=np.float32))) == 2


def test_no_longer_form_of_a_joined_statement_comes_back() -> None:
    utterances = [said(SUMMARY, 0), said(f"{FINDING}. {OTHER}.", 1)]
    both = scored(f"{FINDING}. {OTHER}.", 1, -2.0)
    both = both._replace(
        candidate=Candidate(1, both.candidate.statement._replace(length=2)),
    )
    given = [scored(SUMMARY, 0, 1.0), scored(FINDING, 1, 0.0), both, scored(OTHER, 1, -3.0, 1)]
    found = [one.candidate.statement.text for one in join(given, utterances, -100.0)]
    assert found == [SUMMARY, OTHER]


def distilled(most: int, told: str = "") -> list[tuple[str, list[str]]]:
    texts = [
        "Find out why the rows of the ledger come twice and fix the cause.",
        f"{FINDING}.",
        f"{SUMMARY}.",
        f"{OTHER}.",
    ]
    turns = [said(text, n, Role.ASSISTANT if n else Role.USER).turn for n, text in enumerate(texts)]
    found = distil(
        turns,
        Context(),
        packaged_selector(),
        SelectionLimits(threshold=-100.0, most=most),
        is_told=lambda one, _: told in one.candidate.statement.text if told else False,
    )
    return [(one.said, [turn.id for turn in (one.turn, *one.further)]) for one in found]


def test_a_joined_statement_leaves_its_place_to_another_one() -> None:
    found = distilled(most=3)
    assert sum("importer of the ledger" in text for text, _ in found) == 1
    assert any(sorted(turns) == ["t1", "t2"] for _, turns in found)
    assert any("crane sheet" in text for text, _ in found)


def test_what_another_record_tells_takes_no_place() -> None:
    (before,) = distilled(most=1)
    (after,) = distilled(most=1, told="batch")
    assert "batch" in before[0]
    assert "batch" not in after[0]
