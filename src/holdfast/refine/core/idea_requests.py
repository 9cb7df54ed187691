"""Recognises prompts that ask for ideas: what is listed in answer to them holds only once somebody
has chosen from it."""

from __future__ import annotations

import re

from holdfast.regex import regex

_ASKS_FOR_IDEAS = regex(
    r"\b(?:list|give|name|suggest|propose|write|compare|weigh|think of|come up with|"
    r"what (?:are|would be|could be|other)|which|any other)\b"
    r"[^.!?\n]{0,60}\b(?:ideas|options|alternatives|pros|cons|(?:dis)?advantages|strengths|"
    r"weaknesses|(?:weak|strong) points|trade-?offs|suggestions|recommendations|opinion|caveats)\b|"
    r"^\W*(?:\w+[:,]? ){0,3}brainstorm|\bpros (?:and|or|/|&) cons\b",
    re.I,
)
# A prompt asks at its start or its end; what is between may be pasted.
_MAX_CHARS = 500


def asks_for_ideas(prompt: str) -> bool:
    """Whether a person wants to hear what could be done, or what speaks for and against it."""
    ends = (
        prompt
        if len(prompt) <= 2 * _MAX_CHARS
        else f"{prompt[:_MAX_CHARS]}\n{prompt[-_MAX_CHARS:]}"
    )
    return _ASKS_FOR_IDEAS.search(ends) is not None
