"""What tests wait with, and where they get their random numbers."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

from tests.support.seeds import VARIABLE, seeded_random
from tests.support.waiting import pause_after, seconds_to_midnight, wait_until


def test_wait_until_returns_the_first_true_value() -> None:
    answers = iter(["", "", "there", "later"])
    assert wait_until(lambda: next(answers), "it is there", every_s=0) == "there"


def test_wait_until_names_its_condition_when_it_times_out() -> None:
    with pytest.raises(AssertionError, match=r"until the cow comes home; the last answer: \[\]"):
        wait_until(list[str], "the cow comes home", timeout_s=0.01)


def test_what_takes_long_to_ask_is_asked_less_often() -> None:
    assert pause_after(0.0001, every_s=0.01) == 0.01
    assert pause_after(0.02, every_s=0.01) == pytest.approx(0.08)
    assert pause_after(60, every_s=0.01) == 0.25


def test_a_printed_seed_reproduces_the_same_numbers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    drawn = [seeded_random().random() for _ in range(2)]
    assert drawn[0] != drawn[1]
    for line, number in zip(capsys.readouterr().out.splitlines(), drawn, strict=True):
        monkeypatch.setenv(*line.split("="))
        assert seeded_random().random() == number


def test_a_day_ends_at_midnight_in_utc() -> None:
    assert seconds_to_midnight(0) == 86_400 and seconds_to_midnight(86_400 * 20_000 - 1) == 1


def test_a_law_is_not_broken_by_a_slow_machine() -> None:
    assert settings.default is not None and settings.default.deadline is None
    assert HealthCheck.too_slow in settings.default.suppress_health_check
