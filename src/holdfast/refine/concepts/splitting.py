"""Whether a concept has come to hold two things, and which.

Inside a concept its core tells nothing apart, so its members are weighed against each other alone.
The two that are least alike draw the others to their side; if both sides are large enough and have
little in common, they part. The side that has the founder keeps the id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from holdfast.refine.concepts.feature_weights import Features, Weights
from holdfast.refine.concepts.grouping import Group, Grouping, Told, share_of
from holdfast.refine.concepts.items import Item

_LARGE = 12
_GROWN = 1.5
_PART = 4
_APART = 0.35
_ROUNDS = 4


def is_due(group: Group) -> bool:
    """Whether a concept has grown enough since it was last looked at."""
    return group.size >= _LARGE and group.size >= _GROWN * group.looked


def split(grouping: Grouping, group: Group, item: Item, kept: Mapping[str, str]) -> Group | None:
    """The part that leaves a concept, as one of its own."""
    group.looked = group.size
    members = [n for n in group.members if grouping.items[n].speaks]
    stay, leave = _sides(grouping, members)
    if min(len(stay), len(leave)) < _PART or any(grouping.items[n].uri in kept for n in leave):
        return None
    own, rest = Group(""), Group("")
    for part, numbers in ((own, leave), (rest, stay)):
        for number in numbers:
            part.add(number, grouping.features[number])
    if grouping.likeness(own, rest) >= _APART:
        return None
    core = tuple(grouping.common(own, own))
    part = _with_followers(grouping, group, leave)
    new = grouping.part(group, part, grouping.items[part[0]].alias)
    group.told.append(Told(item.time, "split", new.id, "", core))
    new.told.append(Told(item.time, "left", group.id, group.name, core))
    group.looked, new.looked = group.size, new.size
    return new


def _sides(grouping: Grouping, members: Sequence[int]) -> tuple[list[int], list[int]]:
    """The members on the side of the founder, and those on the other."""
    weights = Weights([grouping.items[n] for n in members])
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
    files, _ = share_of(features.files, side.files, side.size)
    words, _ = share_of(features.words, side.words, side.size)
    return (files + words) / 2 if features.files else words


def _with_followers(grouping: Grouping, group: Group, part: Sequence[int]) -> list[int]:
    """What says nothing by itself goes with what it followed upon."""
    own = set(part)
    last: dict[str, int] = {}
    for number in group.members:
        item = grouping.items[number]
        if not item.speaks and last.get(item.session) in own:
            own.add(number)
        elif item.speaks:
            last[item.session] = number
    return sorted(own)
