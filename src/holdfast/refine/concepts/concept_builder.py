"""The story of a bank's concepts, told from its first record to its last.

Names are given when a concept is first worth showing and looked at again as it grows, so that its
history can say when it was renamed, and what it merged with or parted from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from holdfast.refine.concepts.concept_names import ConceptNamer
from holdfast.refine.concepts.concept_vectors import ConceptVectors
from holdfast.refine.concepts.grouping import Group, GroupEvent, Grouping
from holdfast.refine.concepts.items import Item
from holdfast.refine.concepts.splitting import is_due, split

# How many members it has when its name is looked at.
_NAMED_AT = frozenset((1, 2, 5, 12, 30, 75, 200, 500, 1200))


class ConceptBuilder:
    """The concepts of a bank and what became of them."""

    def __init__(
        self,
        items: Iterable[Item],
        meanings: ConceptVectors | None = None,
        founders: Mapping[str, str] | None = None,
    ) -> None:
        """Items in the order of time. `founders` as for `Grouping`."""
        self.items: Sequence[Item] = list(items)
        self._founders = founders or {}
        self.grouping = Grouping(self.items, meanings or ConceptVectors(), self._founders)
        self.namer = ConceptNamer(self.grouping.weights)
        for number, item in enumerate(self.items):
            group = self.grouping.add_item(number)
            if group is not None:
                self._grown(group, item)

    @property
    def groups(self) -> list[Group]:
        """Those that are worth showing, by their founders."""
        shown = [
            group
            for group in self.grouping.groups.values()
            if self._is_worth(group)
            and (group.id in self._founders.values() or self.namer.is_themed(self.members(group)))
        ]
        return sorted(shown, key=lambda group: group.members[0])

    def _grown(self, group: Group, item: Item) -> None:
        if is_due(group):
            new = split(self.grouping, group, item, self._founders)
            if new is not None:
                self._name(new, item)
                group.events[-1] = group.events[-1]._replace(name=new.name)
            self._name(group, item)
        elif group.size in _NAMED_AT:
            self._name(group, item)

    def _name(self, group: Group, item: Item) -> None:
        if not self._is_worth(group):
            return
        name = self.namer.names(self.members(group))[0]
        if name != group.name:
            what = "renamed" if group.name else "named"
            group.events.append(GroupEvent(item.time, what, "", name, ()))
            group.name = name

    def members(self, group: Group) -> list[Item]:
        """The members of a concept in the order of time."""
        return [self.items[number] for number in group.members]

    def _is_worth(self, group: Group) -> bool:
        """Whether there is enough to speak of: several records, or one large piece of work, or
        somebody decided something about it."""
        if group.size > 1 or group.id in self._founders.values():
            return True
        return any(self.items[number].is_large for number in group.members)
