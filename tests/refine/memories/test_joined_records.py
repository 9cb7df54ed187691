"""Memories of one session that tell the same matter are one, with the sources of all."""

from __future__ import annotations

import pytest

from holdfast.model.knowledge import Kind, Network
from holdfast.model.opinions import MemoryOccurrence
from holdfast.model.trust import Trust
from holdfast.refine.memories.joined_records import join_records

FIX = "The importer of the ledger loads every batch once, also after a timeout of the office"
OTHER = "The crane sheet is printed on paper of the old format since the printer was replaced"


def memory(
    what: str,
    number: int,
    kind: Kind | None = Kind.FACT,
    *,
    trust: Trust = Trust.ASSISTANT,
    worth: float | None = 0.0,
    message: str = "",
) -> MemoryOccurrence:
    """A memory of the exchange with this number, stated in a message of its own."""
    network = Network.EXPERIENCE if kind is Kind.OUTCOME else Network.WORLD
    evidence = (f"holdfast://exchange/x{number}", f"holdfast://turn/{message or f't{number}'}")
    key = f"{network.value}:matter:{number}"
    return MemoryOccurrence(
        key, number, f"2026-05-0{number}", network, what, trust, evidence=evidence, kind=kind,
        worth=worth,
    )  # fmt: skip


def by_rules(what: str, number: int) -> MemoryOccurrence:
    return memory(what, number, Kind.OUTCOME, trust=Trust.TOOL, worth=None)


def person(what: str, number: int, kind: Kind = Kind.DECISION) -> MemoryOccurrence:
    return memory(what, number, kind, trust=Trust.USER)


def texts(found: list[MemoryOccurrence]) -> list[str]:
    return [one.what for one in found]


def test_a_commit_is_joined_to_the_statement_that_says_more_and_proves_an_outcome() -> None:
    commit = by_rules(
        "Committed “fix(ledger): load every batch of the ledger once after a timeout” in "
        "ledger/importer.py and 3 more; the tests pass",
        1,
    )
    stated = memory(FIX, 2)
    (kept,) = join_records([commit, memory(FIX, 2)])
    assert kept.what == FIX
    assert kept.evidence == (*stated.evidence, *commit.evidence)
    assert (kept.kind, kept.network) == (Kind.OUTCOME, Network.EXPERIENCE)
    assert kept.key == "experience:matter:2"
    assert kept.trust is Trust.TOOL or kept.trust is Trust.ASSISTANT


def test_a_commit_is_joined_neither_to_the_request_nor_to_the_cause_of_what_it_ended() -> None:
    commit = by_rules("Committed “Load every batch of the ledger once after a timeout”", 2)
    cause = memory(f"{FIX} no more, since the office closed", 1, Kind.LESSON)
    order = person(f"Find out first who is told, then: {FIX} of 45 minutes", 1)
    for other in (cause, order):
        assert join_records([other, commit]) == [other, commit]


@pytest.mark.parametrize(
    ("subject", "kept"),
    [
        ("docs: describe the importer", False),
        ("Add pages about the importer", False),
        ("fix(ledger): close the cursor of each tenant", True),
    ],
)
def test_a_bare_commit_gives_way_to_what_the_agent_says_of_its_exchange(
    subject: str, kept: bool
) -> None:
    commit = by_rules(f"Committed “{subject}”", 2)
    told = memory("Both guides say now how to restore a backup of a tenant.", 2, Kind.OUTCOME)
    told = told._replace(key="experience:matter:told")
    other = memory("The old queue was removed from both services.", 3, Kind.OUTCOME)

    found = join_records([commit, told, other])

    assert texts(found) == [*([commit.what] if kept else []), told.what, other.what]
    (told_now,) = (one for one in found if one.what == told.what)
    sources = set(told.evidence) if kept else {*told.evidence, *commit.evidence}
    assert set(told_now.evidence) == sources
    assert commit in join_records([commit, other])


def test_a_statement_that_adds_nothing_to_a_commit_is_joined_to_it() -> None:
    commit = by_rules(f"Committed “{FIX} was closed”", 1)
    stated = memory("Every batch of the ledger loads once after a timeout", 2, Kind.OUTCOME)
    (kept,) = join_records([commit, stated])
    assert kept.what == commit.what
    assert set(stated.evidence) <= set(kept.evidence)


def test_the_words_of_a_person_stand_for_those_of_an_agent_that_repeats_them() -> None:
    said = person("The importer must load every batch of the ledger once after a timeout", 1)
    repeated = memory("I load every batch of the ledger once after a timeout of the importer", 2)
    for order in ([said, repeated], [repeated, said]):
        (kept,) = join_records(order)
        assert (kept.what, kept.trust, kept.kind) == (said.what, Trust.USER, Kind.DECISION)
        assert kept.evidence == (*said.evidence, *repeated.evidence)


def test_an_agent_that_tells_what_the_user_wants_is_a_source_of_the_request() -> None:
    asked = person("Ledger rows of May must be loaded once", 1)
    retold = memory("The user is asking about rows. Each should be read a single time.", 1)
    (kept,) = join_records([retold._replace(key="k"), asked])
    assert kept.what == asked.what and set(retold.evidence) <= set(kept.evidence)
    assert len(join_records([retold, person("Ledger rows of May must be loaded once", 2)])) == 2


def test_the_report_that_something_was_done_stands_for_the_request() -> None:
    asked = person("Load every batch of the ledger once after a timeout", 1)
    done = memory(f"{FIX}; rows that came twice in May were removed from 3 tables", 2, Kind.OUTCOME)
    (kept,) = join_records([asked, done])
    assert (kept.what, kept.trust) == (done.what, Trust.ASSISTANT)
    assert set(asked.evidence) <= set(kept.evidence)


def test_a_person_and_an_agent_that_says_much_more_are_two() -> None:
    said = person("Every batch of the ledger loads twice after a timeout", 1, Kind.FACT)
    more = memory(
        f"Every batch of the ledger loads twice after a timeout: {OTHER}, and the harbour master "
        "counts vessels by their flag, cargo, berth, draught, tonnage and season",
        2,
    )
    assert len(join_records([said, more])) == 2


def test_a_sentence_is_joined_to_the_list_that_quotes_it() -> None:
    item = memory("Lanterns of the mole do not burn out in storms", 1, message="same")
    whole = memory(
        "Lanterns of the mole do not burn out in storms; masts are painted; ropes hold",
        1,
        message="same",
    )
    assert texts(join_records([item, whole._replace(key="k")])) == [whole.what]


def test_items_of_one_list_are_not_joined_by_their_lead() -> None:
    lead = "Separate settings of the harbour office for every kind of vessel"
    one = memory(f"{lead}: ferries berth at the northern mole", 1, message="same")
    other = memory(f"{lead}: tugs wait beside the fuel pier", 1, message="same")
    assert len(join_records([one, other._replace(key="k")])) == 2


def test_what_takes_back_an_outcome_stands_for_it() -> None:
    done = memory(f"{FIX}, and rows that came twice in May are gone", 1, Kind.OUTCOME)
    undone = memory(
        "Reverted: the importer of the ledger loads every batch after a timeout", 2, Kind.OUTCOME
    )
    (kept,) = join_records([done, undone])
    assert kept.what == undone.what
    assert set(done.evidence) <= set(kept.evidence)


def test_other_numbers_negations_tasks_and_patterns_are_not_joined() -> None:
    base = memory(f"{FIX} in 3 tables", 1)
    number = memory(f"{FIX} in 4 tables", 2)
    negated = memory("The importer of the ledger does not load every batch once after a timeout", 3)
    task = memory(f"Check that {FIX} in 3 tables", 4, Kind.TODO)
    pattern = memory(f"{FIX} in 3 tables of the harbour", 5, None)
    found = [base, number, negated, task, pattern]
    assert join_records(found) == found


def test_memories_of_different_matters_stay_in_their_order() -> None:
    found = [memory(OTHER, 1), memory(FIX, 2)]
    assert join_records(found) == found
