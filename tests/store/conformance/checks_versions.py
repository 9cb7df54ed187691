"""Versions of derived rows and summaries: outdated ones are listed until they are made again."""

from __future__ import annotations

from dataclasses import replace

from holdfast.model.ledgers.model_calls import ModelSummary
from holdfast.model.trust import Status
from holdfast.store.across_tables.erasure import Erasure
from holdfast.store.protocol import Store
from tests.store.conformance.samples import (
    BANK,
    NOON,
    OTHER,
    SESSION,
    MakeStore,
    a_digest,
    a_session,
    an_exchange,
    expect,
    prepared,
)

_MADE = ModelSummary(BANK, "h1", 1, "exchange", "x1", 1, "m", NOON, '{"title": "t"}')


def _older(store: Store, rules: int) -> list[tuple[str, str]]:
    found = store.versions.outdated_sessions(rules)
    expect(store.versions.count_outdated_sessions(rules), len(found), "the count of what is older")
    return [(one.bank, one.session) for one in found]


def check_sessions_derived_by_older_rules_are_listed(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        expect(store.versions.of_session(BANK, SESSION), 0, "the rules of what was never made")
        with store.transaction():
            store.sessions.add(replace(a_session(id="s2"), ended=NOON))
            store.versions.record(BANK, SESSION, 1)
            store.versions.record(BANK, "s2", 2)
        expect(store.versions.of_session(BANK, "s2"), 2, "the rules")
        expect(_older(store, 1), [(OTHER, SESSION)], "what is older than version 1")
        expect(_older(store, 3)[0], (BANK, "s2"), "the latest of what is older")
        expect(len(store.versions.outdated_sessions(3, limit=2)), 2, "as many as asked for")
        with store.transaction():
            store.derived.drop_all()
        expect(len(_older(store, 1)), 3, "what is older after all was dropped")


def check_the_rules_version_of_an_erased_session_is_removed(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.versions.record(BANK, SESSION, 1)
            store.erasure.erase(Erasure(BANK, sessions=(SESSION,)))
        expect(store.versions.of_session(BANK, SESSION), 0, "the rules of an erased session")
        expect(_older(store, 9), [(OTHER, SESSION)], "what is older")


def check_summaries_by_an_older_prompt_are_listed(make_store: MakeStore) -> None:
    def asked_anew() -> list[str]:
        return [one.session for one in store.versions.outdated_summaries(2)]

    with prepared(make_store) as store:
        exchange = replace(an_exchange("x1"), author="m")
        by_rules, digest = an_exchange("x2"), replace(a_digest("d1"), author="m")
        last = exchange.last_seq
        with store.transaction():
            store.derived.put(BANK, SESSION, [exchange, by_rules, digest])
            store.summaries.put(replace(_MADE, last_seq=last), SESSION, 1)
        expect(asked_anew(), [SESSION], "a summary in an older way")
        with store.transaction():
            store.derived.put(BANK, SESSION, [replace(exchange, status=Status.VERIFIED), digest])
        expect(asked_anew(), [], "what a person said anew")
        with store.transaction():
            store.derived.put(BANK, SESSION, [exchange, replace(digest, author="")])
            anew = replace(_MADE, hash="h2", version=2, last_seq=last, content="", problem="bad")
            store.summaries.put(anew, SESSION, 1)
        expect(asked_anew(), [], "what was asked anew, whatever came of it")
        with store.transaction():
            of_digest = replace(_MADE, hash="h3", record="d1", kind="digest", last_seq=last)
            store.summaries.put(of_digest, SESSION, 1)
        expect(asked_anew(), [SESSION], "a digest whose model's words went with its exchanges'")
        with store.transaction():
            store.summaries.put(replace(of_digest, hash="h4", version=2), SESSION, 1)
        expect(asked_anew(), [], "a digest that was asked anew")
