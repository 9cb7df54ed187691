"""Builds the concepts of a bank from its first item to its last, with the history of each.

A concept is named when it is first worth showing, and again as it grows, so that its history can
say when it was renamed, merged or split. Once all items are in, names and members are made to
agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from holdfast.refine.concepts.concept_names import ConceptNamer
from holdfast.refine.concepts.grouping import ConceptVectors, Group, GroupEvent, Grouping
from holdfast.refine.concepts.items import Item
from holdfast.refine.concepts.settling import Settler
from holdfast.refine.concepts.splitting import is_due, split
from holdfast.refine.concepts.vocabulary import BankNames

# The sizes at which a concept gets a new name, in steps of about 2.5. Naming at each size would
# cost more and fill the history with renames.
_NAMING_SIZES = frozenset((1, 2, 5, 12, 30, 75, 200, 500, 1200))


class ConceptBuilder:
    """Groups the items of a bank and names the groups; the result is in `groups`."""

    def __init__(
        self,
        items: Iterable[Item],
        vectors: ConceptVectors | None = None,
        founders: Mapping[str, str] | None = None,
        bank: BankNames | None = None,
    ) -> None:
        """`items` are in order of time; `founders` as for `Grouping`."""
        self.items: Sequence[Item] = list(items)
        self._founders = founders or {}
        self.grouping = Grouping(self.items, vectors or ConceptVectors(), self._founders)
        self.namer = ConceptNamer(self.items, bank)
        for number, item in enumerate(self.items):
            group = self.grouping.add_item(number)
            if group is not None:
                self._update_after_growth(group, item)
        shown = [g for g in self.grouping.groups.values() if self._is_worth_showing(g)]
        Settler(self.grouping, self.namer, set(self._founders.values())).settle(shown)

    @property
    def groups(self) -> list[Group]:
        """The groups that are worth showing and have a proven name, in order of their founders."""
        shown = [
            group
            for group in self.grouping.groups.values()
            if self._is_worth_showing(group)
            and (self.is_decided(group) or self.namer.proven_name(self.members(group)))
        ]
        return sorted(shown, key=lambda group: group.members[0])

    def _update_after_growth(self, group: Group, item: Item) -> None:
        """Split a group that is due for it, and name it again at certain sizes."""
        if is_due(group):
            new = split(self.grouping, group, item, self._founders)
            if new is not None:
                self._name(new, item)
                group.events[-1] = group.events[-1]._replace(name=new.name)
            self._name(group, item)
        elif group.size in _NAMING_SIZES:
            self._name(group, item)

    def _name(self, group: Group, item: Item) -> None:
        if not self._is_worth_showing(group):
            return
        names = self.namer.names(self.members(group))
        name = names[0].text if names else ""
        if name and name != group.name:
            what = "renamed" if group.name else "named"
            group.events.append(GroupEvent(item.time, what, "", name, ()))
            group.name = name

    def members(self, group: Group) -> list[Item]:
        """The members of a group in order of time."""
        return [self.items[number] for number in group.members]

    def is_decided(self, group: Group) -> bool:
        """Whether a person decided something about a group."""
        return group.id in self._founders.values()

    def _is_worth_showing(self, group: Group) -> bool:
        """Whether it has several members or a large one, or a person decided something about it.
        What an agent reports of its task is no second member beside the task."""
        if self.is_decided(group):
            return True
        members = self.members(group)
        reports = sum(item.has_topic and item.is_report for item in members)
        return group.size - min(reports, 1) > 1 or any(item.is_large for item in members)
