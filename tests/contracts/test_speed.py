"""The figures of speed: the page shows what was recorded, and a change counts only beyond noise."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench import speed
from bench.figures import Figure, Subject, measure

_PAGE = Path(__file__).parents[2] / "docs" / "speed.md"
_ONE = Figure("Recall", "by words", "a scan", "scale", 2.0, 0.1, 40.0, 9, "processor", 3)


def test_the_page_shows_the_recorded_figures() -> None:
    assert speed.page(speed.read(speed.RECORDED)) in _PAGE.read_text("utf-8")


def test_every_recorded_figure_can_be_measured_again() -> None:
    recorded = speed.read(speed.RECORDED).figures
    assert {figure.module for figure in recorded} == set(speed.MEASURED)
    assert {figure.topic for figure in recorded} == set(speed.TOPICS)


@pytest.mark.slow
def test_figures_are_read_as_they_were_written(tmp_path: Path) -> None:
    told = speed.describe_run([_ONE], 0.25)
    speed.write(told, tmp_path / "speed.json")
    assert speed.read(tmp_path / "speed.json") == told


def test_a_ratio_is_that_of_the_medians_and_noise_that_of_the_rounds() -> None:
    plain, slow = iter([9.0, 9.0, 1.0, 1.0, 2.0, 1.0]), iter([9.0, 9.0, 2.0, 3.0, 8.0, 5.0])
    control = Subject("nothing", lambda: next(plain))
    (figure,) = measure("T", "m", control, [Subject("a", lambda: next(slow), 3)], 4)
    assert (figure.ratio, figure.rounds) == (4.0, 4)
    # The ratios of the rounds are 2, 3, 4 and 5.
    assert figure.noise == 0.75
    assert figure.missed


def test_a_ratio_above_its_limit_by_less_than_its_noise_is_not_missed() -> None:
    assert not _ONE._replace(ratio=3.05).missed
    assert _ONE._replace(ratio=3.2).missed
    assert not _ONE._replace(ratio=99.0, limit=None).missed


def test_only_what_changed_by_more_than_the_noise_is_told() -> None:
    # 0.1 and 0.1 of noise, and a twentieth of 2.0 between any two runs.
    assert speed.changes([_ONE._replace(ratio=2.29)], [_ONE]) == []
    assert speed.changes([_ONE._replace(ratio=2.5)], [_ONE]) == [
        "slower: Recall: by words: 2.00 ± 0.10 → 2.50 ± 0.10 (25%)"
    ]
    assert speed.changes([_ONE._replace(ratio=1.5)], [_ONE])[0].startswith("faster: ")


def test_what_was_measured_only_once_is_told_unless_its_module_was_left_out() -> None:
    other = _ONE._replace(name="by meaning")
    assert speed.changes([other], [_ONE]) == [
        "new: Recall: by meaning: 2.00",
        "no longer measured: Recall: by words",
    ]
    assert speed.changes([other], [other, _ONE._replace(module="hooks")]) == []


def test_a_busy_machine_is_named_on_the_page() -> None:
    told = speed.describe_run([_ONE._replace(ratio=4.0)], 7.5)
    assert "**not idle** (load 7.5)" in speed.page(told)
    assert "| **4.00, missed** | 0.10 | 3 |" in speed.page(told)
    assert "idle (load 0.2)" in speed.page(speed.describe_run([_ONE], 0.2))
