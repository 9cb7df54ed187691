"""Problems that came again and again, or took several attempts, and what ended them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from holdfast.model.knowledge import Claim, ClaimKind
from holdfast.refine.core.statement_similarity import jaccard, statement_features

# A breakthrough is a success after so many failures; a repeated problem came up so often.
FAILURES = 3
TIMES = 3
_SAME_WORDS = 0.5
_SAME_FILES_WORDS = 0.25


class SolvedProblem(NamedTuple):
    """A problem's solution, what was tried before, and how many attempts it took in all."""

    solution: Claim
    before: tuple[Claim, ...]
    attempts: int


def find_solved_problems(claims: Iterable[Claim]) -> tuple[list[SolvedProblem], int]:
    """The solutions worth to keep for good, by time; and how many others there are."""
    kept: list[SolvedProblem] = []
    left = 0
    for group in _groups(claims):
        before: list[Claim] = []
        for claim in group:
            if claim.kind is not ClaimKind.SOLUTION:
                before.append(claim)
                continue
            attempts = claim.attempts + sum(c.attempts for c in before)
            times = 1 + len({c.exchange for c in before})
            if attempts >= FAILURES or times >= TIMES:
                kept.append(SolvedProblem(claim, tuple(before), max(attempts, times)))
            else:
                left += 1
            before.append(claim)
    return sorted(kept, key=lambda s: (s.solution.time, s.solution.id)), left


def _groups(claims: Iterable[Claim]) -> list[list[Claim]]:
    """Claims about one problem together, each group by time."""
    groups: list[list[Claim]] = []
    for claim in claims:
        if claim.kind not in (ClaimKind.SOLUTION, ClaimKind.ATTEMPT):
            continue
        mine = next((group for group in groups if any(same_problem(c, claim) for c in group)), None)
        if mine is None:
            groups.append([claim])
        else:
            mine.append(claim)
    return groups


def same_problem(one: Claim, other: Claim) -> bool:
    """By the error's signature; else by words, fewer of them where the same files changed."""
    if one.signature or other.signature:
        return one.signature == other.signature
    alike = jaccard(statement_features(one.problem).content, statement_features(other.problem).content)
    needed = _SAME_FILES_WORDS if set(one.files) & set(other.files) else _SAME_WORDS
    return alike >= needed


def recurrences(solved: SolvedProblem, claims: Sequence[Claim]) -> list[Claim]:
    """The attempts at the same problem that came after its solution."""
    end = solved.solution.time
    return [
        claim
        for claim in claims
        if claim.kind is ClaimKind.ATTEMPT
        and claim.time > end
        and claim.signature
        and claim.signature == solved.solution.signature
    ]
