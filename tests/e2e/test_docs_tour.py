"""The tour in docs/, taken by a newcomer with an empty home."""

from __future__ import annotations

import pytest
from tools.run_tour import PAGE, newcomer, runner, told


@pytest.mark.slow
@pytest.mark.model
def test_the_output_of_every_command_of_the_tour_is_up_to_date() -> None:
    text = PAGE.read_text("utf-8")
    with newcomer() as home:
        now = told(text, runner(home))
    assert now == text, "what commands print has changed: run `make docs`"
    assert now.count("\n$ holdfast") > 12


def test_changed_command_output_is_noticed() -> None:
    page = "# x\n\n```console\n$ holdfast a\nold\n$ holdfast b\n```\n"
    assert told(page, lambda command: f"{command}!\n") == (
        "# x\n\n```console\n$ holdfast a\nholdfast a!\n$ holdfast b\nholdfast b!\n```\n"
    )
