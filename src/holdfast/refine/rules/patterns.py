"""Groups statements that say the same in different words into patterns.

Two statements are the same if they share most of their content words, weighted by rarity, and both
demand or both forbid. All statements of one source (a session, a commit, a pasted text) are one
occurrence. The confidence of a pattern grows with its occurrences and its authors, and falls with
statements of the opposite.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from holdfast.language import content_stems, is_negated, stem
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Pattern
from holdfast.model.trust import Trust, least_trusted
from holdfast.refine.rules.conventions import as_rule
from holdfast.refine.rules.domains import domain_of
from holdfast.store.knowledge.rules import Statement


class PatternConfidence(NamedTuple):
    """How the confidence of a pattern is computed; docs/rules.md states these numbers. A proposal
    needs three occurrences and 0.8: three reach 0.95, and still 0.8 with one for the opposite."""

    start: float = 0.5
    per_occurrence: float = 0.15  # subtracted for each statement of the opposite
    several_authors: float = 0.1  # once, if more than one person states it


class PatternSimilarity(NamedTuple):
    """When two statements say the same. Lower thresholds merge different conventions, higher ones
    leave rephrasings apart."""

    min_overlap: float = 0.6  # weighted share of the lighter statement that both have
    min_shared_stems: int = 2  # beside unspecific ones
    # Statements of unspecific stems only ("always run make check before you commit") are the same
    # if all their stems are, and they have at least so many.
    min_identical_stems: int = 3
    unspecific_weight: float = 0.25  # relative to other stems of the same rarity
    # A statement of less than 0.4 of the length of the other is discounted: a short statement
    # inside a long one says little about it.
    length_bonus: float = 0.6


_CONFIDENCE = PatternConfidence()
_SIMILARITY = PatternSimilarity()
# The length of a statement that is good to quote as a rule.
_MIN_QUOTED_CHARS, _MAX_QUOTED_CHARS = 24, 180
# Half of all orders contain these, so they say little about any of them.
_UNSPECIFIC = frozenset(
    map(stem, "code file change test add fix update run check work new thing way issue".split())
)


@dataclass(slots=True)
class _Group:
    """Statements that say the same, in order of time."""

    negated: bool
    members: list[Statement] = field(default_factory=list[Statement])
    stems: list[frozenset[str]] = field(default_factory=list[frozenset[str]])

    @property
    def core(self) -> frozenset[str]:
        """The stems that at least half of the members have."""
        counts = Counter(stem for stems in self.stems for stem in stems)
        return frozenset(stem for stem, n in counts.items() if 2 * n >= len(self.stems))

    def add(self, statement: Statement, stems: frozenset[str]) -> None:
        self.members.append(statement)
        self.stems.append(stems)


class _StemWeights:
    """The weights of stems among some texts: rare stems weigh more."""

    def __init__(self, texts: Sequence[frozenset[str]]) -> None:
        counts = Counter(stem for stems in texts for stem in stems)
        self._weights = {stem: math.log(1 + len(texts) / n) for stem, n in counts.items()}
        self._max_weight = math.log(1 + max(1, len(texts)))

    def total(self, stems: Iterable[str]) -> float:
        """The sum of the weights of some stems."""
        return sum(
            self._weights.get(stem, self._max_weight)
            * (_SIMILARITY.unspecific_weight if stem in _UNSPECIFIC else 1.0)
            for stem in stems
        )

    def overlap(self, one: frozenset[str], other: frozenset[str]) -> float:
        """The weighted share of the lighter set that both have; 0 if they share too little."""
        common = one & other
        if len(common - _UNSPECIFIC) < _SIMILARITY.min_shared_stems:
            return float(one == other and len(one) >= _SIMILARITY.min_identical_stems)
        lighter = min(self.total(one), self.total(other))
        lengths = min(len(one), len(other)) / max(len(one), len(other))
        length_factor = min(1.0, _SIMILARITY.length_bonus + lengths)
        return (self.total(common) / lighter) * length_factor if lighter else 0.0


def make_patterns(bank: str, statements: Sequence[Statement]) -> list[Pattern]:
    """The patterns of a bank, groups of one statement included, the most certain first."""
    ordered = sorted(statements, key=lambda s: (s.time, s.uri, s.place))
    stems = [content_stems(s.about or s.text) for s in ordered]
    weights = _StemWeights(stems)
    groups: list[_Group] = []
    for statement, own in zip(ordered, stems, strict=True):
        negates = is_negated(statement.about or statement.text)
        near = [
            (weights.overlap(own, g.core), -n) for n, g in enumerate(groups) if g.negated == negates
        ]
        overlap, negative_index = max(near, default=(0.0, 0))
        if overlap >= _SIMILARITY.min_overlap:
            groups[-negative_index].add(statement, own)
        else:
            group = _Group(negates)
            group.add(statement, own)
            groups.append(group)
    # Means named in an order for the moment support a stated convention, but are none alone.
    groups = [g for g in groups if any(not s.about for s in g.members)]
    made = (_pattern(bank, group, _opposing(group, groups, weights)) for group in groups)
    return sorted(made, key=lambda p: (-p.confidence, -p.occurrences, p.id))


def _opposing(group: _Group, groups: Iterable[_Group], weights: _StemWeights) -> list[Statement]:
    core = group.core
    return [
        statement
        for other in groups
        if other.negated != group.negated
        and weights.overlap(core, other.core) >= _SIMILARITY.min_overlap
        for statement in other.members
    ]


def _pattern(bank: str, group: _Group, against: Sequence[Statement]) -> Pattern:
    # Text from outside the project is listed as evidence, but never counted.
    counted = [s for s in group.members if s.trust is not Trust.EXTERNAL]
    sources = tuple(dict.fromkeys(s.source for s in counted))
    authors = tuple(dict.fromkeys(s.author for s in counted))
    content = as_rule(_best(group).text)
    opposed = tuple(dict.fromkeys(s.uri for s in against if s.trust is not Trust.EXTERNAL))
    first = group.members[0]
    last = max(s.time for s in group.members)
    return Pattern(
        bank,
        content_id("pattern", first.uri, str(first.place)),
        content,
        domain_of(" ".join((content, *(s.text for s in group.members if not s.about)))),
        pattern_confidence(len(sources), len(authors), len(opposed)),
        len(sources),
        least_trusted(s.trust for s in group.members),
        sources,
        authors,
        tuple(dict.fromkeys(s.uri for s in group.members)),
        opposed,
        _common_files(counted),
        last if all(s.time <= last for s in against) else "",
        2 * sum(s.decides for s in group.members) > len(group.members),
    )


def pattern_confidence(occurrences: int, authors: int, against: int = 0) -> float:
    """The confidence of a pattern, from 0 to 1; 0 without occurrences."""
    if not occurrences:
        return 0.0
    several = _CONFIDENCE.several_authors if authors > 1 else 0.0
    raw = _CONFIDENCE.start + _CONFIDENCE.per_occurrence * (occurrences - against) + several
    return round(min(1.0, max(0.0, raw)), 3)


def _best(group: _Group) -> Statement:
    """The statement to quote: one that is understood by itself, of a good length, and closest to
    the core of the group; the later of two equal ones."""
    core = group.core

    def rank(pair: tuple[Statement, frozenset[str]]) -> tuple[bool, bool, float, str]:
        statement, stems = pair
        has_length = _MIN_QUOTED_CHARS <= len(statement.text) <= _MAX_QUOTED_CHARS
        common = len(stems & core) / (len(stems | core) or 1)
        return statement.quotable, has_length, round(common, 2), statement.time

    return max(zip(group.members, group.stems, strict=True), key=rank)[0]


def _common_files(statements: Sequence[Statement]) -> tuple[str, ...]:
    """The files of all statements, if each has some; () otherwise."""
    if not statements or not all(s.files for s in statements):
        return ()
    return tuple(dict.fromkeys(name for s in statements for name in s.files))
