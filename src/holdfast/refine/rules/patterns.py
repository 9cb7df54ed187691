"""Patterns: what people state again and again, grouped by what it says, not by how.

Two statements are the same if most of the words that tell what they are about are the same, rare
words heavier, and both demand or both forbid. Of one source (a session, a commit, a text that was
pasted) all statements are one occurrence. Confidence starts at 0.5 and gains 0.15 with each
occurrence, 0.1 once if several people say so, and loses 0.15 with each that says the opposite.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from holdfast.language import denies, stem, telling
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Pattern
from holdfast.model.trust import Trust, least_trusted
from holdfast.refine.rules.conventions import as_rule
from holdfast.refine.rules.domains import domain_of
from holdfast.store.protocol.rules import Statement

_START = 0.5
_PER_OCCURRENCE = 0.15
_SEVERAL_AUTHORS = 0.1
_SAME = 0.6
_LEAST_SHARED = 2
# "Always run make check before you commit": dull words, but said with all of them again.
_WHOLE = 3
_WELL_SAID = (24, 180)
# What half of all orders are about tells nothing of any.
_DULL = frozenset(
    map(stem, "code file change test add fix update run check work new thing way issue".split())
)


@dataclass(slots=True)
class _Group:
    """Statements that say the same, in the order of time."""

    denies: bool
    members: list[Statement] = field(default_factory=list[Statement])
    stems: list[frozenset[str]] = field(default_factory=list[frozenset[str]])

    @property
    def core(self) -> frozenset[str]:
        """The stems that at least half of the members hold."""
        counted = Counter(root for stems in self.stems for root in stems)
        return frozenset(root for root, n in counted.items() if 2 * n >= len(self.stems))

    def add(self, statement: Statement, stems: frozenset[str]) -> None:
        self.members.append(statement)
        self.stems.append(stems)


class Weights:
    """How much each stem tells among some texts: a rare one more."""

    def __init__(self, texts: Iterable[frozenset[str]]) -> None:
        texts = list(texts)
        counted = Counter(root for stems in texts for root in stems)
        self._of = {root: math.log(1 + len(texts) / n) for root, n in counted.items()}
        self._most = math.log(1 + max(1, len(texts)))

    def of(self, stems: Iterable[str]) -> float:
        """What some stems weigh together; a dull one little."""
        return sum(
            self._of.get(root, self._most) * (0.25 if root in _DULL else 1.0) for root in stems
        )

    def same(self, one: frozenset[str], other: frozenset[str]) -> float:
        """How much of the lighter of two is in the other, 0 where they share too little; dull
        ones are the same only where nothing of either is missing."""
        common = one & other
        if len(common - _DULL) < _LEAST_SHARED:
            return float(one == other and len(one) >= _WHOLE)
        least = min(self.of(one), self.of(other))
        # A short one inside of a long one says little of the long one.
        lengths = min(len(one), len(other)) / max(len(one), len(other))
        return (self.of(common) / least) * min(1.0, 0.6 + lengths) if least else 0.0


def make_patterns(bank: str, statements: Sequence[Statement]) -> list[Pattern]:
    """What the statements of a bank come to, groups of one included."""
    ordered = sorted(statements, key=lambda s: (s.time, s.uri, s.place))
    stems = [telling(s.about or s.text) for s in ordered]
    weights = Weights(stems)
    groups: list[_Group] = []
    for statement, own in zip(ordered, stems, strict=True):
        negates = denies(statement.about or statement.text)
        near = [
            (weights.same(own, g.core), -n) for n, g in enumerate(groups) if g.denies == negates
        ]
        best = max(near, default=(0.0, 0))
        if best[0] >= _SAME:
            groups[-best[1]].add(statement, own)
        else:
            group = _Group(negates)
            group.add(statement, own)
            groups.append(group)
    # What was only told by the way bears out what somebody said outright, and is nothing alone.
    groups = [g for g in groups if any(not s.about for s in g.members)]
    made = (_pattern(bank, group, _opposing(group, groups, weights)) for group in groups)
    return sorted(made, key=lambda p: (-p.confidence, -p.occurrences, p.id))


def _opposing(group: _Group, groups: Iterable[_Group], weights: Weights) -> list[Statement]:
    core = group.core
    others = (g for g in groups if g.denies != group.denies)
    return [s for g in others if weights.same(core, g.core) >= _SAME for s in g.members]


def _pattern(bank: str, group: _Group, against: Sequence[Statement]) -> Pattern:
    # What came from outside is told, but never counted.
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
    """How sure it is that a pattern is one."""
    if not occurrences:
        return 0.0
    several = _SEVERAL_AUTHORS if authors > 1 else 0.0
    counted = _START + _PER_OCCURRENCE * (occurrences - against) + several
    return round(min(1.0, max(0.0, counted)), 3)


def _best(group: _Group) -> Statement:
    """The statement to quote: one that can stand by itself, is well put, and has most of what
    the others have; the later of two equals."""
    core = group.core

    def worth(pair: tuple[Statement, frozenset[str]]) -> tuple[bool, bool, float, str]:
        statement, stems = pair
        fits = _WELL_SAID[0] <= len(statement.text) <= _WELL_SAID[1]
        common = len(stems & core) / (len(stems | core) or 1)
        return statement.quotable, fits, round(common, 2), statement.time

    return max(zip(group.members, group.stems, strict=True), key=worth)[0]


def _common_files(statements: Sequence[Statement]) -> tuple[str, ...]:
    """The files of all statements, where each has some; they may lie in one place."""
    if not statements or not all(s.files for s in statements):
        return ()
    return tuple(dict.fromkeys(name for s in statements for name in s.files))
