"""Tells code from prose where nothing marks it: code that was pasted without a fence, and whose
lines were joined.

Prose that names code is prose: "`save()` calls `flush(rows)`", "set max_rows = 5 in config.py".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from holdfast.regex import regex


class CodeLimits(NamedTuple):
    """When a text is code. Of the 1,154 sentences that readers of 168 sessions chose as worth
    knowing none is; of 328 paragraphs of code between fences there 60% are, most of the rest being
    comments and texts. Of 57,448 sentences outside of fences 2,084 are; of these 40 were read, and
    all were code."""

    # Share of the words that are code, and how often there are more of these than of those that
    # join words in prose.
    share: float = 0.4
    times_prose: float = 2.0
    # Words that are nothing but code: a call, an assignment, a keyword.
    min_sure: int = 2
    # Share of the lines of a paragraph, without comments.
    lines: float = 0.5


_LIMITS = CodeLimits()

# What is marked as code in a sentence is a name in it.
_MARKED = regex(r"`+[^`\n]+`+")
# A line of a trace: where in which file.
_FRAME = regex(r"\bFile \"[^\"]+\", line \d+|\bat \S+ \(\S+:\d+:\d+\)|^Traceback \(most recent")
# One of them is in every such line, or else the place below.
_FRAME_MARKS = ('", line ', "Traceback (")
# Where a line of another trace ends.
_PLACE = regex(r":\d+\)")
_COMMENT = regex(r"^\s*(?:#|//|/?\*)")
_KEYWORDS = (
    r"(?:def|elif|const|let|var|function|import|return|assert|lambda|async|await|struct|func|fn|"
    r"impl|pub|self|None|null|nil|undefined|True|False|endif|fi|esac|println|printf)"
)
# Operators, calls, arguments by name, ends of lines.
_SURE = regex(
    r"^(?:={1,3}|[!+*/|&:<>-]=|!==|=>|->|&&|\|\||[{}\[\]()]+[;,:]?|//+|/\*+|\*/)$|"
    r"[\w\]]\((?!s\)|\)(?!\S*[:;{.]))|"
    r"^\(?[a-z]\w*=[\w\"'\[({]|[;{]$|"
    rf"^{_KEYWORDS}$"
)
# Names, indexes and texts as code writes them.
_LIKELY = regex(
    r"^\W*\w+_\w+|[\w\])]\.[a-z_]\w*(?:\W*$|\.|\()|\w\[|^\$\w|^#+$|^[a-z]+[A-Z]\w*|"
    r"^[\"'][^\"']*[\"'][\]),:;]*$|[\"'][\]):;]+$"
)
_PROSE = regex(
    r"^(?:the|an?|is|are|was|were|be|been|to|of|on|that|this|these|those|it|its|and|or|but|not|"
    r"by|as|so|now|when|because|which|has|have|had|can|should|must|will|would|does|did|only|all|"
    r"we|you|i|they|our|your|there|than|then|also|no|more|after|before|without|into|at)[,.;:!?]?$"
)


class _Word(NamedTuple):
    """What a word is in code, and whether it joins words in prose."""

    is_sure: bool
    is_likely: bool
    is_prose: bool


# The words of a project come up again and again.
@lru_cache(maxsize=20_000)
def _read_word(word: str) -> _Word:
    is_sure = _SURE.search(word) is not None
    is_likely = not is_sure and _LIKELY.search(word) is not None
    return _Word(is_sure, is_likely, _PROSE.match(word.lower()) is not None)


def is_code(text: str) -> bool:
    """Whether a text on one line is code or a line of a trace, and no sentence."""
    may_be_frame = any(mark in text for mark in _FRAME_MARKS) or _PLACE.search(text)
    if may_be_frame and _FRAME.search(text):
        return True
    words = (_MARKED.sub("code", text) if "`" in text else text).split()
    read = [_read_word(word) for word in words]
    sure = sum([one.is_sure for one in read])
    if sure < _LIMITS.min_sure:
        return False
    code = sure + sum(one.is_likely for one in read)
    prose = sum(one.is_prose for one in read)
    return code >= _LIMITS.share * len(words) and code > _LIMITS.times_prose * prose


def are_code(lines: Sequence[str]) -> bool:
    """Whether the lines of a paragraph are mostly code, whatever comments are between them."""
    said = [line for line in lines if not _COMMENT.match(line)]
    if len(lines) == 1 and said:
        return is_code(lines[0])
    is_mostly = sum(map(is_code, said)) >= _LIMITS.lines * len(said)
    return (bool(said) and is_mostly) or is_code(" ".join(lines))
