"""Git repositories: patches, reverts, tags, and how far each repository was read."""

from __future__ import annotations

from dataclasses import replace

from tests.store.conformance.samples import BANK, NOON, OTHER, MakeStore, a_commit, expect, prepared

from holdfast.model.team import FileChange
from holdfast.store.protocol.curation import Erasure
from holdfast.store.protocol.git_history import FileTouch, Patch, Repository, Tag

_SHA = "0123456789abcdef0123456789abcdef01234567"
_MOVED = FileChange("new.py", "R", "old.py", 3, 1)
_PATCH = Patch(BANK, _SHA, (_MOVED, FileChange("b.bin", "A", binary=True)), "@@ new.py\n+x")


def check_a_patch_comes_back_as_it_was(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.put_commits([a_commit(_SHA, "Move it")])
            store.put_patches([_PATCH])
        expect(store.patch(BANK, _SHA), _PATCH, "the patch")
        expect(store.patch(OTHER, _SHA), None, "that of another bank")
        expect(store.renames(BANK), [(NOON, "old.py", "new.py")], "the renamings")
        commit, passage = a_commit("f" * 40, "Another")
        with store.transaction():
            store.put_commits([(replace(commit, time="2031-01-01T00:00:00.000Z"), passage)])
            store.put_patches([Patch(BANK, commit.id, (FileChange("old.py", "A"),))])
        expect(store.renames(BANK), [], "the renamings, with another file of the old name")
        expect(store.known_commits(BANK, [_SHA, "other"]), {_SHA}, "the commits known")
        with store.transaction():
            store.erase(Erasure(BANK, commits=(_SHA,)))
        expect(store.patch(BANK, _SHA), None, "the patch of an erased commit")


def check_reverts_are_known_by_any_name_of_what_they_take_back(make_store: MakeStore) -> None:
    with prepared(make_store) as store, store.transaction():
        store.put_reverts(BANK, "r1", [_SHA])
        store.put_reverts(BANK, "r2", [_SHA[:7]])
        store.put_reverts(BANK, "r3", [_SHA[:6] + "f" * 34])
        store.put_reverts(OTHER, "r4", [_SHA])
        expect(store.reverted_by(BANK, _SHA), ["r1", "r2"], "what takes it back")
        expect(store.reverts(BANK, "r2"), [_SHA[:7]], "what one takes back")


def check_a_repository_is_noted_in_place_of_what_was_known(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        first = Repository(BANK, "/p/.git", "a", ("a", "b"), NOON)
        other = Repository(OTHER, "/p/.git", "z", ("z",), NOON)
        with store.transaction():
            store.put_repository(first, [Tag("v1", "a", NOON), Tag("v0", "b", "")], ["b"])
            store.put_repository(other, [Tag("v1", "z", NOON)], ["y"])
        expect(store.repositories(BANK), [first], "the repository")
        expect([tag.name for tag in store.tags(BANK)], ["v0", "v1"], "its tags")
        expect(store.tags(BANK, "a"), [Tag("v1", "a", NOON)], "those of a commit")
        expect(store.unmerged_commits(BANK, ["a", "b"]), {"b"}, "what is astray")
        with store.transaction():
            store.put_repository(first._replace(head="c", tips=("c",)), [], [])
        expect(store.tags(BANK), [], "tags that are gone")
        expect(store.unmerged_commits(BANK, ["a", "b"]), set[str](), "what was astray")
        expect(len(store.repositories()), 2, "the repositories of all banks")
        expect([tag.name for tag in store.tags(OTHER)], ["v1"], "the tags of another bank")


def check_it_is_known_by_file_what_became_of_it(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.put_commits([a_commit(_SHA, "Move it")])
            store.put_patches([_PATCH])
            store.index_touches(BANK, [_SHA])
        went = FileTouch("old.py", NOON, _SHA, "W", "new.py")
        came = FileTouch("new.py", NOON, _SHA, "R", "old.py", 3, 1)
        expect(store.touches(BANK, "old.py", "", 9), [went], "what became of the old name")
        expect(store.touches(BANK, "old.py", NOON, 9), [], "what became of it later")
        expect(store.last_touch(BANK, "new.py", NOON), came, "how it came to be")
        expect(store.last_touch(BANK, "new.py", "1999"), None, "how it was before")
        expect(store.touches(OTHER, "old.py", "", 9), [], "the same in another bank")
        with store.transaction():
            store.put_repository(Repository(BANK, "/p/.git", "a", ("a",), NOON), [], [_SHA])
        expect(store.touches(BANK, "old.py", "", 9), [], "what HEAD does not contain")
        expect(
            (store.has_unmerged_commits(BANK), store.has_unmerged_commits(OTHER)),
            (True, False),
            "what is astray",
        )
        with store.transaction():
            store.put_repository(Repository(BANK, "/p/.git", "a", ("a",), NOON), [], [])
            store.erase(Erasure(BANK, commits=(_SHA,)))
        expect(store.touches(BANK, "old.py", "", 9), [], "what an erased commit did")


def check_branches_are_known_by_name_and_by_what_they_contain(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        first, passage = a_commit(_SHA, "First")
        second = replace(first, id="f" * 40, parents=(_SHA, "e" * 40))
        with store.transaction():
            store.put_commits([(first, passage), (second, None)])
            store.put_branches(BANK, [("main", second.id), ("old", _SHA)])
            store.put_branches(BANK, [("main", second.id)])
        expect(store.branches(BANK), {"main": second.id}, "the branches")
        expect(store.branches(OTHER), {}, "those of another bank")
        contained = {second.id, _SHA, "e" * 40, *first.parents}
        expect(store.reachable_commits(BANK, second.id), contained, "what one contains")
