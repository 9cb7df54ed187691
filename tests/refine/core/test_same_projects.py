from __future__ import annotations

from collections.abc import Sequence

import pytest

from holdfast.model.bank import ClueKind, StoredClue
from holdfast.refine.core.same_projects import (
    BankView,
    Join,
    find_clear_joins,
    find_joins,
    worktree_of,
)

SHARED = [f"src/{name}.py" for name in "cart checkout orders prices stock users".split()]


def view(folder: str, **more: object) -> BankView:
    return BankView(folder, folder.rsplit("/", 1)[-1], frozenset({folder}))._replace(**more)


def clue(folder: str, kind: ClueKind, value: str) -> StoredClue:
    return StoredClue("", 1, folder, kind, value)


def remote(folder: str, value: str) -> StoredClue:
    return clue(folder, ClueKind.REMOTE, value)


def joins(
    views: Sequence[BankView], clues: Sequence[StoredClue] = (), files: Sequence[str] = ()
) -> list[Join]:
    found = find_joins(views, clues, lambda bank: files)
    assert find_clear_joins(views, clues) == [join for join in found if join.is_clear]
    return found


@pytest.mark.parametrize(
    ("folder", "main"),
    [
        ("/w/shop/.worktrees/next", "/w/shop"),
        ("/w/shop/.conductor/berlin", "/w/shop"),
        ("/w/shop.worktrees/next", "/w/shop"),
        ("/w/shop__worktrees/next", "/w/shop"),
        ("/w/shop-worktrees/next", "/w/shop"),
        ("/u/conductor/workspaces/shop/oslo", "/u/conductor/workspaces/shop"),
        ("/u/.cursor/worktrees/shop/a1b2", "/u/.cursor/worktrees/shop"),
        ("D:\\w\\shop.worktrees\\next", "D:\\w\\shop"),
        ("/w/experiments/worktrees", ""),
        ("/w/experiments/worktrees/one", ""),
        ("/w/shop__worktrees/next/packages/api", ""),
        ("/w/shop-next", ""),
    ],
)
def test_a_worktree_is_known_by_the_place_that_tools_put_it_in(folder: str, main: str) -> None:
    assert worktree_of(folder) == main


@pytest.mark.parametrize(
    "folders",
    [
        ("/w/shop", "/w/shop.worktrees/next"),
        ("/u/conductor/workspaces/shop/oslo", "/u/conductor/workspaces/shop/rome"),
        ("/w/shop/.worktrees/one", "/w/shop/.worktrees/two"),
    ],
)
def test_worktrees_in_the_place_of_a_tool_join(folders: tuple[str, str]) -> None:
    (join,) = joins([view(folder) for folder in folders])
    assert {join.bank, join.into} == set(folders) and join.is_clear


def test_a_worktree_of_another_repository_in_the_place_of_a_tool_does_not_join() -> None:
    views = [view("/w/shop"), view("/w/shop.worktrees/next")]
    clues = [remote("/w/shop", "h/a/shop"), remote("/w/shop.worktrees/next", "h/b/other")]
    assert joins(views, clues) == []


def test_all_go_into_the_bank_whose_folder_exists() -> None:
    views = [view("/w/a", sessions=9), view("/w/b", is_gone=False), view("/w/c", sessions=99)]
    clues = [remote(folder, "h/acme/shop") for folder in ("/w/a", "/w/b", "/w/c")]
    found = joins(views, clues)
    assert [(join.bank, join.into) for join in found] == [("/w/a", "/w/b"), ("/w/c", "/w/b")]


def test_a_folder_that_showed_two_remotes_is_only_proposed() -> None:
    views = [view("/w/a"), view("/w/b")]
    clues = [remote("/w/a", "h/x/shop"), remote("/w/a", "h/y/shop"), remote("/w/b", "h/x/shop")]
    (join,) = joins(views, clues)
    assert not join.is_clear and "h/x/shop" in join.reason


def test_weak_clues_never_bring_two_remotes_together_over_a_third_bank() -> None:
    views = [view("/w/a"), view("/w/b"), view("/w/between")]
    clues = [remote("/w/a", "h/x/shop"), remote("/w/b", "h/fork/shop")]
    clues += [clue(folder, ClueKind.HEAD, "a" * 40) for folder in ("/w/a", "/w/b", "/w/between")]
    clear = [join for join in joins(views, clues) if join.is_clear]
    assert len(clear) == 1 and "/w/between" in (clear[0].bank, clear[0].into)


def test_a_fork_with_the_same_commits_is_proposed_and_says_that_remotes_differ() -> None:
    views = [view("/w/a"), view("/w/b")]
    clues = [remote("/w/a", "h/x/shop"), remote("/w/b", "h/fork/shop")]
    clues += [clue(folder, ClueKind.HEAD, "a" * 40) for folder in ("/w/a", "/w/b")]
    (join,) = joins(views, clues)
    assert not join.is_clear and "remotes differ (h/" in join.reason


def test_a_bank_that_a_person_named_is_not_given_up_by_itself() -> None:
    views = [view("/w/a", is_named=True, sessions=1), view("/w/b", is_gone=False)]
    clues = [remote("/w/a", "h/x/shop"), remote("/w/b", "h/x/shop")]
    (join,) = joins(views, clues)
    assert (join.bank, join.is_clear) == ("/w/a", False)


def test_projects_of_one_template_are_proposed_at_most_and_not_where_remotes_differ() -> None:
    views = [view("/w/blog"), view("/w/store")]
    (join,) = joins(views, files=SHARED)
    assert not join.is_clear
    clues = [remote("/w/blog", "h/me/blog"), remote("/w/store", "h/me/store")]
    assert joins(views, clues, SHARED) == []


def test_files_that_every_project_has_say_nothing() -> None:
    views = [view("/w/shop"), view("/w/shop-next")]
    common = ["README.md", "package.json", "src/index.ts", ".gitignore", "tsconfig.json"]
    assert joins(views, files=common) == []


@pytest.mark.parametrize("folder", ["/tmp", "/repo", "/"])
def test_a_folder_in_which_many_projects_lie_joins_nothing(folder: str) -> None:
    views = [view(folder), view("/w/shop")]
    clues = [remote(folder, "h/x/shop"), remote("/w/shop", "h/x/shop")]
    assert joins(views, clues, SHARED) == []


def test_each_bank_of_a_group_is_proposed_once() -> None:
    views = [view(f"/w/shop-{n}") for n in range(5)]
    found = joins(views, files=SHARED)
    assert len(found) == 4 and len({join.into for join in found}) == 1
