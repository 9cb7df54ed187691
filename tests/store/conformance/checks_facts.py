"""Claims and facts: they are replaced with the session they are made of, and status changes can
be read as of any time."""

from __future__ import annotations

from dataclasses import replace

from holdfast.model.fact_history import fact_as_of, status_change_at
from holdfast.model.knowledge import (
    Claim,
    ClaimKind,
    EndedStatement,
    EndReason,
    EvidenceKind,
    Fact,
    FactEvidence,
    FactKind,
    Review,
    ReviewState,
    StatusChange,
    Validity,
)
from holdfast.model.ledgers.injections import RecordUse
from holdfast.model.query import Passage
from holdfast.model.trust import Status, Trust
from holdfast.store.across_tables.derived import HiddenTurn
from holdfast.store.across_tables.erasure import Erasure
from holdfast.store.knowledge.facts import DerivedFacts, FactWithPassage
from tests.store.conformance.samples import (
    BANK,
    NOON,
    OTHER,
    SESSION,
    MakeStore,
    a_tool_turn,
    a_turn,
    expect,
    prepared,
)

LATER = "2026-03-02T12:00:00.000Z"
_RULE = "Never moor at the north pier."


def a_claim(seq: int = 1, bank: str = BANK, text: str = _RULE) -> Claim:
    """A claim with something in every field."""
    turn = f"{SESSION}-turn-{seq}"
    return Claim(
        bank, f"claim-{seq}", SESSION, "x1", turn, seq, NOON, ClaimKind.RULING, text, Trust.USER,
        True, Status.VERIFIED, LATER, "holdfast://turn/t9", 0.5, 0.25, "a problem", "an error", 3,
        ("pier.py",),
    )  # fmt: skip


def a_fact(id: str = "f1", bank: str = BANK) -> Fact:
    """A fact with something in every field."""
    return Fact(
        bank, id, FactKind.RULE, _RULE, 0.9, Trust.USER, "a problem", 3, 1, LATER,
        Status.SUPERSEDED, Validity(NOON, LATER, NOON), ("holdfast://turn/t1",),
        ("holdfast://turn/t2",), ("holdfast://fact/f0",), "holdfast://fact/f2", ("pier.py",),
    )  # fmt: skip


def _known(fact: Fact) -> FactWithPassage:
    body = f"{fact.content} ({fact.id})"
    return FactWithPassage(
        fact, Passage(fact.bank, "fact", fact.id, "", NOON, body, trust=fact.trust)
    )


_LIVES = (
    StatusChange("fact", "f1", NOON, Status.OBSERVED, "holdfast://turn/t1"),
    StatusChange("fact", "f1", LATER, Status.SUPERSEDED, "holdfast://turn/t3"),
)
_BEARINGS = (
    FactEvidence("f1", NOON, "holdfast://turn/t1", EvidenceKind.STATED),
    FactEvidence("f1", LATER, "holdfast://turn/t2", EvidenceKind.BREACHED),
)
_REVIEW = Review(
    BANK, "r1", "contradiction", "holdfast://fact/f1", "five deeds", LATER, ("holdfast://turn/t2",),
    ReviewState.KEPT, LATER, "ada",
)  # fmt: skip


def check_claims_are_stored_complete_and_removed_with_their_source(make_store: MakeStore) -> None:
    with prepared(make_store) as store, store.transaction():
        claims = [a_claim(1), replace(a_claim(5), kind=ClaimKind.HYPOTHESIS)]
        store.derived.put(BANK, SESSION, claims)
        store.derived.put(OTHER, SESSION, [a_claim(1, OTHER)])
        expect(store.facts.claims(BANK), claims, "the claims of a bank")
        expect(store.facts.claims(BANK, SESSION), claims, "the claims of a session")
        expect(store.facts.claims(BANK, turns=[f"{SESSION}-turn-5"]), claims[1:], "those of a turn")
        expect(store.records.find(None, "claim", "claim-5"), claims[1:], "a claim by its id")
        store.derived.put(BANK, SESSION, [], first=2)
        expect(store.facts.claims(BANK), claims[:1], "the claims before the place that changed")
        store.derived.put(BANK, SESSION, [])
        expect(store.facts.claims(BANK), [], "the claims of a session that has none")
        expect(len(store.facts.claims(OTHER)), 1, "the claims of another bank")
        store.erasure.erase(Erasure(OTHER, sessions=(SESSION,)))
        expect(store.facts.claims(OTHER), [], "the claims of an erased session")


def check_the_facts_of_a_bank_are_replaced_as_a_whole(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            known = DerivedFacts(
                [_known(a_fact()), _known(a_fact("f2"))], _LIVES, _BEARINGS, [_REVIEW],
                [("short", 2)],
            )  # fmt: skip
            store.facts.replace(BANK, known)
            store.facts.replace(OTHER, DerivedFacts([_known(a_fact("f1", OTHER))]))
        expect(store.facts.all(BANK), [a_fact(), a_fact("f2")], "the facts")
        expect(store.records.find(BANK, "fact", "f1"), [a_fact()], "a fact by its id")
        expect(store.records.counts(BANK).facts, 2, "their number")
        expect(
            store.facts.status_changes(BANK, [("fact", "f1"), ("fact", "f2")]),
            [*_LIVES],
            "the lives",
        )
        expect(store.facts.evidence(BANK, "f1"), [*_BEARINGS], "what bears on it")
        expect(
            store.facts.stated_in(BANK, "holdfast://turn/t1"), [a_fact()], "what was stated there"
        )
        expect(
            store.facts.stated_in(BANK, "holdfast://turn/t2"), [], "what was only breached there"
        )
        expect(store.facts.reviews(None), [_REVIEW], "the reviews")
        expect(store.facts.dropped_claims(BANK), {"short": 2}, "what was dropped")
        expect(len(store.passages.search(BANK, ["moor"])), 2, "the facts by their words")
        with store.transaction():
            store.facts.replace(BANK, DerivedFacts([_known(a_fact("f2"))._replace(passage=None)]))
        expect(store.facts.all(BANK), [a_fact("f2")], "the facts that are left")
        expect(store.passages.search(BANK, ["moor"]), [], "a fact without a passage")
        expect(store.facts.status_changes(BANK, [("fact", "f1")]), [], "the lives of what is gone")
        expect(len(store.facts.all(OTHER)), 1, "the facts of another bank")


def check_a_rebuild_drops_facts(make_store: MakeStore) -> None:
    with prepared(make_store) as store, store.transaction():
        store.derived.put(BANK, SESSION, [a_claim()])
        store.facts.replace(BANK, DerivedFacts([_known(a_fact())], _LIVES, _BEARINGS, [_REVIEW]))
        for change in store.progress.unseen_changes(BANK, "facts", 1):
            store.progress.mark_seen(BANK, "facts", 1, change.number)
        store.derived.drop_all()
        expect(store.facts.claims(BANK), [], "the claims")
        expect(store.facts.all(None), [], "the facts")
        expect(store.facts.reviews(None), [], "the reviews")
        expect(store.passages.search(BANK, ["moor"]), [], "the words of facts")
        expect(store.progress.banks_behind("facts", 1), [BANK], "the banks that are behind")


def check_tool_calls_are_found_by_their_words(make_store: MakeStore) -> None:
    with prepared(make_store) as store, store.transaction():
        store.turns.put([a_tool_turn(1, "c1"), a_turn(2, "make test, please")])
        store.derived.put(BANK, SESSION, [])
        found = [turn.seq for turn in store.turns.tool_calls_matching(BANK, ["make", "npm"])]
        expect(found, [1], "the deeds with a word")
        expect(list(store.turns.tool_calls_matching(BANK, ["npm"])), [], "the deeds with another")
        expect(list(store.turns.tool_calls_matching(BANK, [])), [], "the deeds with none")


def check_uses_are_kept_as_long_as_their_turns(make_store: MakeStore) -> None:
    with prepared(make_store) as store, store.transaction():
        turn, other = a_turn(1, "Moored, as fact f1 says."), a_turn(2, "And as was remembered.")
        store.turns.put([turn, other])
        uses = [
            RecordUse("holdfast://fact/f1", SESSION, turn.id, turn.time),
            RecordUse("holdfast://memory/m1", SESSION, other.id, other.time),
        ]
        store.facts.put_uses(BANK, uses)
        store.facts.put_uses(BANK, uses)
        store.facts.put_uses(OTHER, uses)
        expect(store.facts.uses(BANK), uses, "what was of use")
        expect(store.facts.uses(OTHER), [], "what no turn of the bank shows")
        store.derived.put(BANK, SESSION, [HiddenTurn(turn.id)])
        expect(store.facts.uses(BANK), uses[1:], "what a forgotten turn shows")
        store.derived.put(BANK, SESSION, [])
        store.derived.drop_all()
        expect(store.facts.uses(BANK), uses, "what is kept when all is made again")
        store.erasure.erase(Erasure(BANK, memories=("m1",)))
        expect(store.facts.uses(BANK), uses[:1], "the use of an erased memory")
        said = RecordUse("holdfast://fact/f2", "mem-1", "", "2031-01-01T00:00:00.000Z")
        store.facts.put_uses(BANK, [said, said])
        expect(store.facts.uses(BANK), [uses[0], said], "what a person said was of use")
        store.erasure.erase(Erasure(BANK, turns=(turn.id,)))
        expect(store.facts.uses(BANK), [said], "the use that an erased turn showed")
        store.facts.drop_uses(BANK, said.record, "mem-2")
        store.facts.drop_uses(OTHER, said.record, said.session)
        expect(store.facts.uses(BANK), [said], "what was said in another investigation or bank")
        store.facts.drop_uses(BANK, said.record, said.session)
        expect(store.facts.uses(BANK), [], "what was taken back")


def check_status_history_can_be_read_as_of_a_time(make_store: MakeStore) -> None:
    with prepared(make_store) as store, store.transaction():
        store.facts.replace(BANK, DerivedFacts([_known(a_fact())], _LIVES, _BEARINGS))
        lives, bearings = (
            store.facts.status_changes(BANK, [("fact", "f1")]),
            store.facts.evidence(BANK, "f1"),
        )
        expect(status_change_at(lives, "2026-02-01"), None, "before it was learned")
        expect(status_change_at(lives, NOON), _LIVES[0], "when it was learned")
        expect(status_change_at(lives), _LIVES[1], "now")
        then = fact_as_of(a_fact(), lives, bearings, NOON)
        told = (then.status, then.superseded_by, then.validity.until, then.against)
        expect(told, (Status.OBSERVED, "", "", ()), "the fact as it stood")


def check_ended_statements_are_read_by_bank_and_session(make_store: MakeStore) -> None:
    """Those that ended everywhere come with any session, those of a session only with it."""
    everywhere = EndedStatement(
        SESSION, 1, 4, _RULE, NOON, LATER, EndReason.CORRECTED, "ada", "holdfast://fact/f1",
        "holdfast://fact/f1", "Moor at the north pier by day only.",
    )  # fmt: skip
    guess = EndedStatement(
        SESSION, 2, 3, "It was the tide.", NOON, NOON, EndReason.RETRACTED, "", "holdfast://turn/t2",
        everywhere=False,
    )  # fmt: skip
    with prepared(make_store) as store, store.transaction():
        store.facts.replace(BANK, DerivedFacts(ended=[everywhere, guess]))
        expect(store.facts.ended_statements(BANK), [everywhere], "what ended everywhere")
        both = store.facts.ended_statements(BANK, ["another", SESSION])
        expect(both, [guess, everywhere], "what ended everywhere and in a session, by time")
        expect(store.facts.ended_statements(OTHER, [SESSION]), [], "what ended in another bank")
        store.derived.drop_all()
        expect(store.facts.ended_statements(BANK, [SESSION]), [], "what is left for a rebuild")
