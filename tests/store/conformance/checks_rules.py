"""Rules, patterns, proposals and refusals."""

from __future__ import annotations

from dataclasses import replace

from holdfast.model.knowledge import Pattern, Proposal, ProposalKind, Refusal, Rule
from holdfast.model.query import Layer, Passage
from holdfast.model.trust import Status, Trust
from holdfast.store.across_tables.erasure import Erasure
from holdfast.store.knowledge.rules import ReadRuleFile, Statement
from tests.store.conformance.samples import BANK, NOON, OTHER, SESSION, MakeStore, expect, prepared

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
            store.rules.put(BANK, [_FILE], [(_RULE, _passage(_RULE)), (gone, _passage(gone))])
            store.rules.put(BANK, [_FILE], [(_RULE, _passage(_RULE))])
        expect(store.rules.all(BANK), [_RULE], "the rules")
        expect(store.rules.all(OTHER), [], "the rules of another bank")
        expect(store.rules.files(BANK), [_FILE], "the files")
        expect(store.records.find(None, "rule", "r"), [_RULE], "a rule by its name")
        found = store.passages.search(BANK, ["okapi"], [Layer.RULES])
        expect([m.passage.id for m in found], ["r1"], "search in rules")
        expect(store.passages.search(OTHER, ["okapi"], [Layer.RULES]), [], "search elsewhere")


def check_patterns_and_proposals_are_returned_unchanged(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.rules.put_statements(BANK, SESSION, [_STATED])
            store.rules.put_patterns(BANK, [_PATTERN])
            store.rules.put_proposal(_PROPOSAL)
            store.rules.put_proposal(replace(_PROPOSAL, base="y"))
            store.rules.put_refusal(BANK, _REFUSAL)
        expect(store.rules.statements(BANK), [_STATED], "the statements")
        expect(store.rules.patterns(BANK), [_PATTERN], "the patterns")
        expect(store.records.find(BANK, "pattern", "p1"), [_PATTERN], "a pattern by its name")
        expect(store.rules.proposals(BANK), [replace(_PROPOSAL, base="y")], "the proposals")
        expect(store.rules.refusals(BANK), [_REFUSAL], "the refusals")
        expect(store.rules.patterns(OTHER), [], "the patterns of another bank")
        with store.transaction():
            store.rules.drop_proposal(BANK, "o1")
            store.rules.put_statements(BANK, SESSION, [])
        expect(store.rules.proposals(BANK), [], "the proposals that are left")
        expect(store.rules.statements(BANK), [], "the statements that are left")


def check_dropping_derived_rows_keeps_rejections(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.rules.put(BANK, [_FILE], [(_RULE, _passage(_RULE))])
            store.rules.put_patterns(BANK, [_PATTERN])
            store.rules.put_proposal(_PROPOSAL)
            store.rules.put_refusal(BANK, _REFUSAL)
            store.derived.drop_all()
        left = [*store.rules.all(BANK), *store.rules.files(BANK), *store.rules.patterns(BANK)]
        expect([*left, *store.rules.proposals(BANK)], [], "what is derived")
        expect(store.passages.search(BANK, ["okapi"]), [], "what is found")
        expect(store.rules.refusals(BANK), [_REFUSAL], "what people decided")


def check_erasing_leaves_no_text_of_a_statement(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.rules.put_statements(BANK, SESSION, [_STATED])
            store.rules.put_patterns(BANK, [_PATTERN])
            store.rules.put_proposal(_PROPOSAL)
            store.rules.put_refusal(BANK, _REFUSAL)
            store.rules.put_refusal(BANK, _REFUSAL._replace(seq=8, evidence=()))
            store.erasure.erase(Erasure(BANK, turns=("t1",)))
        left = [
            *store.rules.statements(BANK),
            *store.rules.patterns(BANK),
            *store.rules.proposals(BANK),
        ]
        expect(left, [], "what was made of it")
        expect([refusal.seq for refusal in store.rules.refusals(BANK)], [8], "the refusals")
