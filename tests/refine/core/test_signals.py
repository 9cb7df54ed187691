from __future__ import annotations

from holdfast.refine.core.signals import next_steps


def test_a_next_step_says_what_is_to_be_done() -> None:
    step = "The western gauge still needs a lamp before the winter."
    assert next_steps(f"It is painted. {step}") == [step]
    assert next_steps("It is painted.\n\nNext steps (pick one):") == []
