"""Git repositories: patches, reverts, tags, and how far each repository was read."""

from __future__ import annotations

from dataclasses import replace

from holdfast.model.team import FileChange
from holdfast.store.across_tables.erasure import Erasure
from holdfast.store.records.git_history import FileTouch, Patch, Repository, Tag
from tests.store.conformance.samples import BANK, NOON, OTHER, MakeStore, a_commit, expect, prepared

_SHA = "0123456789abcdef0123456789abcdef01234567"
_MOVED = FileChange("new.py", "R", "old.py", 3, 1)
_PATCH = Patch(BANK, _SHA, (_MOVED, FileChange("b.bin", "A", binary=True)), "@@ new.py\n+x")


def check_a_patch_is_returned_unchanged(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.git.put_commits([a_commit(_SHA, "Move it")])
            store.git.put_patches([_PATCH])
        expect(store.git.patch(BANK, _SHA), _PATCH, "the patch")
        expect(store.git.patch(OTHER, _SHA), None, "that of another bank")
        expect(store.git.renames(BANK), [(NOON, "old.py", "new.py")], "the renamings")
        commit, passage = a_commit("f" * 40, "Another")
        with store.transaction():
            store.git.put_commits([(replace(commit, time="2031-01-01T00:00:00.000Z"), passage)])
            store.git.put_patches([Patch(BANK, commit.id, (FileChange("old.py", "A"),))])
        expect(store.git.renames(BANK), [], "the renamings, with another file of the old name")
        expect(store.git.known_commits(BANK, [_SHA, "other"]), {_SHA}, "the commits known")
        with store.transaction():
            store.erasure.erase(Erasure(BANK, commits=(_SHA,)))
        expect(store.git.patch(BANK, _SHA), None, "the patch of an erased commit")


def check_reverts_are_found_by_any_id_of_the_reverted_commit(make_store: MakeStore) -> None:
    with prepared(make_store) as store, store.transaction():
        store.git.put_reverts(BANK, "r1", [_SHA])
        store.git.put_reverts(BANK, "r2", [_SHA[:7]])
        store.git.put_reverts(BANK, "r3", [_SHA[:6] + "f" * 34])
        store.git.put_reverts(OTHER, "r4", [_SHA])
        expect(store.git.reverted_by(BANK, _SHA), ["r1", "r2"], "what takes it back")
        expect(store.git.reverts(BANK, "r2"), [_SHA[:7]], "what one takes back")


def check_a_repository_entry_replaces_the_earlier_one(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        first = Repository(BANK, "/p/.git", "a", ("a", "b"), NOON)
        other = Repository(OTHER, "/p/.git", "z", ("z",), NOON)
        with store.transaction():
            store.git.put_repository(first, [Tag("v1", "a", NOON), Tag("v0", "b", "")], ["b"])
            store.git.put_repository(other, [Tag("v1", "z", NOON)], ["y"])
        expect(store.git.repositories(BANK), [first], "the repository")
        expect([tag.name for tag in store.git.tags(BANK)], ["v0", "v1"], "its tags")
        expect(store.git.tags(BANK, "a"), [Tag("v1", "a", NOON)], "those of a commit")
        expect(store.git.unmerged_commits(BANK, ["a", "b"]), {"b"}, "what is astray")
        with store.transaction():
            store.git.put_repository(first._replace(head="c", tips=("c",)), [], [])
        expect(store.git.tags(BANK), [], "tags that are gone")
        expect(store.git.unmerged_commits(BANK, ["a", "b"]), set[str](), "what was astray")
        expect(len(store.git.repositories()), 2, "the repositories of all banks")
        expect([tag.name for tag in store.git.tags(OTHER)], ["v1"], "the tags of another bank")


def check_the_last_change_of_each_file_is_known(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.git.put_commits([a_commit(_SHA, "Move it")])
            store.git.put_patches([_PATCH])
            store.git.index_touches(BANK, [_SHA])
        went = FileTouch("old.py", NOON, _SHA, "W", "new.py")
        came = FileTouch("new.py", NOON, _SHA, "R", "old.py", 3, 1)
        expect(store.git.touches(BANK, "old.py", "", 9), [went], "what became of the old name")
        expect(store.git.touches(BANK, "old.py", NOON, 9), [], "what became of it later")
        expect(store.git.last_touch(BANK, "new.py", NOON), came, "how it came to be")
        expect(store.git.last_touch(BANK, "new.py", "1999"), None, "how it was before")
        expect(store.git.touches(OTHER, "old.py", "", 9), [], "the same in another bank")
        with store.transaction():
            store.git.put_repository(Repository(BANK, "/p/.git", "a", ("a",), NOON), [], [_SHA])
        expect(store.git.touches(BANK, "old.py", "", 9), [], "what HEAD does not contain")
        expect(
            (store.git.has_unmerged_commits(BANK), store.git.has_unmerged_commits(OTHER)),
            (True, False),
            "what is astray",
        )
        with store.transaction():
            store.git.put_repository(Repository(BANK, "/p/.git", "a", ("a",), NOON), [], [])
            store.erasure.erase(Erasure(BANK, commits=(_SHA,)))
        expect(store.git.touches(BANK, "old.py", "", 9), [], "what an erased commit did")


def check_branches_are_found_by_name_and_by_their_commits(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        first, passage = a_commit(_SHA, "First")
        second = replace(first, id="f" * 40, parents=(_SHA, "e" * 40))
        with store.transaction():
            store.git.put_commits([(first, passage), (second, None)])
            store.git.put_branches(BANK, [("main", second.id), ("old", _SHA)])
            store.git.put_branches(BANK, [("main", second.id)])
        expect(store.git.branches(BANK), {"main": second.id}, "the branches")
        expect(store.git.branches(OTHER), {}, "those of another bank")
        contained = {second.id, _SHA, "e" * 40, *first.parents}
        expect(store.git.reachable_commits(BANK, second.id), contained, "what one contains")
