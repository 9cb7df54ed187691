"""Which part of a person's message they typed themselves, rather than pasted or quoted."""

from __future__ import annotations

import re

from holdfast.regex import regex

# A longer message is taken for pasted text: a plan, a log, instructions for an agent. Raising it
# lets sentences of such text count as what the person said; lowering it ignores long messages.
MAX_TYPED_CHARS = 1500
# In a longer message, a first or last paragraph up to this length still counts as typed.
_MAX_PARAGRAPH_CHARS = 500
_QUOTING_LINE = regex(r"^\s*>.*$", re.MULTILINE)
# The history of a session, as a program hands it to an agent that judges or continues it.
_HANDED_OVER = regex(
    r"\A\W*the following is the \w+ agent history\b|^\[\d+\] (?:assistant|user|tool)\b",
    re.IGNORECASE | re.MULTILINE,
)
_BLANK_LINE = regex(r"\n\s*\n")


def is_handed_over(text: str) -> bool:
    """Whether a program wrote a message: the history of a session. Nobody typed any of it."""
    return _HANDED_OVER.search(text) is not None


def typed_text(text: str) -> str:
    """The part of a message that a person is likely to have typed: without quoted lines, and of a
    long message only the first and the last paragraph, if these are short."""
    if is_handed_over(text):
        return ""
    text = _QUOTING_LINE.sub("", text)
    if len(text) <= MAX_TYPED_CHARS:
        return text
    paragraphs = [block for block in _BLANK_LINE.split(text) if block.strip()]
    ends = dict.fromkeys((*paragraphs[:1], *paragraphs[-1:]))
    return "\n\n".join(block for block in ends if len(block) <= _MAX_PARAGRAPH_CHARS)
