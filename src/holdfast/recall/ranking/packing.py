"""Which of the good hits to give: as many as the budget holds, none cut in half, none that only
repeats another."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.language import words
from holdfast.recall.core.candidates import Candidate

# English and code come to about four characters a token; a hit's frame costs some more.
_CHARACTERS = 4
_FRAME = 30
_REPEATS = 0.85
_READ = 3000


def estimate_tokens(text: str) -> int:
    """About how many tokens a text takes in a prompt."""
    return len(text) // _CHARACTERS + 1


def hit_tokens(candidate: Candidate) -> int:
    """What a hit costs: its text and what stands around it."""
    return estimate_tokens(candidate.passage.body) + _FRAME


def pack(
    ranked: Sequence[Candidate], budget: int, limit: int, repeats: bool = False
) -> list[Candidate]:
    """The best that fit, in their order. The first is given even if it alone is over the budget:
    no answer at all would be worse, and half of one is none."""
    chosen: list[Candidate] = []
    said: list[set[str]] = []
    spent = 0
    for candidate in ranked:
        if len(chosen) == limit:
            break
        price = hit_tokens(candidate)
        own = set(words(candidate.passage.body[:_READ]))
        if spent + price > budget and chosen:
            continue
        # A step of a chain of causes stands for the link that leads to it.
        kept = repeats or "link" in candidate.notes
        if not kept and any(_repeats(own, other) for other in said):
            candidate.notes["repeats"] = 1.0
            continue
        chosen.append(candidate)
        said.append(own)
        spent += price
    return chosen


def _repeats(own: set[str], other: set[str]) -> bool:
    return bool(own) and len(own & other) >= _REPEATS * len(own)
