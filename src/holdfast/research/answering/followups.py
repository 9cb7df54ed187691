"""Questions that go on from earlier ones: "and who reviewed it?" is about what was asked before.

Only what cannot stand by itself is completed: a question whose "it" or "that" has nothing to point
at, or that asks for nothing in particular. What it is read as is told.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from holdfast.language import STOPWORDS, squeeze, words
from holdfast.recall.query.terms import ASKING
from holdfast.regex import regex

_LONG = 300
_POINTS = regex(r"\b(?:it|this|that|they|them|those|these|he|she|him)\b", re.IGNORECASE)
_OPENING = regex(r"^(?:so|and|but|or|then|also|ok|okay|well|hm+)[, ]+", re.IGNORECASE)
# What a question is asked with, before what it is about.
_FRAME = regex(
    r"^(?:(?:why|how come|how|when|since when|where|what|which|who|whom|whose|was|were|is|are|did|"
    r"do|does|has|have|had|can|could|should|would|will|we|you|they|i|there|about|tell me|remind me|"
    r"knows?|ever|the reason|reason|happened (?:to|with)|changed (?:in|to)|decided? (?:on|to)?)\b"
    r"\s*)+",
    re.IGNORECASE,
)
_ENDING = regex(r"\b(?:ever )?(?:been )?(?:reverted|rolled back|introduced|added|changed|removed)$")
_EDGES = " ?.!,;:\"'`“”"


def complete_question(question: str, earlier: Sequence[str]) -> str:
    """The question as it is meant after earlier ones, the latest last; as it is, if it can stand
    by itself."""
    subject = next((s for s in map(subject_of, reversed(earlier)) if s), "")
    asked = squeeze(question[: 4 * _LONG])
    if not subject or len(asked) > _LONG:
        return question
    bare = asked
    while (shorter := _OPENING.sub("", bare)) != bare:
        bare = shorter
    pointing = _POINTS.search(bare)
    if pointing is not None:
        return f"{bare[: pointing.start()]}{subject}{bare[pointing.end() :]}"
    telling = [w for w in words(bare) if w not in STOPWORDS and w not in ASKING]
    return question if telling else f"{bare.rstrip(_EDGES)} {subject}"


def subject_of(question: str) -> str:
    """What a question is about, without what asks; "" if that is nothing."""
    asked = squeeze(question[:_LONG]).strip(_EDGES)
    while (shorter := _OPENING.sub("", asked)) != asked:
        asked = shorter
    bare = _ENDING.sub("", _FRAME.sub("", asked)).strip(_EDGES)
    telling = [w for w in words(bare) if w not in STOPWORDS and w not in ASKING]
    return bare if telling and not _POINTS.match(bare) else ""
