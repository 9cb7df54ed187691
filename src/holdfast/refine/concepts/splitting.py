"""Splits a concept that has come to hold two topics.

Inside a concept the features of its core distinguish nothing, so features are weighted among its
members alone. The founder and the member least similar to it are the seeds of two sides, which the
other members join (2-means). If both sides are large enough and their cores share little, the
concept is split. The side of the founder keeps the id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from holdfast.refine.concepts.grouping import Group, GroupEvent, Grouping, core_overlap
from holdfast.refine.concepts.items import Features, FeatureWeights, Item


class SplitLimits(NamedTuple):
    """When a concept is split. Lower sizes and a higher similarity split more often."""

    min_size: int = 12  # members with a topic, before a split is considered
    min_growth: float = 1.5  # since it was last considered; bounds how often that happens
    min_side: int = 4  # members of each side
    max_similarity: float = 0.35  # of the cores of both sides; merging needs more than 0.5
    max_rounds: int = 4  # of assigning members to sides


_LIMITS = SplitLimits()


def is_due(group: Group) -> bool:
    """Whether a concept has grown enough to be considered for a split."""
    grown = group.size >= _LIMITS.min_growth * group.checked_size
    return group.size >= _LIMITS.min_size and grown


def split(
    grouping: Grouping, group: Group, item: Item, founders: Mapping[str, str]
) -> Group | None:
    """Split a concept if it holds two topics; returns the new concept, or None. Records in
    `founders` stay where they are, because a person decided about their concept."""
    group.checked_size = group.size
    members = [n for n in group.members if grouping.items[n].has_topic]
    stay, leave = _sides(grouping, members)
    if min(len(stay), len(leave)) < _LIMITS.min_side:
        return None
    if any(grouping.items[n].uri in founders for n in leave):
        return None
    leaving, staying = Group(""), Group("")
    for side, numbers in ((leaving, leave), (staying, stay)):
        for number in numbers:
            side.add(number, grouping.features[number])
    if grouping.similarity(leaving, staying) >= _LIMITS.max_similarity:
        return None
    core = tuple(grouping.shared_features(leaving, leaving))
    moved = with_followers(grouping, group, leave)
    new = grouping.split_off(group, moved, grouping.items[moved[0]].founded_id)
    group.events.append(GroupEvent(item.time, "split", new.id, "", core))
    new.events.append(GroupEvent(item.time, "left", group.id, group.name, core))
    group.checked_size, new.checked_size = group.size, new.size
    return new


def _sides(grouping: Grouping, members: Sequence[int]) -> tuple[list[int], list[int]]:
    """The members on the side of the founder, and those on the other side."""
    weights = FeatureWeights([grouping.items[n] for n in members])
    features = {n: weights.weigh(grouping.items[n]) for n in members}
    sides = [Group(""), Group("")]
    sides[0].add(members[0], features[members[0]])
    farthest = min(members[1:], key=lambda n: (round(_overlap(features[n], sides[0]), 6), -n))
    sides[1].add(farthest, features[farthest])
    for _ in range(_LIMITS.max_rounds):
        assigned = [Group(""), Group("")]
        for number in members:
            first, second = (_overlap(features[number], side) for side in sides)
            to_second = number != members[0] and round(second - first, 6) > 0
            assigned[to_second].add(number, features[number])
        if [side.members for side in assigned] == [side.members for side in sides]:
            break
        if not assigned[1].members:
            break
        sides = assigned
    return sides[0].members, sides[1].members


def _overlap(features: Features, side: Group) -> float:
    files, _ = core_overlap(features.files, side.files, side.size)
    words, _ = core_overlap(features.words, side.words, side.size)
    return (files + words) / 2 if features.files else words


def with_followers(grouping: Grouping, group: Group, members: Sequence[int]) -> list[int]:
    """These members, and those without a topic that follow one of them in its session."""
    own = set(members)
    last: dict[str, int] = {}
    for number in group.members:
        item = grouping.items[number]
        if not item.has_topic and last.get(item.session) in own:
            own.add(number)
        elif item.has_topic:
            last[item.session] = number
    return sorted(own)
