"""Finds solutions worth keeping: of problems that recurred, or that took several attempts."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from holdfast.language import code_names
from holdfast.model.knowledge import Claim, ClaimKind
from holdfast.refine.core.statement_similarity import jaccard, statement_features
from holdfast.regex import regex


class SolutionLimits(NamedTuple):
    """Which solutions are kept, and when two claims are about the same problem."""

    # A solution is kept after so many failed attempts, or if the problem came up so often. Lower
    # values keep solutions of problems that were easy; docs/facts.md states these numbers.
    min_attempts: int = 3
    min_occurrences: int = 3
    # Share of common stems (Jaccard) from which two problems without an error signature are the
    # same; less is needed if the same files were changed.
    word_overlap: float = 0.5
    word_overlap_with_same_files: float = 0.25


_LIMITS = SolutionLimits()
# Before a signature among the keys of problems, so that it is no stem.
_SIGNATURE = "signature "
# A name with an ending of letters, perhaps with the line that an error is in.
_FILE_NAME = regex(r"[\w-]+(?:\.[a-z]\w{0,5})+(?::\d+)*")


class SolvedProblem(NamedTuple):
    """A solution, the earlier claims about the same problem, and the attempts it took in all."""

    solution: Claim
    before: tuple[Claim, ...]
    attempts: int


def find_solved_problems(claims: Iterable[Claim]) -> tuple[list[SolvedProblem], int]:
    """The solutions worth keeping, in order of time; and the number of those that are not."""
    kept: list[SolvedProblem] = []
    dropped = 0
    for group in _group_by_problem(claims):
        before: list[Claim] = []
        for claim in group:
            if claim.kind is not ClaimKind.SOLUTION:
                before.append(claim)
                continue
            attempts = claim.attempts + sum(c.attempts for c in before)
            times = 1 + len({c.exchange for c in before})
            if attempts >= _LIMITS.min_attempts or times >= _LIMITS.min_occurrences:
                kept.append(SolvedProblem(claim, tuple(before), max(attempts, times)))
            else:
                dropped += 1
            before.append(claim)
    return sorted(kept, key=lambda s: (s.solution.time, s.solution.id)), dropped


class _Problem:
    """What of a claim is compared with others, read once."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.files = frozenset(claim.files)
        self.named_files = _named_files(claim.problem)
        # The problem of a solution may be an error line, which says nothing of what was asked: its
        # explanation does.
        self.wordings = tuple(
            statement_features(text).content for text in (claim.problem, claim.text)
        )


class _Groups:
    """Claims in groups about the same problem. A claim is compared only with claims that have its
    error signature or one of its rarer stems: others share too little to be about the same."""

    def __init__(self, problems: Iterable[_Problem]) -> None:
        """`problems` are all that will be added."""
        self.groups: list[list[_Problem]] = []
        self._counts = Counter(
            stem for one in problems for wording in set(one.wordings) for stem in wording
        )
        self._numbers: defaultdict[str, set[int]] = defaultdict(set)

    def add(self, problem: _Problem) -> None:
        """Add a claim to the first group with a claim about the same problem, or to a new one."""
        keys = self._keys(problem)
        near = sorted({number for key in keys for number in self._numbers.get(key, ())})
        same = (n for n in near if any(_same_problem(one, problem) for one in self.groups[n]))
        number = next(same, len(self.groups))
        if number == len(self.groups):
            self.groups.append([])
        self.groups[number].append(problem)
        for key in keys:
            self._numbers[key].add(number)

    def _keys(self, problem: _Problem) -> set[str]:
        """What two claims about the same problem have in common at least one of. Of a wording the
        rarest stems, as many as leave too few to reach the lowest overlap without one of them."""
        keys = {f"{_SIGNATURE}{problem.claim.signature}"} if problem.claim.signature else set[str]()
        for wording in problem.wordings:
            rarest = sorted(wording, key=lambda stem: (self._counts[stem], stem))
            shared = math.ceil(len(rarest) * _LIMITS.word_overlap_with_same_files)
            keys.update(rarest[: len(rarest) - shared + 1])
        return keys


def _group_by_problem(claims: Iterable[Claim]) -> list[list[Claim]]:
    problems = [
        _Problem(claim) for claim in claims if claim.kind in (ClaimKind.SOLUTION, ClaimKind.ATTEMPT)
    ]
    found = _Groups(problems)
    for problem in problems:
        found.add(problem)
    return [[problem.claim for problem in group] for group in found.groups]


def _same_problem(one: _Problem, other: _Problem) -> bool:
    """By error signature if both claims have one, otherwise by words. Problems that name different
    files differ, however alike they are worded; the same error in other files is the same problem
    only if it is told in the same words."""
    if one.named_files and other.named_files and one.named_files.isdisjoint(other.named_files):
        return False
    has_same_files = not one.files.isdisjoint(other.files)
    if one.claim.signature and other.claim.signature:
        is_apart = bool(one.files and other.files) and not has_same_files
        is_same = one.claim.signature == other.claim.signature
        return is_same and not (is_apart and _overlap(one, other) < _LIMITS.word_overlap)
    limit = _LIMITS.word_overlap_with_same_files if has_same_files else _LIMITS.word_overlap
    return _overlap(one, other) >= limit


def _named_files(problem: str) -> frozenset[str]:
    """The names of the files that a problem names, without their folders."""
    names = (name.rpartition("/")[2].lower() for name in code_names(problem))
    return frozenset(name for name in names if _FILE_NAME.fullmatch(name))


def _overlap(one: _Problem, other: _Problem) -> float:
    """The share of common stems of two problems, of the wordings that share the most."""
    return max(jaccard(a, b) for a in one.wordings for b in other.wordings)


def recurrences(solved: SolvedProblem, claims: Sequence[Claim]) -> list[Claim]:
    """The attempts at the same problem after its solution, by error signature."""
    solution = solved.solution
    return [
        claim
        for claim in claims
        if claim.kind is ClaimKind.ATTEMPT
        and claim.time > solution.time
        and claim.signature
        and claim.signature == solution.signature
    ]
