"""Follow-up questions: "and who reviewed it?" is completed with the subject asked about before.

Only a question that is incomplete by itself changes: one whose "it" or "that" has nothing to refer
to, or that names nothing in particular.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from holdfast.language import STOPWORDS, collapse_spaces, words
from holdfast.recall.query.terms import QUESTION_WORDS
from holdfast.regex import regex

# A longer question names what it is about. Also bounds the time of the patterns below.
_MAX_CHARS = 300
_PRONOUN = regex(r"\b(?:it|this|that|they|them|those|these|he|she|him)\b", re.IGNORECASE)
_OPENING = regex(r"^(?:so|and|but|or|then|also|ok|okay|well|hm+)[, ]+", re.IGNORECASE)
# The words of a question before what it is about.
_QUESTION_FRAME = regex(
    r"^(?:(?:why|how come|how|when|since when|where|what|which|who|whom|whose|was|were|is|are|did|"
    r"do|does|has|have|had|can|could|should|would|will|we|you|they|i|there|about|tell me|remind me|"
    r"knows?|ever|the reason|reason|happened (?:to|with)|changed (?:in|to)|decided? (?:on|to)?)\b"
    r"\s*)+",
    re.IGNORECASE,
)
_ENDING = regex(r"\b(?:ever )?(?:been )?(?:reverted|rolled back|introduced|added|changed|removed)$")
_EDGES = " ?.!,;:\"'`“”"


def complete_question(question: str, earlier: Sequence[str]) -> str:
    """The question with the subject of the latest earlier one that has a subject; unchanged if it
    is complete by itself. `earlier` has the latest last."""
    subject = next((s for s in map(subject_of, reversed(earlier)) if s), "")
    asked = collapse_spaces(question[: 4 * _MAX_CHARS])
    if not subject or len(asked) > _MAX_CHARS:
        return question
    bare = _without_opening(asked)
    pronoun = _PRONOUN.search(bare)
    if pronoun is not None:
        return f"{bare[: pronoun.start()]}{subject}{bare[pronoun.end() :]}"
    return question if _names_something(bare) else f"{bare.rstrip(_EDGES)} {subject}"


def subject_of(question: str) -> str:
    """What a question is about, without its question words; "" if it names nothing."""
    asked = _without_opening(collapse_spaces(question[:_MAX_CHARS]).strip(_EDGES))
    subject = _ENDING.sub("", _QUESTION_FRAME.sub("", asked)).strip(_EDGES)
    return subject if _names_something(subject) and not _PRONOUN.match(subject) else ""


def _without_opening(question: str) -> str:
    while (shorter := _OPENING.sub("", question)) != question:
        question = shorter
    return question


def _names_something(text: str) -> bool:
    return any(w not in STOPWORDS and w not in QUESTION_WORDS for w in words(text))
