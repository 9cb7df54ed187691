"""Selecting the hits to return: as many as the token budget holds, none cut, none that only repeats
a better one."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.language import words
from holdfast.recall.core.candidates import Candidate

# English and code come to about four characters a token.
_CHARACTERS_PER_TOKEN = 4
# What the URI, date and source of a hit add to its text.
_TOKENS_AROUND_HIT = 30
# A hit repeats another if this share of its words is in the other. Lower, and hits that add
# something are dropped; higher, and near copies are shown.
_REPEATED_SHARE = 0.85
_MAX_COMPARED = 3000


def estimate_tokens(text: str) -> int:
    """About how many tokens a text takes in a prompt."""
    return len(text) // _CHARACTERS_PER_TOKEN + 1


def hit_tokens(candidate: Candidate) -> int:
    """About how many tokens a hit takes, with what is shown around its text."""
    return estimate_tokens(candidate.passage.body) + _TOKENS_AROUND_HIT


def pack(
    ranked: Sequence[Candidate], budget: int, limit: int, include_repeats: bool = False
) -> list[Candidate]:
    """The best candidates that fit into `budget` tokens, in their order. The first is returned even
    if it alone is over the budget."""
    chosen: list[Candidate] = []
    chosen_words: list[set[str]] = []
    spent = 0
    for candidate in ranked:
        if len(chosen) == limit:
            break
        cost = hit_tokens(candidate)
        own = set(words(candidate.passage.body[:_MAX_COMPARED]))
        if spent + cost > budget and chosen:
            continue
        # A step of a chain of causes is kept: without it the next step cannot be understood.
        keep = include_repeats or "link" in candidate.notes
        if not keep and any(_repeats(own, other) for other in chosen_words):
            candidate.notes["repeats"] = 1.0
            continue
        chosen.append(candidate)
        chosen_words.append(own)
        spent += cost
    return chosen


def _repeats(own: set[str], other: set[str]) -> bool:
    return bool(own) and len(own & other) >= _REPEATED_SHARE * len(own)
