"""Changes numbers of the ranking for one evaluation, to compare settings.

A number is named by its record in a `RecallPlan` and its field: `weights.words=0.3`,
`thresholds.by_words=0.5`, `rerank.read_length=600`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from holdfast.errors import InputError, suggest
from holdfast.recall.core.plan import RecallPlan

GROUPS = ("weights", "thresholds", "rerank")


def tunable_numbers(plan: RecallPlan) -> dict[str, float]:
    """Every number that can be changed, with its value in this plan."""
    return {
        f"{group}.{field}": value
        for group in GROUPS
        for field, value in getattr(plan, group)._asdict().items()
    }


def with_overrides(plan: RecallPlan, overrides: Sequence[str]) -> RecallPlan:
    """The plan with the numbers that `NAME=VALUE` texts set."""
    for text in overrides:
        name, sign, given = text.partition("=")
        name = name.strip()
        known = tunable_numbers(plan)
        if not sign or name not in known:
            raise InputError(
                f"There is no number {name!r} to set.",
                f"{suggest(name, known)}Write NAME=VALUE with one of: {', '.join(known)}.",
            )
        group, _, field = name.partition(".")
        record: Any = getattr(plan, group)
        value = _number(name, given.strip(), type(known[name]))
        plan = plan._replace(**{group: record._replace(**{field: value})})
    return plan


def changed_numbers(plan: RecallPlan) -> dict[str, float]:
    """The numbers of a plan that differ from the defaults."""
    defaults = tunable_numbers(RecallPlan())
    return {name: value for name, value in tunable_numbers(plan).items() if value != defaults[name]}


def _number(name: str, text: str, kind: type[float]) -> float:
    try:
        return kind(text)
    except ValueError as error:
        wanted = "a whole number" if kind is int else "a number"
        raise InputError(
            f"{name} takes {wanted}, not {text!r}.", f"For example {name}=1."
        ) from error
