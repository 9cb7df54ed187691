"""Rules, patterns, proposals and refusals."""

from __future__ import annotations

from dataclasses import replace

from tests.store.conformance.samples import BANK, NOON, OTHER, SESSION, MakeStore, expect, prepared

from holdfast.model.knowledge import Pattern, Proposal, ProposalKind, Refusal, Rule
from holdfast.model.query import Layer, Passage
from holdfast.model.trust import Status, Trust
from holdfast.store.protocol.curation import Erasure
from holdfast.store.protocol.rules import ReadRuleFile, Statement

_FILE = ReadRuleFile("/p/CLAUDE.md", "/p", "1-2-3", "abc")
_RULE = Rule(BANK, "r1", "CLAUDE.md", "Tests", "Use okapi", "testing", ("a/**",), line=3)
_PATTERN = Pattern(
    BANK, "p1", "Use okapi.", "testing", 0.95, 3, Trust.USER, ("s1", "s2"), ("user",),
    ("holdfast://turn/t1",), (), ("a.py",), NOON, True,
)  # fmt: skip
_PROPOSAL = Proposal(
    BANK, "o1", ProposalKind.PROMOTE, "holdfast://pattern/p1", "Use okapi.", "testing",
    ".claude/rules/testing.md", "stated", NOON, Trust.USER, ("a/**",), ("holdfast://turn/t1",), "x",
)  # fmt: skip
_STATED = Statement(
    BANK, "holdfast://turn/t1", 0, SESSION, "session s", "user", NOON, "Use okapi.", Trust.USER,
    True, False, "okapi", ("a.py",),
)  # fmt: skip
_REFUSAL = Refusal(7, "holdfast://pattern/p1", "Use okapi.", "no", NOON, "ann", (_STATED.uri,))


def _passage(rule: Rule) -> Passage:
    return Passage(
        rule.bank, "rule", rule.id, "", "", rule.text, "", Trust.TEAM, Status.VERIFIED, hash="h"
    )


def check_the_rules_of_a_bank_are_replaced_as_a_whole(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            gone = replace(_RULE, id="r0", heading="Gone")
            store.put_rules(BANK, [_FILE], [(_RULE, _passage(_RULE)), (gone, _passage(gone))])
            store.put_rules(BANK, [_FILE], [(_RULE, _passage(_RULE))])
        expect(store.rules(BANK), [_RULE], "the rules")
        expect(store.rules(OTHER), [], "the rules of another bank")
        expect(store.rule_files(BANK), [_FILE], "the files")
        expect(store.find(None, "rule", "r"), [_RULE], "a rule by its name")
        found = store.search(BANK, ["okapi"], [Layer.RULES])
        expect([m.passage.id for m in found], ["r1"], "search in rules")
        expect(store.search(OTHER, ["okapi"], [Layer.RULES]), [], "search elsewhere")


def check_patterns_and_proposals_come_back_as_they_were(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.put_statements(BANK, SESSION, [_STATED])
            store.put_patterns(BANK, [_PATTERN])
            store.put_proposal(_PROPOSAL)
            store.put_proposal(replace(_PROPOSAL, base="y"))
            store.put_refusal(BANK, _REFUSAL)
        expect(store.statements(BANK), [_STATED], "the statements")
        expect(store.patterns(BANK), [_PATTERN], "the patterns")
        expect(store.find(BANK, "pattern", "p1"), [_PATTERN], "a pattern by its name")
        expect(store.proposals(BANK), [replace(_PROPOSAL, base="y")], "the proposals")
        expect(store.refusals(BANK), [_REFUSAL], "the refusals")
        expect(store.patterns(OTHER), [], "the patterns of another bank")
        with store.transaction():
            store.drop_proposal(BANK, "o1")
            store.put_statements(BANK, SESSION, [])
        expect(store.proposals(BANK), [], "the proposals that are left")
        expect(store.statements(BANK), [], "the statements that are left")


def check_dropping_what_is_derived_keeps_refusals(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.put_rules(BANK, [_FILE], [(_RULE, _passage(_RULE))])
            store.put_patterns(BANK, [_PATTERN])
            store.put_proposal(_PROPOSAL)
            store.put_refusal(BANK, _REFUSAL)
            store.drop_derived()
        left = [*store.rules(BANK), *store.rule_files(BANK), *store.patterns(BANK)]
        expect([*left, *store.proposals(BANK)], [], "what is derived")
        expect(store.search(BANK, ["okapi"]), [], "what is found")
        expect(store.refusals(BANK), [_REFUSAL], "what people decided")


def check_erasing_leaves_no_word_of_what_was_stated(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.put_statements(BANK, SESSION, [_STATED])
            store.put_patterns(BANK, [_PATTERN])
            store.put_proposal(_PROPOSAL)
            store.put_refusal(BANK, _REFUSAL)
            store.put_refusal(BANK, _REFUSAL._replace(seq=8, evidence=()))
            store.erase(Erasure(BANK, turns=("t1",)))
        left = [*store.statements(BANK), *store.patterns(BANK), *store.proposals(BANK)]
        expect(left, [], "what was made of it")
        expect([refusal.seq for refusal in store.refusals(BANK)], [8], "the refusals")
