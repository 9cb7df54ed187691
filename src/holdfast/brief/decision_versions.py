"""Which work items decide again what an earlier one decided, so that briefs quote the latest alone.

Only what is to be quoted is compared: a hook whose prompt concerns no decision does not load this.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.brief.work_items import DecisionQuote, WorkItem
from holdfast.refine.core.statement_similarity import (
    says_the_same,
    statement_features,
    supersedes,
)
from holdfast.refine.facts.amendments import amends
from holdfast.refine.facts.decision_sentences import MIN_STRENGTH


def replaces(later: WorkItem, earlier: WorkItem) -> bool:
    """Whether the later item decides again what the earlier one decided, so that only the later is
    quoted: it says the same, or it changes a decision. Being about the same files or subject is not
    enough: both may hold. A note changes no decision."""
    if later.is_note and not earlier.is_note:
        return False
    return any(_replaces(new, old) for new in _firm(later) for old in _firm(earlier))


def repeats(decisions: Sequence[DecisionQuote], earlier: str) -> bool:
    """Whether one of some decisions says again what was said earlier, and so changes nothing."""
    old = statement_features(earlier)
    return any(says_the_same(statement_features(one.sentence), old) for one in decisions)


def _firm(item: WorkItem) -> list[DecisionQuote]:
    return [decision for decision in item.decisions if decision.strength >= MIN_STRENGTH]


def _replaces(later: DecisionQuote, earlier: DecisionQuote) -> bool:
    """Whether a decision is made again or changed. Only people change decisions, their own or those
    that an agent states as such ("We decided …"): what an agent says of its work in similar words
    is about something else."""
    new, old = statement_features(later.sentence), statement_features(earlier.sentence)
    if says_the_same(new, old):
        return True
    both_decide = earlier.by_person or (earlier.explicit and later.explicit)
    if not (later.by_person and both_decide):
        return False
    return supersedes(new, old) or amends(later.sentence, earlier.sentence)


def latest_versions(items: Sequence[WorkItem]) -> list[tuple[WorkItem, WorkItem | None]]:
    """The items in their order, without those that a later one replaces; each with the latest item
    that it replaces."""
    kept: list[tuple[WorkItem, WorkItem | None]] = []
    for item in items:
        own = (item.time, item.id)
        others = [other for other in items if other is not item]
        if any((o.time, o.id) > own and replaces(o, item) for o in others):
            continue
        before = [o for o in others if (o.time, o.id) < own and replaces(item, o)]
        kept.append((item, max(before, key=lambda o: (o.time, o.id), default=None)))
    return kept
