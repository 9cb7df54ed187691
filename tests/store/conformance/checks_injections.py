"""The injection ledger, failed tasks, and the integrity check."""

from __future__ import annotations

from dataclasses import replace

from holdfast.model.ledgers.failed_tasks import FailedTask
from holdfast.model.ledgers.injections import Injection, InjectionKind, InjectionUse
from holdfast.store.sql.integrity import IntegrityReport
from tests.store.conformance.samples import BANK, NOON, OTHER, MakeStore, expect, prepared

_LATER = "2026-03-01T13:00:00.000Z"
_FIRST = Injection("i1", BANK, "host", NOON, InjectionKind.START, 900, ("holdfast://turn/t1",))
_SECOND = replace(_FIRST, id="i2", time=_LATER, kind=InjectionKind.GOAL, records=())


def check_injections_are_stored_and_found(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        elsewhere = replace(_FIRST, bank=OTHER, session="another")
        with store.transaction():
            for injection in (_FIRST, _SECOND, elsewhere):
                store.injections.add(injection)
        expect(store.injections.latest(BANK), [_SECOND, _FIRST], "injections")
        expect(
            store.injections.latest(None), [_SECOND, _FIRST, elsewhere], "injections of all banks"
        )
        expect(store.injections.latest(None, "another"), [elsewhere], "injections of a session")
        expect(store.injections.latest(BANK, limit=1), [_SECOND], "the latest injection")
        expect(store.injections.latest(""), [], "injections of no bank")


def check_an_injection_is_stored_once_with_its_outcome(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        settled = replace(
            _FIRST, arrived=True, use=InjectionUse.CITED, because="holdfast://turn/t9"
        )
        with store.transaction():
            store.injections.add(_FIRST)
            store.injections.add(_SECOND)
            store.injections.record_outcome(settled)
            store.injections.add(_FIRST)
        expect(store.injections.latest(BANK), [_SECOND, settled], "injections")
        expect(store.injections.latest(BANK, unsettled=True), [_SECOND], "unsettled injections")
        missed = replace(settled, arrived=False, use=InjectionUse.IGNORED, because="")
        with store.transaction():
            store.injections.record_outcome(missed)
        expect(store.injections.latest(BANK)[1], missed, "an injection that never arrived")


def check_failed_tasks_are_kept_until_they_succeed(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        embed = FailedTask("embed", 1, "no model", NOON, _LATER)
        again = replace(embed, attempts=2, problem="still none")
        drain = FailedTask("drain", 1, "no room", NOON, NOON)
        with store.transaction():
            for chore in (embed, again, drain):
                store.failed_tasks.put(chore)
        expect(store.failed_tasks.all(), [drain, again], "chores")
        with store.transaction():
            store.failed_tasks.clear("embed")
            store.failed_tasks.clear("unheard of")
        expect(store.failed_tasks.all(), [drain], "chores")


def check_a_healthy_store_has_no_faults(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        expect(store.check_integrity(), IntegrityReport(), "faults")
