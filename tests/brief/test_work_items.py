"""Which work items replace which."""

from __future__ import annotations

import pytest

from holdfast.brief.work_items import DecisionQuote, WorkItem, replaces
from holdfast.model.trust import Trust
from holdfast.refine.facts.decision_sentences import FIRM_STRENGTH

EARLIER = "We decided to keep sign-ins alive for thirty days."
LATER = "We decided that sign-ins end after twelve hours, no longer after thirty days."
NARRATED = "That deferred install never re-touches the sign-ins that were alive for thirty days."


def item(sentence: str, day: int, by_person: bool, explicit: bool = True) -> WorkItem:
    time = f"2026-03-{day:02}T09:00:00.000Z"
    who = "user" if by_person else "assistant"
    quote = DecisionQuote(
        sentence, who, time, f"holdfast://turn/{day}", FIRM_STRENGTH, False, (0, 0), by_person,
        explicit,
    )  # fmt: skip
    return WorkItem("exchange", str(day), time, "", Trust.USER, lambda: [quote], session=str(day))


@pytest.mark.parametrize(
    ("later", "earlier", "is_replaced"),
    [
        (item(LATER, 2, by_person=True), item(EARLIER, 1, by_person=True), True),
        (item(LATER, 2, by_person=True), item(EARLIER, 1, by_person=False), True),
        (item(LATER, 2, by_person=False), item(EARLIER, 1, by_person=True), False),
        (item(LATER, 2, by_person=False), item(EARLIER, 1, by_person=False), False),
        (item(LATER, 2, by_person=True), item(EARLIER, 1, False, explicit=False), False),
        (item(NARRATED, 2, False, explicit=False), item(EARLIER, 1, by_person=True), False),
    ],
)
def test_only_a_person_changes_a_decision(
    later: WorkItem, earlier: WorkItem, is_replaced: bool
) -> None:
    assert replaces(later, earlier) is is_replaced


@pytest.mark.parametrize("by_person", [True, False])
def test_whoever_says_the_same_again_replaces_it(by_person: bool) -> None:
    assert replaces(item(EARLIER, 2, by_person), item(EARLIER, 1, by_person=True))
