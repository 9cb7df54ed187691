"""API keys, and stores that are restricted to some banks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

from holdfast.errors import ForbiddenError, NotFoundError
from holdfast.model.bank import Bank
from holdfast.model.keys import ApiKey
from holdfast.model.opinions import Opinion, OpinionRevision, Trend
from holdfast.model.trust import Status, Trust
from holdfast.principal import Level, Principal
from holdfast.store.protocol import Store
from holdfast.store.records.sessions import SessionFilter
from tests.store.conformance.samples import (
    BANK,
    NOON,
    OTHER,
    SESSION,
    MakeStore,
    a_decision,
    a_passage,
    a_session,
    expect,
    prepared,
    restricted,
)

_LATER = "2026-03-01T13:00:00.000Z"
_FIRST = ApiKey("0a1b2c3d", "Ana's laptop", "salt", "hash", (BANK, OTHER), Level.WRITE, NOON)
_SECOND = ApiKey("ffffffff", "ci", "salt", "hash", None, Level.ADMIN, _LATER, "2027-01-01")


_OPINION = Opinion(
    BANK, "o1", "yawl is slow", "because", 0.7, Trend.NEW, Status.OBSERVED, Trust.USER, NOON, NOON,
    NOON, 2, ("holdfast://turn/t",),
)  # fmt: skip


def check_keys_are_stored_unchanged(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        expect(store.api_keys.all(), [], "keys")
        with store.transaction():
            store.api_keys.add(_SECOND)
            store.api_keys.add(_FIRST)
        expect(store.api_keys.all(), [_FIRST, _SECOND], "keys")
    with closing(make_store()) as again:
        expect(again.api_keys.all(), [_FIRST, _SECOND], "keys")


def check_a_key_can_be_revoked_once(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.api_keys.add(_FIRST)
            store.api_keys.add(_SECOND)
            expect(store.api_keys.revoke("0a1b2c3d", NOON), True, "revoking")
            expect(store.api_keys.revoke("0a1b2c3d", _LATER), False, "revoking again")
            expect(store.api_keys.revoke("00000000", NOON), False, "revoking none")
        expect(store.api_keys.all(), [_FIRST._replace(revoked=NOON), _SECOND], "keys")


def check_the_last_use_of_a_key_never_moves_back(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.api_keys.add(_FIRST)
            store.api_keys.record_uses({"0a1b2c3d": _LATER, "00000000": NOON})
            store.api_keys.record_uses({"0a1b2c3d": NOON})
        expect(store.api_keys.all(), [_FIRST._replace(used=_LATER)], "keys")


_THIRD = "3333cccc3333cccc"
_ASKED: tuple[Callable[[Store], list[str]], ...] = (
    lambda store: [one.bank for one in store.sessions.latest(None)],
    lambda store: [one.session.bank for one in store.sessions.page(SessionFilter(), 10)],
    lambda store: [one.bank for one in store.records.find(None, "session", SESSION)],
    lambda store: [one.bank for one in store.sessions.named(SESSION)],
    lambda store: [one.passage.bank for one in store.passages.search(None, ["lantern"])],
    lambda store: [one.bank for one in store.passages.recent(None, "turn")],
)


def _three(store: Store) -> None:
    with store.transaction():
        store.banks.add(Bank(_THIRD, "pier", NOON))
        store.sessions.add(a_session(_THIRD))
        for bank in (BANK, OTHER, _THIRD):
            store.derived.put(bank, SESSION, [a_passage("t1", "a lantern", bank)])


def check_a_principal_of_some_banks_sees_no_other(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        _three(store)
        both = restricted(store, Principal("a", (BANK, _THIRD), Level.READ))
        for ask in _ASKED:
            expect(sorted(ask(both)), [BANK, _THIRD], "all banks that are seen")
        expect([one.id for one in both.banks.all()], [BANK, _THIRD], "banks")
        expect(both.records.counts(None).sessions, 2, "sessions")
        expect(both.passages.term_frequencies(None, ["lantern"], 9), [2], "frequencies")
        expect(both.passages.count(None, 9), 2, "size")
        nobody = restricted(store, Principal("a", (), Level.READ))
        for ask in _ASKED:
            expect(ask(nobody), [], "no bank at all")


def check_an_invisible_bank_is_not_found(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        mine = restricted(store, Principal("a", (BANK,), Level.WRITE))
        expect(mine.banks.get(OTHER), None, "another's bank")
        expect(mine.sessions.get(BANK, SESSION), a_session(BANK), "a session")
        expect(mine.sessions.get(OTHER, SESSION), None, "a session of another's")
        expect(mine.passages.search(OTHER, ["lantern"]), [], "words of another's")
        expect(mine.sessions.page(SessionFilter(OTHER), 10), [], "sessions of another's")
        expect(mine.api_keys.all(), [], "keys")
        for change in (
            lambda: mine.sessions.add(a_session(OTHER)),
            lambda: mine.banks.add(Bank(_THIRD, "pier", NOON)),
        ):
            _refused(change, NotFoundError)
        _refused(lambda: mine.derived.drop_all(), ForbiddenError)


def check_records_with_parts_outside_a_bank_can_be_written(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        mine = restricted(store, Principal("a", (BANK,), Level.WRITE))
        firm = OpinionRevision(NOON, 0.5, 1, 0, "said")
        with store.transaction():
            mine.opinions.put(_OPINION, firm, None)
        expect(store.opinions.history(BANK, _OPINION.id), [firm], "beliefs")


def check_a_decision_of_a_principal_is_logged(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        mine = restricted(store, Principal("a", (BANK,), Level.WRITE))
        made = mine.curation.append(a_decision("holdfast://session/s1"))
        expect(mine.curation.log(BANK), [made], "decisions")
        other = a_decision("holdfast://session/s1", OTHER)
        _refused(lambda: mine.curation.append(other), NotFoundError)


def check_a_read_only_principal_changes_nothing(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        for banks in ((BANK,), None):
            looks = restricted(store, Principal("a", banks, Level.READ))
            expect(looks.sessions.get(BANK, SESSION), a_session(BANK), "a session")
            _refused(lambda found=looks: found.sessions.add(a_session(BANK, "s2")), ForbiddenError)
            _refused(lambda found=looks: found.derived.drop_all(), ForbiddenError)
        expect(len(store.sessions.latest(BANK)), 1, "sessions")


def _refused(ask: Callable[[], object], kind: type[Exception]) -> None:
    try:
        ask()
    except kind:
        return
    raise AssertionError(f"{kind.__name__} was not raised")
