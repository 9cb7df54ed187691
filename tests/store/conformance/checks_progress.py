"""Stage progress: a stage sees every change once, and all of them again when its version
changes."""

from __future__ import annotations

from holdfast.model.knowledge import Memory, Network
from holdfast.model.trust import Trust
from holdfast.store.across_tables.erasure import Erasure
from holdfast.store.protocol import Store
from tests.store.conformance.samples import (
    BANK,
    NOON,
    OTHER,
    SESSION,
    MakeStore,
    a_commit,
    a_session,
    an_exchange,
    expect,
    prepared,
)


def _unseen(store: Store, stage: str = "facts", version: int = 1, bank: str = BANK) -> list[str]:
    return [change.session for change in store.progress.unseen_changes(bank, stage, version)]


def _see(store: Store, stage: str = "facts", version: int = 1) -> None:
    for change in store.progress.unseen_changes(BANK, stage, version):
        store.progress.mark_seen(BANK, stage, version, change.number)


def check_the_revision_of_a_bank_grows_with_every_change(make_store: MakeStore) -> None:
    with prepared(make_store) as store, store.transaction():
        revisions = [store.progress.revision(BANK)]
        for session in (SESSION, "", SESSION):
            store.progress.mark_changed(BANK, session)
            revisions.append(store.progress.revision(BANK))
        expect(revisions, sorted(set(revisions)), "revisions, one after the other")
        before = store.progress.revision(OTHER)
        store.progress.mark_changed(BANK, "")
        expect(store.progress.revision(OTHER), before, "the revision of another bank")
        expect(store.progress.revision("nobody"), 0, "the revision of a bank without changes")


def check_changed_vectors_are_seen_by_stages_that_read_them(make_store: MakeStore) -> None:
    with prepared(make_store) as store, store.transaction():
        store.derived.put(BANK, SESSION, [an_exchange()])
        _see(store)
        before = store.progress.revision(BANK)
        store.progress.mark_vectors_changed(BANK)
        expect(_unseen(store), [], "what a stage without vectors has not seen")
        expect(store.progress.banks_behind("facts", 1), [], "the banks it is behind in")
        behind = store.progress.banks_behind("facts", 1, vectors=True)
        expect(behind, [BANK], "the banks that a stage with vectors is behind in")
        unseen = store.progress.unseen_changes(BANK, "facts", 1, vectors=True)
        expect(len(unseen), 1, "changes that a stage with vectors has not seen")
        store.progress.mark_seen(BANK, "facts", 1, unseen[-1].number)
        expect(store.progress.banks_behind("facts", 1, vectors=True), [], "the banks after it")
        expect(store.progress.revision(BANK), before, "the revision, on which briefs depend")


def check_a_stage_sees_each_change_once(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.sessions.add(a_session(id="other"))
            store.derived.put(BANK, SESSION, [an_exchange()])
            store.derived.put(BANK, "other", [])
            expect(_unseen(store), [SESSION, "other"], "what changed")
            expect(store.progress.banks_behind("facts", 1), [BANK], "the banks behind")
            _see(store)
            expect(_unseen(store), [], "what is left")
            expect(store.progress.banks_behind("facts", 1), [], "the banks behind")
            store.derived.put(BANK, SESSION, [])
        expect(_unseen(store), [SESSION], "what changed again")
        expect(_unseen(store, "concepts"), ["other", SESSION], "what another stage has not seen")
        expect(_unseen(store, bank=OTHER), [], "what changed elsewhere")


def check_a_new_version_of_a_stage_has_seen_nothing(make_store: MakeStore) -> None:
    with prepared(make_store) as store, store.transaction():
        store.derived.put(BANK, SESSION, [])
        _see(store)
        expect(_unseen(store, version=2), [SESSION], "what a new version has not seen")
        _see(store, version=2)
        expect(_unseen(store, version=2), [], "what is left of it")


def check_changes_outside_sessions_are_seen_too(make_store: MakeStore) -> None:
    with prepared(make_store) as store, store.transaction():
        store.git.put_commits([a_commit("c1", "Fix it")])
        expect(_unseen(store), [""], "a commit")
        _see(store)
        store.git.put_commits([a_commit("c1", "Fix it")])
        expect(_unseen(store), [], "a commit that is known")
        store.memories.put_remembered(
            Memory(BANK, "m1", Network.WORLD, "tea", Trust.USER, when=NOON)
        )
        expect(_unseen(store), [""], "a remembered text")
        _see(store)
        store.erasure.erase(Erasure(BANK, sessions=(SESSION,)))
        expect(sorted(_unseen(store)), ["", SESSION], "an erased session")
