"""Clues to the repositories of folders, and merges of banks that move them."""

from __future__ import annotations

from holdfast.model.bank import Clue, ClueKind, StoredClue
from holdfast.store.across_tables.erasure import Erasure
from holdfast.store.records.clues import Searched
from tests.store.conformance.samples import (
    BANK,
    OTHER,
    SESSION,
    MakeStore,
    a_change,
    a_decision,
    a_session,
    expect,
    prepared,
)

_REMOTE = Clue("/gone/yawl", ClueKind.REMOTE, "github.com/acme/yawl")
_HEAD = Clue("/gone/yawl", ClueKind.HEAD, "a" * 40)


def check_clues_are_kept_with_how_far_a_source_was_searched(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.clues.add(BANK, 1, Searched(10, 0), [_REMOTE])
            store.clues.add(BANK, 1, Searched(20, 1), [_REMOTE, _HEAD])
            store.clues.add(OTHER, 2, Searched(5, 0), [])
        wanted = [StoredClue(BANK, 1, *_HEAD), StoredClue(BANK, 1, *_REMOTE)]
        expect(store.clues.all(BANK), wanted, "the clues of a bank")
        expect(store.clues.all(OTHER), [], "the clues of another")
        expect(store.clues.searched([2, 1, 3]), {1: (20, 1), 2: (5, 0)}, "how far was searched")
        expect(store.clues.searched([2]), {2: (5, 0)}, "how far one source was searched")


def check_sources_with_unsearched_lines_are_listed(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.sources.add("/u/empty.jsonl", "claude-code", BANK)
            read = store.sources.add("/u/read.jsonl", "claude-code", BANK).id
            store.sources.advance(a_change(read, 0, 10))
        expect(store.clues.unsearched(None), [read], "the sources of which lines were read")
        with store.transaction():
            store.clues.add(BANK, read, Searched(10, 0), [_REMOTE])
        expect(store.clues.unsearched(BANK), [], "those left after a search")
        with store.transaction():
            store.sources.advance(a_change(read, 10, 30))
        expect(store.clues.unsearched(BANK), [read], "those that have grown")
        expect(store.clues.unsearched(OTHER), [], "those of another bank")


def check_an_erasure_takes_the_clues_of_its_sources(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.clues.add(BANK, 1, Searched(10, 0), [_REMOTE])
            store.clues.add(BANK, 2, Searched(10, 0), [_HEAD])
            store.erasure.erase(Erasure(BANK, sources=(1,)))
        expect(store.clues.all(None), [StoredClue(BANK, 2, *_HEAD)], "the clues that are left")
        with store.transaction():
            store.erasure.scrub(lambda text: text.replace("yawl", "[erased]"))
        expect(store.clues.all(None), [], "the clues after scrubbing")


def check_a_merge_moves_decisions_and_clues_and_its_undo_returns_them(
    make_store: MakeStore,
) -> None:
    with prepared(make_store) as store:
        bank = store.banks.get(OTHER)
        assert bank is not None
        with store.transaction():
            source = store.sources.add("/gone/s.jsonl", "claude-code", OTHER)
            store.clues.add(OTHER, source.id, Searched(10, 0), [_REMOTE])
            moved = store.curation.append(a_decision("holdfast://memory/m1", OTHER))
            merge = store.curation.append(a_decision(f"holdfast://bank/{OTHER}", BANK))
            store.sessions.add(a_session(id="s9", bank=OTHER))
            store.bank_merges.merge(OTHER, BANK, merge.seq)
        expect(store.banks.get(OTHER), None, "the merged bank")
        expect(store.curation.merged_decisions(BANK), frozenset([moved.seq]), "what was decided")
        expect(
            store.curation.merged_sessions(BANK, merge.seq), frozenset([SESSION, "s9"]), "what came"
        )
        expect(
            store.curation.merged_sessions(BANK, moved.seq), frozenset[str](), "of another decision"
        )
        expect([e.seq for e in store.curation.log(BANK)], [moved.seq, merge.seq], "the log")
        expect([clue.bank for clue in store.clues.all(None)], [BANK], "the banks of clues")
        with store.transaction():
            store.bank_merges.unmerge(bank, BANK, merge.seq)
        expect(store.banks.get(OTHER), bank, "the bank after the undo")
        expect([e.seq for e in store.curation.log(OTHER)], [moved.seq], "its log")
        expect([e.seq for e in store.curation.log(BANK)], [merge.seq], "the other log")
        expect([clue.bank for clue in store.clues.all(None)], [OTHER], "the banks of clues")
        expect(store.curation.merged_decisions(BANK), frozenset[int](), "what was decided, undone")
