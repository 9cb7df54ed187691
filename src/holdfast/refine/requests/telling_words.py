"""Which words of a title tell what it is about: those that need not be in every other one.

"Make a PR and reply to the discussion" fits every session.
"""

from __future__ import annotations

import re
from functools import cache

from holdfast.language import content_stems
from holdfast.regex import regex

# Stems that a title needs to say what it is about.
MIN_STEMS = 3
# A remark in brackets, a command, data, a plain yes, what a program wrote: they say nothing.
EMPTY = regex(
    r"^(?:[(\[{/<]|::|(?:yes|no|ok(?:ay)?|go|continue|commit|push|thanks?|caveat)\b|"
    r"this session is being continued|the following is the \w+ agent history)",
    re.IGNORECASE,
)
# Words about the work itself: "make a PR and reply to the discussion" fits every session.
_PROCESS_WORDS = (
    "pr pull request reply discussion issue comment feedback review commit push branch merge main "
    "master ci check fail failure investigate analyze analyse analysis look fix solve address "
    "resolve make create open continue next step option plan agent subagent delegate github gitlab "
    "link url file session thing task todo help following new latest current work done run code "
    "change implement implementation problem error answer question understand explain good morning "
    "hello hey everything deep dive user way pick leave left resume"
)
# Japanese and Chinese write words without spaces between them.
WITHOUT_SPACES = regex(r"[\u3040-\u30ff\u3400-\u9fff]{6}")
_LINK = regex(r"\[?https?://[^\s\])…]+[\])…]*(?:\([^\s)]*\)?)?")


def says_something(title: str) -> bool:
    """Whether a title tells what it is about: a link, a command, a plain yes or words that fit
    every session do not."""
    return len(telling_stems(title)) >= MIN_STEMS or (
        WITHOUT_SPACES.search(_LINK.sub(" ", title)) is not None and not EMPTY.match(title)
    )


def telling_stems(title: str) -> frozenset[str]:
    """The stems of a title that other sessions need not have."""
    if EMPTY.match(title):
        return frozenset()
    found = content_stems(_LINK.sub(" ", title)) - _process_stems()
    return frozenset(one for one in found if not one.isdigit())


@cache
def _process_stems() -> frozenset[str]:
    return content_stems(_PROCESS_WORDS)
