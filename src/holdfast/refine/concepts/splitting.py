"""Whether a concept has come to hold several things, and which.

Inside a concept its core tells nothing apart, so its members are weighed against each other alone
and grouped anew. A part that is large enough, and has little in common with the rest, goes its
own way; the part that has the founder keeps the id.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.refine.concepts.grouping import Group, Grouping, Told
from holdfast.refine.concepts.items import Item
from holdfast.refine.concepts.meanings import Meanings

_LARGE = 12
_GROWN = 1.5
_PART = 4
_APART = 0.35


def is_due(group: Group) -> bool:
    """Whether a concept has grown enough since it was last looked at."""
    return group.size >= _LARGE and group.size >= _GROWN * group.looked


def split(grouping: Grouping, group: Group, item: Item, kept: Mapping[str, str]) -> list[Group]:
    """The parts that leave a concept, as concepts of their own."""
    group.looked = group.size
    members = [n for n in group.members if grouping.items[n].speaks]
    inner = Grouping([grouping.items[n] for n in members], Meanings(), {})
    for number in range(len(members)):
        inner.tell(number)
    founder = group.members[0]
    parts = [[members[n] for n in part.members] for part in inner.groups.values()]
    leaving = [p for p in parts if founder not in p and len(p) >= _PART]
    made: list[Group] = []
    for part in leaving:
        if any(grouping.items[n].uri in kept for n in part) or group.size - len(part) < _PART:
            continue
        own, rest = Group(""), Group("")
        for number in members:
            (own if number in part else rest).add(number, grouping.features[number])
        if grouping.likeness(own, rest) >= _APART:
            continue
        part = _with_followers(grouping, group, part)
        new = grouping.part(group, part, grouping.items[part[0]].alias)
        core = tuple(grouping.common(own, own))
        group.told.append(Told(item.time, "split", new.id, "", core))
        new.told.append(Told(item.time, "left", group.id, group.name, core))
        new.looked = new.size
        made.append(new)
        members = [n for n in members if n not in part]
    return made


def _with_followers(grouping: Grouping, group: Group, part: list[int]) -> list[int]:
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
