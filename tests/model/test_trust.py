from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.trust import Trust, least_trusted

ORIGINS = st.lists(st.sampled_from(Trust), min_size=1)


def test_trust_levels_are_ordered_from_most_to_least_trusted() -> None:
    assert list(Trust) == ["user", "team", "assistant", "tool", "import", "external"]


def test_a_record_without_known_origins_is_external() -> None:
    assert least_trusted([]) is Trust.EXTERNAL


@pytest.mark.parametrize("trust", Trust)
def test_a_record_with_one_origin_has_its_trust(trust: Trust) -> None:
    assert least_trusted([trust]) is trust


@pytest.mark.slow
@given(ORIGINS)
def test_the_order_of_origins_does_not_matter(origins: list[Trust]) -> None:
    assert least_trusted(origins) is least_trusted(reversed(origins))


@pytest.mark.slow
@given(ORIGINS)
def test_repeated_origins_count_once(origins: list[Trust]) -> None:
    assert least_trusted(origins + origins) is least_trusted(origins)


@pytest.mark.slow
@given(ORIGINS, ORIGINS)
def test_deriving_trust_in_steps_equals_deriving_it_at_once(
    one: list[Trust], other: list[Trust]
) -> None:
    in_steps = least_trusted([least_trusted(one), least_trusted(other)])
    assert in_steps is least_trusted(one + other)


@pytest.mark.slow
@given(ORIGINS, st.sampled_from(Trust))
def test_another_origin_never_raises_trust(origins: list[Trust], more: Trust) -> None:
    order = list(Trust)
    assert order.index(least_trusted([*origins, more])) >= order.index(least_trusted(origins))


@pytest.mark.slow
@given(ORIGINS)
def test_the_derived_trust_is_that_of_one_of_the_origins(origins: list[Trust]) -> None:
    assert least_trusted(iter(origins)) in origins
