"""What items are about, as against what they mention: how central a name is to some of them.

An item is about the words of its title and of its commits, about the files that it changed, and
less surely about the first sentence of its result. Bodies of requests and replies say nothing here:
most of what they mention is beside the point, or was pasted.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import NamedTuple

from holdfast.language import sentences
from holdfast.refine.concepts.file_names import file_topic, file_weight, is_index
from holdfast.refine.concepts.items import Item
from holdfast.refine.concepts.terms import (
    key_of,
    roots_of,
    telling_roots,
    without_comparisons,
    without_pasted_text,
)


class CentralityWeights(NamedTuple):
    """How far an item is about a name by where the words of the name are, from 0 to 1. Tuned by
    reading the names of real sessions, as bench/RESULTS.md says."""

    title: float = 1.0  # and commits
    file: float = 0.7  # less: its name says where people worked, not on what
    file_beside_title: float = 0.5  # where the title says something else
    statement: float = 0.5  # the first sentence of the result
    mention: float = 0.2  # anywhere in the texts
    # A file counts in full among so many changed ones, the less the more there are.
    full_files: int = 2
    # A smaller part of the words of a name, by their rarity, is a coincidence; a larger one counts
    # for less than the part that it is.
    min_part: float = 0.5
    part_exponent: float = 1.5


_WEIGHTS = CentralityWeights()
# An item is about a name from here on: by its title, or by a file that is most of what it changed.
ABOUT = 0.7


class Subject(NamedTuple):
    """What an item is about, as stems. `has_title` is false if its title says nothing, as "Address
    the feedback"."""

    title: Set[str]
    statement: Set[str]
    files: tuple[Set[str], ...]
    has_title: bool

    @classmethod
    def of(cls, item: Item) -> Subject:
        """The subject of an item."""
        asked = without_comparisons(
            "\n".join((without_pasted_text(item.title), *item.commit_subjects))
        )
        topics = map(_topic, item.changed_files)
        files = tuple(frozenset(key_of([topic])) for topic in dict.fromkeys(topics) if topic)
        statement = next(iter(sentences(item.text)), "")
        return cls(roots_of(asked), roots_of(statement), files, bool(telling_roots(asked)))

    def says(self, rarity: Mapping[str, float]) -> bool:
        """Whether its title, its commits or the first sentence of its result have most of a name,
        given the rarity of its stems."""
        return any(_part(rarity, told) > 0 for told in (self.title, self.statement))

    def centrality(self, rarity: Mapping[str, float], is_mentioned: bool) -> float:
        """How far the item is about a name, given the rarity of its stems; `is_mentioned` says
        whether its texts have the name."""
        best = max(
            _WEIGHTS.mention if is_mentioned else 0.0,
            _WEIGHTS.title * _part(rarity, self.title),
            _WEIGHTS.statement * _part(rarity, self.statement),
        )
        if any(rarity.keys() <= file for file in self.files):
            says_other = self.has_title and self.title.isdisjoint(rarity)
            file = _WEIGHTS.file_beside_title if says_other else _WEIGHTS.file
            best = max(best, file * min(1.0, _WEIGHTS.full_files / len(self.files)))
        return best


def _part(rarity: Mapping[str, float], found: Set[str]) -> float:
    """How much of a name some stems are."""
    part = sum(weight for root, weight in rarity.items() if root in found) / sum(rarity.values())
    return part**_WEIGHTS.part_exponent if part >= _WEIGHTS.min_part else 0.0


def _topic(file: str) -> str:
    """What the name of a file says, or that of its folder if it stands for its folder."""
    if is_index(file):
        return file_topic(file.rpartition("/")[0])
    return file_topic(file) if file_weight(file) >= 1 else ""
