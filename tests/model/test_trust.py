from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.trust import Trust, least_trusted

ORIGINS = st.lists(st.sampled_from(Trust), min_size=1)


def test_trust_is_listed_from_the_most_to_the_least() -> None:
    assert list(Trust) == ["user", "team", "assistant", "tool", "import", "external"]


def test_something_of_no_known_origin_is_external() -> None:
    assert least_trusted([]) is Trust.EXTERNAL


@pytest.mark.parametrize("trust", Trust)
def test_something_of_one_origin_is_trusted_like_it(trust: Trust) -> None:
    assert least_trusted([trust]) is trust


@given(ORIGINS)
def test_the_order_of_origins_does_not_matter(origins: list[Trust]) -> None:
    assert least_trusted(origins) is least_trusted(reversed(origins))


@given(ORIGINS)
def test_an_origin_counts_once_however_often_it_is_there(origins: list[Trust]) -> None:
    assert least_trusted(origins + origins) is least_trusted(origins)


@given(ORIGINS, ORIGINS)
def test_deriving_in_steps_is_deriving_at_once(one: list[Trust], other: list[Trust]) -> None:
    in_steps = least_trusted([least_trusted(one), least_trusted(other)])
    assert in_steps is least_trusted(one + other)


@given(ORIGINS, st.sampled_from(Trust))
def test_another_origin_never_adds_trust(origins: list[Trust], more: Trust) -> None:
    order = list(Trust)
    assert order.index(least_trusted([*origins, more])) >= order.index(least_trusted(origins))


@given(ORIGINS)
def test_the_result_is_one_of_the_origins(origins: list[Trust]) -> None:
    assert least_trusted(iter(origins)) in origins
