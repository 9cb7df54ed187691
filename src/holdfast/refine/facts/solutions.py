"""Finds solutions worth keeping: of problems that recurred, or that took several attempts."""

from __future__ import annotations

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
    """By error signature if both claims have one, otherwise by words. Problems that name different
    files differ, however alike they are worded; the same error in other files is the same problem
    only if it is told in the same words."""
    named = _named_files(one.problem), _named_files(other.problem)
    if all(named) and named[0].isdisjoint(named[1]):
        return False
    is_apart = bool(one.files and other.files) and set(one.files).isdisjoint(other.files)
    if one.signature and other.signature:
        is_same = one.signature == other.signature
        return is_same and not (is_apart and _overlap(one, other) < _LIMITS.word_overlap)
    has_same_files = bool(set(one.files) & set(other.files))
    limit = _LIMITS.word_overlap_with_same_files if has_same_files else _LIMITS.word_overlap
    return _overlap(one, other) >= limit


def _named_files(problem: str) -> set[str]:
    """The names of the files that a problem names, without their folders."""
    names = (name.rpartition("/")[2].lower() for name in code_names(problem))
    return {name for name in names if _FILE_NAME.fullmatch(name)}


def _overlap(one: Claim, other: Claim) -> float:
    """The share of common stems of two problems. That of a solution may be an error line, which
    says nothing of what was asked: its explanation does."""
    said = [[statement_features(t).content for t in (c.problem, c.text)] for c in (one, other)]
    return max(jaccard(a, b) for a in said[0] for b in said[1])


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
