"""The workers of a test run take the files that last longest first."""

from __future__ import annotations

from pathlib import Path

from tests.support.run_order import longest_first


def test_files_are_ordered_by_what_the_marks_of_their_tests_cost() -> None:
    quick, many, one, pages, agent = (Path(name) for name in "quick many one pages agent".split())
    slow = {"process", "slow"}
    found = longest_first(
        {quick: [set[str]()] * 9, many: [{"process"}] * 2, one: [slow], pages: [{"browser"}],
         agent: [{"claude", "process"}]}
    )  # fmt: skip
    assert found == [pages, agent, one, many, quick]


def test_files_that_cost_the_same_keep_one_order_in_all_workers() -> None:
    first, second = Path("a"), Path("b")
    assert longest_first({second: [set[str]()], first: [set[str]()]}) == [first, second]
