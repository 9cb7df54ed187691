"""Recognises sentences that say how something is before a change: what fails, what is missing.

Such a sentence is history once the thing was changed, while what caused it stays true.
"""

from __future__ import annotations

import re

from holdfast.language import describes_failure, plain
from holdfast.regex import regex

# Says how something is; what it was, or that it is mended, is not outdated by a change.
_IS_SO = regex(
    r"\b(?:is|are|does(?:n['’]t| not)?|do(?:n['’]t| not)|fails?|crashes|hangs|breaks|leaks|throws?|"
    r"raises?|returns?|shows?|gets?|keeps?|cannot|can['’]?t|still|missing|has|have|goes|stays|"
    r"says?|gives?|times out)\b",
    re.IGNORECASE,
)
_IS_MENDED = regex(
    r"\b(?:fix(?:ed|es)|solved|resolved|repaired|mended|corrected|no longer|any ?more|instead|"
    r"now|was|were|had been|used to)\b",
    re.IGNORECASE,
)
# Says of itself that it may not stay so.
_FOR_NOW = regex(
    r"\b(?:currently|at (?:present|the moment)|as of now|so far|not yet|yet to)\b|"
    r"^\W*(?:the|our|its) (?:current|existing) ",
    re.I,
)
# What is not there, or not used.
_LACKS = regex(
    r"\b(?:missing|unused|absent|lacks?|nowhere|hard-?coded|stub(?:bed)?|"
    r"never (?:called|read|used|set|run|reached|filled)|(?:is|are|has|have|there['’]s|contains?|"
    r"with) no|(?:is|are|do|does)(?: not|n['’]t)|not (?:exposed|wired|mentioned|covered|handled|"
    r"passed|included|implemented|supported))\b",
    re.I,
)


def describes_problem(sentence: str) -> bool:
    """Whether a sentence says that something does not work, and not that this is over."""
    words = plain(sentence)
    if not describes_failure(words) or not _IS_SO.search(words):
        return False
    return not _IS_MENDED.search(words)


def describes_gap(sentence: str) -> bool:
    """Whether a sentence says what is missing somewhere, or how something is for now."""
    words = plain(sentence)
    if _FOR_NOW.search(words):
        return True
    return _LACKS.search(words) is not None and not _IS_MENDED.search(words)
