"""Groups items into concepts, one item after the other in order of time.

An item joins the concept whose core holds more than 30% of the weight of its features, the best one
if there are several; otherwise it founds a concept. The id of a concept comes from its founder, so
it does not change as the concept grows. If an item fits two similar concepts, the younger is merged
into the elder; a concept that holds two topics by now is split (`splitting`). The result depends
on the items alone, not on the order in which they were read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.refine.concepts.items import Features, FeatureWeights, Item

Vector = NDArray[np.float32]
# The range of cosines that is mapped to 0..1: below it two texts have nothing in common, above it
# they say the same. It depends on the embedding model.
_UNRELATED_COSINE, _SAME_COSINE = 0.3, 0.7


class ConceptVectors:
    """The vectors of items by number, and their sums by concept. Without any, all are unlike."""

    def __init__(self, vectors: Mapping[int, Vector] | None = None) -> None:
        self._vectors = vectors or {}
        self._sums: dict[str, Vector] = {}

    def add(self, concept: str, number: int) -> None:
        """Add the vector of an item to a concept."""
        vector = self._vectors.get(number)
        if vector is not None:
            known = self._sums.get(concept)
            self._sums[concept] = vector.copy() if known is None else known + vector

    def merge(self, concept: str, other: str) -> None:
        """Add the sum of another concept to a concept and remove the other."""
        gone = self._sums.pop(other, None)
        if gone is not None:
            known = self._sums.get(concept)
            self._sums[concept] = gone if known is None else known + gone

    def clear(self, concept: str) -> None:
        """Remove the sum of a concept."""
        self._sums.pop(concept, None)

    def similarity(self, number: int, concept: str) -> float:
        """From 0 (nothing in common, or no vectors) to 1."""
        vector, whole = self._vectors.get(number), self._sums.get(concept)
        if vector is None or whole is None:
            return 0.0
        length = float(np.linalg.norm(vector) * np.linalg.norm(whole))
        cosine = float(vector @ whole) / length if length else 0.0
        scaled = (cosine - _UNRELATED_COSINE) / (_SAME_COSINE - _UNRELATED_COSINE)
        # Rounded, because the last digits differ between machines.
        return round(min(1.0, max(0.0, scaled)), 3)


class GroupingLimits(NamedTuple):
    """When items belong together. docs/concepts.md states the 30%. Lower thresholds give fewer and
    more mixed concepts, higher ones more and smaller."""

    # Overlap with the core of a concept above which an item joins it.
    min_overlap: float = 0.3
    # Similarity of two cores above which two concepts that an item fits are merged.
    merge_similarity: float = 0.5
    # A feature belongs fully to the core if 1 / core_factor of the members have it: half of them.
    core_factor: float = 2.0
    # Features that an item must share with a concept, unless it follows one of its members.
    min_shared_features: int = 2
    # Added to the overlap: for the concept of the item before it in the session, and for the same
    # meaning by vectors. Even together they do not reach `min_overlap`.
    follows_bonus: float = 0.12
    meaning_bonus: float = 0.15
    # Factor where the item has files and the concept has none: half of the evidence is missing.
    no_files_factor: float = 0.7
    # Bounds of the search for similar concepts, so that its cost does not grow with the bank: the
    # concepts that are compared, the features that are looked up, and how many concepts may have a
    # feature that is.
    max_candidates: int = 24
    max_probes: int = 12
    max_concepts_of_probe: int = 120


LIMITS = GroupingLimits()


class GroupEvent(NamedTuple):
    """Something that happened to a concept: when, what ("named", "renamed", "merged", "split",
    "left", "joined"), the id and the name of the other concept, and the features they share."""

    time: str
    what: str
    other: str = ""
    name: str = ""
    features: tuple[str, ...] = ()


@dataclass(slots=True)
class Group:
    """A concept under construction. `members` are numbers of items; `size` counts those with a
    topic, and `checked_size` is the size when it was last considered for a split. `files` and
    `words` count the members that have a feature."""

    id: str
    members: list[int] = field(default_factory=list[int])
    files: Counter[str] = field(default_factory=Counter[str])
    words: Counter[str] = field(default_factory=Counter[str])
    events: list[GroupEvent] = field(default_factory=list[GroupEvent])
    checked_size: int = 0
    size: int = 0
    name: str = ""

    def add(self, number: int, features: Features) -> None:
        """Add a member that has a topic."""
        self.members.append(number)
        self.size += 1
        self.files.update(features.files.keys())
        self.words.update(features.words.keys())


class Grouping:
    """The concepts of a bank while items are added. `concept_of` maps numbers of items to ids."""

    def __init__(
        self, items: Sequence[Item], vectors: ConceptVectors, founders: Mapping[str, str]
    ) -> None:
        """`founders` maps URIs of records to ids of concepts that they found whatever they
        resemble, because a person decided something about these concepts."""
        self.items = items
        self.weights = FeatureWeights(items)
        self.features = [self.weights.weigh(item) for item in items]
        self.groups: dict[str, Group] = {}
        self.concept_of: dict[int, str] = {}
        self._vectors = vectors
        self._founders = founders
        self._decided = set(founders.values())
        # The ids of the concepts that have a feature, in the order in which they got it.
        self._by_feature: dict[str, dict[str, None]] = {}
        self._last_in_session: dict[str, int] = {}

    def add_item(self, number: int) -> Group | None:
        """Put the next item into a concept; None if it has no topic and follows no other item."""
        item = self.items[number]
        before = self._last_in_session.get(item.session) if item.session else None
        if item.session:
            self._last_in_session[item.session] = number
        decided_id = self._founders.get(item.uri)
        if decided_id is not None:
            return self._found(number, decided_id)
        followed = self.concept_of.get(before) if before is not None else None
        if not item.has_topic:
            # "Commit this" belongs to the item before it.
            return self._follow(number, followed)
        similar = self._similar(number, followed)
        if not similar or similar[0][0] <= LIMITS.min_overlap:
            return self._found(number, item.founded_id)
        group = self.groups[similar[0][1]]
        self._join(group, number)
        others = [id for overlap, id in similar[1:3] if overlap > LIMITS.min_overlap]
        return self._merge(group, others, item)

    def _follow(self, number: int, followed: str | None) -> Group | None:
        if followed is None:
            return None
        group = self.groups[followed]
        group.members.append(number)
        self.concept_of[number] = followed
        return group

    def _found(self, number: int, id: str) -> Group:
        group = self.groups[id] = Group(id)
        self._join(group, number)
        return group

    def _join(self, group: Group, number: int) -> None:
        features = self.features[number]
        group.add(number, features)
        self._vectors.add(group.id, number)
        self.concept_of[number] = group.id
        for feature in (*features.files, *features.words):
            if self.weights.frequency(feature) > 1:
                self._by_feature.setdefault(feature, {})[group.id] = None

    def _similar(self, number: int, followed: str | None) -> list[tuple[float, str]]:
        """The concepts that an item overlaps with, the best first; of equal ones the elder."""
        features = self.features[number]
        found: Counter[str] = Counter()
        for feature in self._probes(features):
            found.update(list(self._by_feature.get(feature, ())))
        if followed is not None:
            found[followed] += 1
        best = nsmallest(
            LIMITS.max_candidates,
            found,
            key=lambda id: (-found[id], self.groups[id].members[0]),
        )
        scored = [(self._overlap(number, self.groups[id], id == followed), id) for id in best]
        return sorted(
            (pair for pair in scored if pair[0] > 0),
            key=lambda pair: (-round(pair[0], 6), self.groups[pair[1]].members[0]),
        )

    def _probes(self, features: Features) -> list[str]:
        """The features to look up: the heaviest that some, but not too many, concepts have."""
        both = (*features.files.items(), *features.words.items())
        known = [
            (weight, feature)
            for feature, weight in both
            if 0 < len(self._by_feature.get(feature, ())) <= LIMITS.max_concepts_of_probe
        ]
        known.sort(key=lambda pair: (-pair[0], pair[1]))
        return [feature for _, feature in known[: LIMITS.max_probes]]

    def _overlap(self, number: int, group: Group, follows: bool) -> float:
        """The share of an item's features that is in the core of a concept, with bonuses."""
        features = self.features[number]
        files, shared_files = core_overlap(features.files, group.files, group.size)
        words, shared_words = core_overlap(features.words, group.words, group.size)
        if shared_files + shared_words < LIMITS.min_shared_features and not follows:
            return 0.0
        if not features.files:
            overlap = words
        elif not group.files:
            overlap = LIMITS.no_files_factor * words
        else:
            overlap = (files + words) / 2
        overlap += LIMITS.meaning_bonus * self._vectors.similarity(number, group.id)
        return overlap + (LIMITS.follows_bonus if follows else 0.0)

    def _merge(self, group: Group, others: Iterable[str], item: Item) -> Group:
        """Merge a concept with those of the others that are similar; returns the eldest. A concept
        that a person decided about is never merged into another."""
        for id in others:
            other = self.groups[id]
            if self.similarity(group, other) > LIMITS.merge_similarity:
                elder, younger = sorted((group, other), key=lambda g: g.members[0])
                if younger.id in self._decided:
                    continue
                self.merge_into(elder, younger, item)
                group = elder
        return group

    def merge_into(self, elder: Group, younger: Group, item: Item) -> None:
        """Merge the younger of two concepts into the elder, after an item was added."""
        shared = tuple(self.shared_features(elder, younger))
        elder.events.append(GroupEvent(item.time, "merged", younger.id, younger.name, shared))
        for number in younger.members:
            self.concept_of[number] = elder.id
        elder.members = sorted([*elder.members, *younger.members])
        elder.size += younger.size
        elder.files.update(younger.files)
        elder.words.update(younger.words)
        self._vectors.merge(elder.id, younger.id)
        for feature in (*younger.files, *younger.words):
            ids = self._by_feature.get(feature)
            if ids is not None:
                ids.pop(younger.id, None)
                ids[elder.id] = None
        del self.groups[younger.id]

    def similarity(self, one: Group, other: Group) -> float:
        """The share of the smaller core that both have (0 to 1): the mean of files and words."""
        rarity = self.weights.rarity
        shares: list[float] = []
        for mine, theirs in ((one.files, other.files), (one.words, other.words)):
            cores = [_core(c, g.size) for c, g in ((mine, one), (theirs, other))]
            sizes = [sum(rarity(f) * p for f, p in core.items()) for core in cores]
            if min(sizes) > 0:
                both = sum(
                    rarity(f) * min(p, cores[1][f]) for f, p in cores[0].items() if f in cores[1]
                )
                shares.append(both / min(sizes))
        return sum(shares) / len(shares) if shares else 0.0

    def shared_features(self, one: Group, other: Group, limit: int = 3) -> list[str]:
        """The features that two concepts share, the most distinctive first."""
        counts: dict[str, int] = {}
        for mine, theirs in ((one.files, other.files), (one.words, other.words)):
            counts |= {f: min(n, theirs[f]) for f, n in mine.items() if f in theirs}
        return sorted(counts, key=lambda f: (-self.weights.rarity(f) * counts[f], f))[:limit]

    def split_off(self, group: Group, numbers: Sequence[int], id: str) -> Group:
        """Move some members out of a concept into a new one with this id."""
        leaving = set(numbers)
        for feature in (*group.files, *group.words):  # those of the rest are added again below
            self._by_feature.get(feature, {}).pop(group.id, None)
        group.members = [n for n in group.members if n not in leaving]
        split = self.groups[id] = Group(id)
        for owner, members in ((group, group.members), (split, sorted(leaving))):
            owner.files, owner.words, owner.members, owner.size = Counter(), Counter(), [], 0
            self._vectors.clear(owner.id)
            for number in members:
                if self.items[number].has_topic:
                    self._join(owner, number)
                else:
                    self._follow(number, owner.id)
        return split


def core_overlap(
    features: Mapping[str, float], counts: Counter[str], size: int
) -> tuple[float, int]:
    """The weighted share of features that is in the core of a concept of `size` members, and the
    number of features that any member has. `counts` are the members that have a feature."""
    total = in_core = 0.0
    shared = 0
    for feature, weight in features.items():
        total += weight
        count = counts.get(feature, 0)
        if count:
            in_core += weight * min(1.0, LIMITS.core_factor * count / size)
            shared += 1
    return (in_core / total if total else 0.0), shared


def _core(counts: Counter[str], size: int) -> dict[str, float]:
    """The core of a concept: how far each feature belongs to it. Features of less than a quarter of
    the members are left out."""
    factor = LIMITS.core_factor
    return {f: min(1.0, factor * n / size) for f, n in counts.items() if factor * n >= size * 0.5}
