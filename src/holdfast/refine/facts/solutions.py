"""Finds solutions worth keeping: of problems that recurred, or that took several attempts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from holdfast.model.knowledge import Claim, ClaimKind
from holdfast.refine.core.statement_similarity import jaccard, statement_features


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


def _group_by_problem(claims: Iterable[Claim]) -> list[list[Claim]]:
    groups: list[list[Claim]] = []
    for claim in claims:
        if claim.kind not in (ClaimKind.SOLUTION, ClaimKind.ATTEMPT):
            continue
        group = next((g for g in groups if any(_same_problem(c, claim) for c in g)), None)
        if group is None:
            groups.append(group := [])
        group.append(claim)
    return groups


def _same_problem(one: Claim, other: Claim) -> bool:
    """By error signature if either claim has one, otherwise by words."""
    if one.signature or other.signature:
        return one.signature == other.signature
    overlap = jaccard(
        statement_features(one.problem).content, statement_features(other.problem).content
    )
    same_files = set(one.files) & set(other.files)
    return overlap >= (_LIMITS.word_overlap_with_same_files if same_files else _LIMITS.word_overlap)


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
