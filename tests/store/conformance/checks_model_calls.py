"""The cost ledger of model calls, paused services, and model summaries."""

from __future__ import annotations

from dataclasses import replace

from holdfast.model.ledgers.model_calls import (
    CallOutcome,
    ModelCall,
    ModelSummary,
    ServicePause,
    Spending,
)
from holdfast.store.ledgers.model_calls import DailySpending, UnsummarisedSession
from holdfast.store.records.sessions import StaleSession
from tests.store.conformance.samples import (
    BANK,
    NOON,
    OTHER,
    SESSION,
    MakeStore,
    a_digest,
    a_session,
    a_turn,
    an_exchange,
    expect,
    prepared,
)

_EVE = "2026-02-28T23:59:59.999Z"
_OPEN = ModelCall(BANK, "c1", NOON, SESSION, "summaries", "anthropic", "m", 1000, 500, 0, 0.5)
_DONE = replace(
    _OPEN, tokens_in=900, tokens_out=40, tokens_cached=100, usd=0.1, ms=70,
    outcome=CallOutcome.DONE,
)  # fmt: skip
_UNPRICED = replace(_DONE, id="c2", usd=None, model="local", attempt=2)
_FAILED = ModelCall(
    OTHER, "c1", _EVE, SESSION, "digests", "anthropic", "m", outcome=CallOutcome.BUSY,
    problem="429",
)  # fmt: skip
_MADE = ModelSummary(BANK, "h1", 1, "exchange", "x1", 4, "m", NOON, '{"title": "t"}')


def check_a_reservation_counts_until_the_call_has_a_result(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.model_calls.reserve(_OPEN)
        expect(store.model_calls.total_spent(), Spending(1, 1000, 500, 0, 0.5), "what is reserved")
        with store.transaction():
            store.model_calls.record_result(_DONE)
        expect(store.model_calls.total_spent(), Spending(1, 900, 40, 100, 0.1), "what was spent")


def check_spending_is_summed_by_day_session_and_model(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            for call in (_DONE, _UNPRICED, _FAILED):
                store.model_calls.reserve(call)
        expect(
            store.model_calls.total_spent(NOON[:10]),
            Spending(2, 1800, 80, 200, 0.1, 1),
            "spent on a day",
        )
        expect(
            store.model_calls.total_spent("", OTHER, SESSION),
            Spending(1, failed=1),
            "spent on a session",
        )
        expect(
            store.model_calls.spending_by_day(),
            [
                DailySpending("2026-03-01", "summaries", "anthropic", "local", _of(_UNPRICED)),
                DailySpending("2026-03-01", "summaries", "anthropic", "m", _of(_DONE)),
                DailySpending("2026-02-28", "digests", "anthropic", "m", Spending(1, failed=1)),
            ],
            "spending",
        )
        expect(store.model_calls.failed(), [_FAILED], "calls that failed")


def _of(call: ModelCall) -> Spending:
    c = call
    return Spending(1, c.tokens_in, c.tokens_out, c.tokens_cached, c.usd or 0.0, int(c.usd is None))


def check_a_service_is_paused_until_it_answers(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        pause = ServicePause("anthropic", NOON, 1, "429", _EVE)
        with store.transaction():
            store.model_calls.pause_service(pause)
            store.model_calls.pause_service(replace(pause, attempts=2))
        expect(store.model_calls.paused_services(), [replace(pause, attempts=2)], "pauses")
        with store.transaction():
            store.model_calls.resume_service("anthropic")
        expect(store.model_calls.paused_services(), [], "pauses")


def check_model_results_are_found_by_hash_and_version(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        newer = replace(_MADE, version=2, content='{"title": "u"}')
        broken = replace(_MADE, version=3, content="", problem="nonsense")
        with store.transaction():
            for summary in (newer, _MADE, replace(_MADE, content="{}"), broken):
                store.summaries.put(summary, SESSION, 1)
        expect(store.summaries.get(BANK, "h1"), newer, "what the latest version made")
        expect(store.summaries.get(OTHER, "h1"), None, "what another bank has")
        expect(
            [store.summaries.was_attempted(BANK, "h1", v) for v in (1, 3, 4)],
            [True, True, False],
            "tried",
        )
        expect([store.summaries.has_any(b) for b in (BANK, OTHER)], [True, False], "summaries")
        expect(StaleSession(BANK, SESSION, 1) in store.sessions.stale(), True, "a stale session")
        with store.transaction():
            store.derived.drop_all()
        expect(
            store.summaries.get(BANK, "h1"), newer, "what was made, after all derived is dropped"
        )


def check_sessions_wait_for_a_model_until_it_was_tried(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            for id, extra in (("s2", {}), ("s3", {"parent": SESSION}), ("s4", {"ended": _EVE})):
                store.sessions.add(replace(a_session(id=id), **{"ended": NOON, **extra}))
                store.turns.put([a_turn(1, session=id)])
                derived = (an_exchange(id=f"x-{id}"), a_digest(id=f"d-{id}"))
                store.derived.put(BANK, id, [replace(one, session=id) for one in derived])
        expect(
            store.summaries.unsummarised_sessions(NOON, 1),
            [UnsummarisedSession(BANK, "s2")],
            "who waits",
        )
        last = store.sessions.exchanges(BANK, "s2")[0].last_seq
        of_digest = replace(_MADE, hash="h2", record="d-s2", last_seq=last)
        with store.transaction():
            store.summaries.put(replace(_MADE, record="x-s2", last_seq=last), "s2", 1)
        expect(
            store.summaries.unsummarised_sessions(NOON, 1),
            [UnsummarisedSession(BANK, "s2")],
            "whose digest waits",
        )
        with store.transaction():
            store.summaries.put(of_digest, "s2", 1)
        expect(store.summaries.unsummarised_sessions(NOON, 1), [], "who waits when all is done")
        expect(
            store.summaries.unsummarised_sessions(NOON, 2),
            [UnsummarisedSession(BANK, "s2")],
            "who waits for version 2",
        )
