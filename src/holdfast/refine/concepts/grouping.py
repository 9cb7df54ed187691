"""Which records belong together: told in the order of time, one record after the other.

A record joins the concept of which more than 30% of what it is told by is the core; if there is
none, it founds one. A concept is known by its founder, so its name and its growth do not change
its id. Where a record belongs to two concepts that are much alike, the younger goes into the
elder; a concept that has come to hold several things is split (`splitting`). The result depends
on the records alone, not on when each was read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import NamedTuple

from holdfast.refine.concepts.concept_vectors import Meanings
from holdfast.refine.concepts.feature_weights import Features, Weights
from holdfast.refine.concepts.items import Item

JOINS = 0.3
# Two concepts that are this much alike are one.
_ALIKE = 0.5
# What half of the members have is the core of a concept.
_CORE = 2.0
_FOLLOWS = 0.12
_MEANS = 0.15
_SHARED = 2
_CANDIDATES = 24
_PROBES = 12
_POSTED = 120


class Told(NamedTuple):
    """Something that happened to a concept: when, what, with which other concept, called how,
    and what that was told by."""

    time: str
    what: str
    other: str = ""
    name: str = ""
    features: tuple[str, ...] = ()


@dataclass(slots=True)
class Group:
    """A concept in the making. `size` counts the members that say what they are about; `told` is
    what happened to it."""

    id: str
    members: list[int] = field(default_factory=list[int])
    files: Counter[str] = field(default_factory=Counter[str])
    words: Counter[str] = field(default_factory=Counter[str])
    told: list[Told] = field(default_factory=list["Told"])
    looked: int = 0
    size: int = 0
    name: str = ""

    def add(self, number: int, features: Features) -> None:
        """Take a member in."""
        self.members.append(number)
        self.size += 1
        self.files.update(features.files.keys())
        self.words.update(features.words.keys())


class Grouping:
    """The concepts of a bank, while its records are told one after the other."""

    def __init__(
        self, items: Sequence[Item], meanings: Meanings, founders: Mapping[str, str]
    ) -> None:
        """`founders` are records that found a concept whatever they resemble, with its id,
        because a person decided something about that concept."""
        self.items = items
        self.weights = Weights(items)
        self.features = [self.weights.of(item) for item in items]
        self.groups: dict[str, Group] = {}
        self.home: dict[int, str] = {}
        self._meanings = meanings
        self._founders = founders
        self._kept = set(founders.values())
        self._posted: dict[str, dict[str, None]] = {}
        self._last: dict[str, int] = {}

    def tell(self, number: int) -> Group | None:
        """Find the place of the next record; None if it says too little to have one."""
        item = self.items[number]
        before = self._last.get(item.session) if item.session else None
        if item.session:
            self._last[item.session] = number
        given = self._founders.get(item.uri)
        if given is not None:
            return self._found(number, given)
        followed = self.home.get(before) if before is not None else None
        if not item.speaks:
            # "Commit this" belongs to what it follows upon.
            return self._follow(number, followed)
        near = self._near(number, followed)
        if near and near[0][0] > JOINS:
            group = self.groups[near[0][1]]
            self._join(group, number)
            alike = [id for overlap, id in near[1:3] if overlap > JOINS]
            return self._merge(group, alike, item)
        return self._found(number, item.alias)

    def _follow(self, number: int, followed: str | None) -> Group | None:
        if followed is None:
            return None
        group = self.groups[followed]
        group.members.append(number)
        self.home[number] = followed
        return group

    def _found(self, number: int, id: str) -> Group:
        group = self.groups[id] = Group(id)
        self._join(group, number)
        return group

    def _join(self, group: Group, number: int) -> None:
        features = self.features[number]
        group.add(number, features)
        self._meanings.add(group.id, number)
        self.home[number] = group.id
        for feature in (*features.files, *features.words):
            if self.weights.frequency(feature) > 1:
                self._posted.setdefault(feature, {})[group.id] = None

    def _near(self, number: int, followed: str | None) -> list[tuple[float, str]]:
        """The concepts that a record overlaps with, the most first; of equal ones the elder."""
        features = self.features[number]
        found: Counter[str] = Counter()
        for feature in self._probes(features):
            found.update(list(self._posted.get(feature, ())))
        if followed is not None:
            found[followed] += 1
        best = nsmallest(
            _CANDIDATES, found, key=lambda id: (-found[id], self.groups[id].members[0])
        )
        scored = [(self._overlap(number, self.groups[id], id == followed), id) for id in best]
        return sorted(
            (pair for pair in scored if pair[0] > 0),
            key=lambda pair: (-round(pair[0], 6), self.groups[pair[1]].members[0]),
        )

    def _probes(self, features: Features) -> list[str]:
        """The features to look for: the most telling that not too many concepts have."""
        both = (*features.files.items(), *features.words.items())
        known = [(w, f) for f, w in both if 0 < len(self._posted.get(f, ())) <= _POSTED]
        return [f for _, f in sorted(known, key=lambda pair: (-pair[0], pair[1]))[:_PROBES]]

    def _overlap(self, number: int, group: Group, follows: bool) -> float:
        """The share of what a record is told by that is the core of a concept."""
        features = self.features[number]
        files, shared_files = share_of(features.files, group.files, group.size)
        words, shared_words = share_of(features.words, group.words, group.size)
        if shared_files + shared_words < _SHARED and not follows:
            return 0.0
        if not features.files:
            overlap = words
        elif not group.files:
            overlap = 0.7 * words
        else:
            overlap = (files + words) / 2
        overlap += _MEANS * self._meanings.nearness(number, group.id)
        return overlap + (_FOLLOWS if follows else 0.0)

    def _merge(self, group: Group, alike: Iterable[str], item: Item) -> Group:
        for id in alike:
            other = self.groups[id]
            if self.likeness(group, other) > _ALIKE:
                elder, younger = sorted((group, other), key=lambda g: g.members[0])
                if younger.id in self._kept:
                    continue
                self._swallow(elder, younger, item)
                group = elder
        return group

    def _swallow(self, elder: Group, younger: Group, item: Item) -> None:
        common = tuple(self.common(elder, younger))
        elder.told.append(Told(item.time, "merged", younger.id, younger.name, common))
        for number in younger.members:
            self.home[number] = elder.id
        elder.members = sorted([*elder.members, *younger.members])
        elder.size += younger.size
        elder.files.update(younger.files)
        elder.words.update(younger.words)
        self._meanings.merge(elder.id, younger.id)
        for feature in (*younger.files, *younger.words):
            posted = self._posted.get(feature)
            if posted is not None:
                posted.pop(younger.id, None)
                posted[elder.id] = None
        del self.groups[younger.id]

    def likeness(self, one: Group, other: Group) -> float:
        """How much the cores of two concepts are the same, by the smaller of them."""
        shares: list[float] = []
        for mine, theirs in ((one.files, other.files), (one.words, other.words)):
            cores = [_core(c, g.size) for c, g in ((mine, one), (theirs, other))]
            sizes = [sum(self._worth(f) * p for f, p in core.items()) for core in cores]
            if min(sizes) > 0:
                both = sum(
                    self._worth(f) * min(p, cores[1][f])
                    for f, p in cores[0].items()
                    if f in cores[1]
                )
                shares.append(both / min(sizes))
        return sum(shares) / len(shares) if shares else 0.0

    def common(self, one: Group, other: Group, most: int = 3) -> list[str]:
        """What two concepts have in common, the most telling first."""
        counts: dict[str, int] = {}
        for mine, theirs in ((one.files, other.files), (one.words, other.words)):
            counts |= {f: min(n, theirs[f]) for f, n in mine.items() if f in theirs}
        return sorted(counts, key=lambda f: (-self._worth(f) * counts[f], f))[:most]

    def _worth(self, feature: str) -> float:
        return self.weights.rarity(feature)

    def part(self, group: Group, numbers: Sequence[int], id: str) -> Group:
        """Take some members out of a concept, as one of their own."""
        away = set(numbers)
        for feature in (*group.files, *group.words):  # what is left of it is posted again
            self._posted.get(feature, {}).pop(group.id, None)
        group.members = [n for n in group.members if n not in away]
        split = self.groups[id] = Group(id)
        for owner, members in ((group, group.members), (split, sorted(away))):
            owner.files, owner.words, owner.members, owner.size = Counter(), Counter(), [], 0
            self._meanings.clear(owner.id)
            for number in members:
                if self.items[number].speaks:
                    self._join(owner, number)
                else:
                    self._follow(number, owner.id)
        return split


def share_of(features: Mapping[str, float], counts: Counter[str], size: int) -> tuple[float, int]:
    """The share of features that is the core of a concept, and how many it has at all."""
    whole = shared = 0.0
    number = 0
    for feature, weight in features.items():
        whole += weight
        count = counts.get(feature, 0)
        if count:
            shared += weight * min(1.0, _CORE * count / size)
            number += 1
    return (shared / whole if whole else 0.0), number


def _core(counts: Counter[str], size: int) -> dict[str, float]:
    return {f: min(1.0, _CORE * n / size) for f, n in counts.items() if _CORE * n >= size * 0.5}
