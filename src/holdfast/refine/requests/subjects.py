"""What a statement is about, in a few words: the short form of a request or of a session's title.

A request is a subject where it is an order or a title: "Can you speed up the invoice export?" names
a matter. Questions, remarks, reports and orders that only point at something ("fix this") say
nothing about the statements that follow them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from holdfast.language import collapse_spaces, plain, sentences, words
from holdfast.refine.core.word_classes import WordClass, word_class
from holdfast.refine.requests.headlines import COMMAND
from holdfast.refine.requests.telling_words import telling_stems
from holdfast.regex import regex


class SubjectLimits(NamedTuple):
    """How long a subject may be, and how short."""

    # A longer sentence is cut at the end of a clause or before a preposition.
    max_chars: int = 110
    min_chars: int = 16
    # Words that name something: one alone fits too much.
    min_words: int = 2
    # Verbs and pronouns of other languages are not known: so many words may be a title.
    max_foreign_words: int = 6


_LIMITS = SubjectLimits()

# From here on a request quotes the screen of a terminal: its lines, corners and blocks.
_PASTED_SCREEN = regex("[\u2500-\u259f]")
# Links, escaped line breaks, and the mark of who carries out a request.
_NO_WORDS = regex(r"\[?https?://[^\s\])…]+[\])…]*(?:\([^\s)]*\)?)?|\\+ |\s*\(@[\w -]+\)\s*$")
# What kind of change a commit is, and of which part.
_CHANGE_KIND = regex(
    r"^(?:feat|fix|docs?|chore|refactor|tests?|perf|ci|build|style|revert)(?:\([^)]*\))?!?:\s+",
    re.I,
)
# How an order is put to somebody.
_ASKED_OF = regex(
    r"^\W*(?:(?:ok(?:ay)?|yes|so|now|then|next|and|also|but|well|great|good|fine|sure|alright|"
    r"perfect|cool|thanks|hi|hey|hello|"
    r"first|please|pls|kindly|let['’]?s|(?:can|could|would|will) you|help me(?: to)?|"
    r"i(?:['’]d| would) like (?:you )?to|(?:i|we) (?:want|need)(?: you)? to|"
    r"you (?:should|must|need to)|we (?:should|must)|go ahead and)\b"
    r"[\s,.:!—–-]*)+",
    re.IGNORECASE,
)
_QUESTION = regex(
    r"[?？]\W*$|^\W*(?:what|why|how|who|where|when|which|whether|is|are|was|were|do|does|did|has|"
    r"have|should|would|could|can|isn['’]t|aren['’]t|don['’]t)\b",
    re.IGNORECASE,
)
_OF_YOU = regex(r"\byou\b", re.IGNORECASE)
# Orders to look at something, to say something or to go on: what follows is about something else.
_LOOKS = regex(
    r"^\W*(?:check|look|see|tell|show|explain|find out|figure out|think|try|continue|go|proceed|"
    r"remember|reply|answer|read|wait|say|run|rerun|retry|use|take|give|leave|ask|do|seems?|spawn|"
    r"investigate why i)\b",
    re.IGNORECASE,
)
# A report says how far something is.
_REPORT = regex(
    r"^\W*(?:fyi|changed:)|\b(?:complete|completed|done|finished|ready|passed|passing|merged|status)\b\W*$|"
    r"\b(?:complete|completed|done)\b\s*[:—–-]",
    re.IGNORECASE,
)
# Words that point at what is not there, and at those who talk.
_POINTS = regex(
    r"(?<![\w./-])(?:this|that|these|those|it|its|they|them|their|there|here|above|below|previous|"
    r"former|latter|other|another|both|neither|ones?|something|everything|anything|nothing|as well|"
    r"ours|mine|yours|"
    r"the (?:two|three|four|five|six|first|second|third|last|next)|"
    r"i|me|my|you|your|we|us|our|he|she)(?:['’]\w+)?(?![\w./-])",
    re.IGNORECASE,
)
# A remark has a verb of its own.
_REMARK = regex(
    r"(?<![\w./-])(?:is|are|was|were|be|been|has|had|does|did|can|cannot|could|should|must|will|"
    r"would|may|might|seems?|looks|fails|got|gets|works?|worked|went|came|tried|says?|said|happened|"
    r"\w+n['’]t)(?![\w./-])",
    re.IGNORECASE,
)
_CLAUSE_END = regex(
    r"[;,:]\s|\s[—–-]+\s|\s\(|\s(?:so|because|since|while|which|but|and|&|to|with|when|if|for|in|"
    r"by|through|using|that|as)\s",
    re.IGNORECASE,
)
_FOREIGN = regex(r"[^\W\d_a-zA-Z]{2}")
# What a program printed, an order that names documents alone, and the first of all commits.
_NO_MATTER = regex(
    r"^\W*[✖✗✘✓✔➜]|\(\d[\d.]*m?s\)|^\d+m?s\b|^initial commit\b|^user provided an image\b|"
    r"^(?:update|create|write|edit)(?:[ ,]+(?:the|our|my|all|and|@?[\w./-]+\.mdx?|readmes?|docs?|"
    r"documentation))+[ ,]*$",
    re.IGNORECASE,
)
# "In the portal, the upload": the rest of a sentence is missing.
_NO_START = frozenset((WordClass.PREPOSITION, WordClass.OTHER, WordClass.SUBJECT))
_VERBS = frozenset((WordClass.VERB, WordClass.ACTION))


@lru_cache(maxsize=1_000)
def subject_of(request: str) -> str:
    """The short form of a request or title; "" where it names no matter."""
    text = _NO_WORDS.sub(" ", _PASTED_SCREEN.split(request, 1)[0])
    text = _CHANGE_KIND.sub("", text.strip())
    first = collapse_spaces(plain(next(iter(sentences(text)), ""))).rstrip(" .!:;,…")
    asked = _ASKED_OF.match(first)
    bare = first[asked.end() :] if asked else first
    is_order = asked is not None and _OF_YOU.search(asked[0]) is not None and _is_order(bare)
    if (_QUESTION.search(bare) and not is_order) or _REPORT.search(bare) or COMMAND.match(bare):
        return ""
    # What an order is given for may be cut off. A remark is none without its verb.
    clauses = _clauses(bare.rstrip(" ?？")) if _is_order(bare) or not _REMARK.search(bare) else ()
    named = next(filter(_names_a_matter, clauses), "")
    return named[:1].upper() + named[1:]


def _clauses(text: str) -> Iterator[str]:
    """A sentence as far as it fits, then shorter and shorter, each up to the end of a clause."""
    if len(text) <= _LIMITS.max_chars:
        yield text
    ends = [end.start() for end in _CLAUSE_END.finditer(text)]
    for end in reversed(ends):
        if _LIMITS.min_chars <= end <= _LIMITS.max_chars:
            yield text[:end].rstrip(" ,;:—–-")


def _names_a_matter(text: str) -> bool:
    """Whether a text is an order or a title that names something, and points at nothing else."""
    if "|" in text or text.count("(") != text.count(")") or _first_class(text) in _NO_START:
        return False
    if any(found.search(text) for found in (_LOOKS, _POINTS, _REMARK, _NO_MATTER)):
        return False
    if _FOREIGN.search(text) and len(text.split()) > _LIMITS.max_foreign_words:
        return False
    _, _, named = text.partition(" ") if _is_order(text) else ("", "", text)
    return len(telling_stems(named)) >= _LIMITS.min_words


def _is_order(text: str) -> bool:
    return _first_class(text) in _VERBS


def _first_class(text: str) -> WordClass:
    return word_class(next(iter(words(text)), ""))
