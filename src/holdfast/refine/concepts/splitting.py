"""Splits a concept that has come to hold two topics.

Inside a concept the features of its core distinguish nothing, so features are weighted among its
members alone. The founder and the member least similar to it are the seeds of two sides, which the
other members join (2-means). If both sides are large enough and their cores share little, the
concept is split. The side of the founder keeps the id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from holdfast.refine.concepts.feature_weights import Features, FeatureWeights
from holdfast.refine.concepts.grouping import Group, GroupEvent, Grouping, core_overlap
from holdfast.refine.concepts.items import Item


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
    if min(len(stay), len(leave)) < _PART or any(grouping.items[n].uri in kept for n in leave):
        return None
    own, rest = Group(""), Group("")
    for part, numbers in ((own, leave), (rest, stay)):
        for number in numbers:
            part.add(number, grouping.features[number])
    if grouping.similarity(own, rest) >= _APART:
        return None
    core = tuple(grouping.shared_features(own, own))
    part = _with_followers(grouping, group, leave)
    new = grouping.split_off(group, part, grouping.items[part[0]].founded_id)
    group.events.append(GroupEvent(item.time, "split", new.id, "", core))
    new.events.append(GroupEvent(item.time, "left", group.id, group.name, core))
    group.checked_size, new.checked_size = group.size, new.size
    return new


def _sides(grouping: Grouping, members: Sequence[int]) -> tuple[list[int], list[int]]:
    """The members on the side of the founder, and those on the other."""
    weights = FeatureWeights([grouping.items[n] for n in members])
    features = {n: weights.of(grouping.items[n]) for n in members}
    sides = [Group(""), Group("")]
    sides[0].add(members[0], features[members[0]])
    far = min(members[1:], key=lambda n: (round(_likeness(features[n], sides[0]), 6), -n))
    sides[1].add(far, features[far])
    for _ in range(_ROUNDS):
        drawn = [Group(""), Group("")]
        for number in members:
            near = [_likeness(features[number], side) for side in sides]
            other = number != members[0] and round(near[1] - near[0], 6) > 0
            drawn[other].add(number, features[number])
        if [side.members for side in drawn] == [side.members for side in sides]:
            break
        if not drawn[1].members:
            break
        sides = drawn
    return sides[0].members, sides[1].members


def _likeness(features: Features, side: Group) -> float:
    files, _ = core_overlap(features.files, side.files, side.size)
    words, _ = core_overlap(features.words, side.words, side.size)
    return (files + words) / 2 if features.files else words


def _with_followers(grouping: Grouping, group: Group, part: Sequence[int]) -> list[int]:
    """What says nothing by itself goes with what it followed upon."""
    own = set(part)
    last: dict[str, int] = {}
    for number in group.members:
        item = grouping.items[number]
        if not item.has_topic and last.get(item.session) in own:
            own.add(number)
        elif item.has_topic:
            last[item.session] = number
    return sorted(own)
