"""Makes members and names of concepts agree, once all items of a bank are in.

Files and words bring items together that are about several things. If nothing names such a concept
as a whole, but something names a part of its members, this part becomes a concept of its own. Two
concepts that have the same name, or names that differ by one word, are one.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from holdfast.refine.concepts.concept_names import ConceptNamer, Name
from holdfast.refine.concepts.grouping import Group, GroupEvent, Grouping
from holdfast.refine.concepts.items import Item
from holdfast.refine.concepts.splitting import with_followers


class SettlingLimits(NamedTuple):
    """When concepts with like names are joined."""

    # Words that two names share at least, if one of them has one word more than the other.
    min_shared_words: int = 2
    # The size of the joined concept, of the items of the bank, and in a small one: what much of
    # a project is about ("remediation") does not make two concepts one.
    max_share_of_bank: float = 0.15
    max_items: int = 12


_LIMITS = SettlingLimits()


class Settler:
    """Settles the concepts of a bank, except for those that people decided about."""

    def __init__(self, grouping: Grouping, namer: ConceptNamer, decided: Container[str]) -> None:
        self._grouping = grouping
        self._namer = namer
        self._decided = decided
        # Concepts by their names, folded.
        self._owners: dict[str, tuple[Name, Group]] = {}

    def settle(self, groups: Iterable[Group]) -> None:
        """Join and part some concepts, in order of their founders."""
        queue = [(group.members[0], group.id) for group in groups]
        heapify(queue)
        while queue:
            group = self._grouping.groups[heappop(queue)[1]]
            for one in self._settle(group):
                heappush(queue, (one.members[0], one.id))

    def _settle(self, group: Group) -> list[Group]:
        """Name, join or part a concept; returns those that are to be settled again."""
        items = self._items(group)
        names = self._namer.names(items)
        if not names:
            return self._part(group, items)
        for name in names:
            owner = self._owner(name, items)
            if owner is None:
                self._owners[name.folded] = name, group
                return []
            if self._may_join(owner, group):
                self._grouping.merge_into(owner, group, items[-1])
                self._owners = {k: v for k, v in self._owners.items() if v[1] is not owner}
                return [owner]
        return self._part(group, items)

    def _part(self, group: Group, items: Sequence[Item]) -> list[Group]:
        """Part a concept into what a name is about and the rest; [] if no name is there."""
        if group.id in self._decided:
            return []
        part = self._namer.part(items, self._owners)
        return self._split(group, part) if part else []

    def _owner(self, name: Name, items: Sequence[Item]) -> Group | None:
        """The concept that has the same name, one that differs by one word, or one of which the
        longer of both names says what both are about."""
        same = self._owners.get(name.folded)
        if same is not None:
            return same[1]
        words = set(name.key)
        for other, group in self._owners.values():
            theirs = set(other.key)
            if words <= theirs:
                names_both = self._namer.is_name_of(other, items)
            elif theirs < words:
                names_both = self._namer.is_name_of(name, self._items(group))
            else:
                continue
            is_near = len(words ^ theirs) <= 1
            if names_both or (is_near and len(words & theirs) >= _LIMITS.min_shared_words):
                return group
        return None

    def _may_join(self, elder: Group, younger: Group) -> bool:
        if younger.id in self._decided:
            return False
        size = elder.size + younger.size
        share = _LIMITS.max_share_of_bank * len(self._grouping.items)
        return size <= max(_LIMITS.max_items, share)

    def _split(self, group: Group, part: Iterable[Item]) -> list[Group]:
        """Part a concept; returns both sides. The side of the founder keeps the id."""
        items = self._grouping.items
        about = {item.uri for item in part}
        moved = [n for n in group.members if items[n].uri in about]
        moved = with_followers(self._grouping, group, moved)
        if group.members[0] in moved:
            moved = [n for n in group.members if n not in set(moved)]
        if not moved:
            return []  # all are about it, and others have the name
        new = self._grouping.split_off(group, moved, items[moved[0]].founded_id)
        core = tuple(self._grouping.shared_features(new, new))
        time = items[max(*group.members, *new.members)].time
        group.events.append(GroupEvent(time, "split", new.id, "", core))
        new.events.append(GroupEvent(time, "left", group.id, group.name, core))
        return [group, new]

    def _items(self, group: Group) -> list[Item]:
        return [self._grouping.items[number] for number in group.members]
