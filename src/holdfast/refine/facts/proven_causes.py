"""Finds the causes that agents stated and that were proven: each solves a problem.

A cause is proven by what verifies a claim (tests, a commit, a person's yes), or by an exchange that
changed files and was done: there it is stated with its fix. One that was disproved is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from holdfast.language import is_chatter, plain
from holdfast.model.knowledge import Claim, ClaimKind
from holdfast.model.records import Exchange, Outcome
from holdfast.model.trust import ENDED_STATUSES, Status
from holdfast.refine.facts.hypotheses import topic_stems
from holdfast.regex import regex


class CauseLimits(NamedTuple):
    """What a sentence needs to explain a cause to somebody who was not there. Chosen on 41 causes
    of 153 sessions."""

    min_stems: int = 6
    min_chars: int = 60
    max_chars: int = 400


_LIMITS = CauseLimits()
# "The issue is …" is said on the way; who is done names the cause.
_NAMES_CAUSE = regex(
    r"\broot cause\b|\bculprit\b|\bcaused by\b|\bturn(?:s|ed) out\b|\bdue to\b|"
    r"\bthe (?:real |actual )?(?:reason|cause)\b|^\W*cause\b",
    re.IGNORECASE,
)
# Refers to what was said before, or to the work of the moment.
_REFERS_BACK = regex(
    r"^\W*(?:no|yes|this|that|it|same|both|your|my|i)\b|"
    r"\b(?:findings?|(?:stated|assumed|earlier) cause|this (?:pr|test|session)|my|"
    r"i['’](?:m|ll|ve))\b|"
    r"(?:…|\.\.\.)\W*$",
    re.IGNORECASE,
)


def proven_causes(
    claims: Iterable[Claim],
    status_of: Callable[[Claim], Status],
    exchange_of: Callable[[Claim], Exchange | None],
) -> Iterator[Claim]:
    """The claims that state a proven cause, in their order."""
    for claim in claims:
        if claim.kind is not ClaimKind.FINDING or not explains_cause(claim.text):
            continue
        status, exchange = status_of(claim), exchange_of(claim)
        if status is Status.VERIFIED or (status not in ENDED_STATUSES and _is_fixed(exchange)):
            yield claim


def explains_cause(text: str) -> bool:
    """Whether a sentence names a cause and can be understood without what was said around it."""
    words = plain(text)
    if not _LIMITS.min_chars <= len(words) <= _LIMITS.max_chars or is_chatter(words):
        return False
    if not _NAMES_CAUSE.search(words) or _REFERS_BACK.search(words):
        return False
    return len(topic_stems(words)) >= _LIMITS.min_stems


def _is_fixed(exchange: Exchange | None) -> bool:
    is_done = exchange is not None and exchange.outcome is Outcome.DONE
    return exchange is not None and is_done and bool(exchange.files_modified)
