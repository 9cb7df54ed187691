"""Recognises a statement that says in so many words which earlier one it replaces: "This supersedes
the decision of 11 September". Patterns are English.

The day that is named tells what is replaced, or else the words of both do; `facts.statement_pool`
looks for the earlier statement.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache

from holdfast.language import plain, sentences
from holdfast.regex import regex

# Between what replaces and what is replaced there are no more characters than this: farther apart,
# they belong to different statements.
_BETWEEN = r"[^.!?\n]{0,60}?"
# What replaces, and what was settled before; or the other way round.
_REPLACES = (
    r"\b(?:supersed(?:es?|ed|ing)|replac(?:es?|ed|ing)|overrul(?:es?|ed|ing)|"
    r"overrid(?:es?|ing)|revok(?:es?|ed|ing)|instead of|in place of|takes? the place of)\b"
)
_SETTLED = (
    r"\b(?:decisions?|rules?|agreements?|polic(?:y|ies)|conventions?|choices?|"
    r"what (?:was|we|i|you)(?:['’]d| had| have|['’]ve)? (?:said|agreed|decided|settled|chose))\b"
)
_NAMES_SUPERSEDED = regex(
    f"{_REPLACES}{_BETWEEN}{_SETTLED}|"
    r"\b(?:decision|rule|agreement|policy|convention)\b[^.!?\n]{0,40}\b(?:is|are|was) "
    r"(?:hereby )?(?:superseded|replaced|overruled|revoked)\b",
    re.IGNORECASE,
)
# Points at the sentence before, which says what holds from then on.
_POINTS_BACK = regex(r"(?:this|that|it|which)\b", re.IGNORECASE)
_MAX_CHARS = 400
# How the names of the months begin.
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_ANY_DAY = regex(
    rf"\d{{1,2}}(?:st|nd|rd|th)?(?: of)?\s+(?:{'|'.join(_MONTHS)})|"
    rf"\b(?:{'|'.join(_MONTHS)})\w*\.?\s+(?:the )?\d{{1,2}}(?!\d)|\d{{4}}-\d\d?-\d\d?|"
    r"\d{1,2}\.\s?\d{1,2}\.|\d{1,2}/\d{1,2}",
    re.IGNORECASE,
)
# Somewhere on earth a moment is up to so many hours later or earlier than in UTC.
_ZONES_H = (-12, 0, 14)


def supersession_sentences(text: str) -> list[str]:
    """The sentences of a text that name an earlier statement which they replace, each with the one
    before it if it only points at that."""
    written = sentences(text)
    found: list[str] = []
    for n, sentence in enumerate(written):
        words = plain(sentence)
        if words.rstrip().endswith(("?", "？")) or not _NAMES_SUPERSEDED.search(words):
            continue
        parts = [written[n - 1], sentence] if n and _POINTS_BACK.match(words) else [sentence]
        whole = " ".join(parts)
        if len(whole) <= _MAX_CHARS:
            found.append(whole)
    return found


def names_superseded(text: str) -> bool:
    """Whether a statement says that it replaces an earlier one."""
    return bool(supersession_sentences(text))


def names_day(text: str, time: str, zones_h: Sequence[int] = _ZONES_H) -> bool:
    """Whether a text names the day of a time in one of some time zones, given by their distance
    from UTC."""
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return False
    days = {(moment + timedelta(hours=hours)).date() for hours in zones_h}
    return any(_day_pattern(day).search(text) for day in days)


@lru_cache(maxsize=1000)
def _day_pattern(day: date) -> re.Pattern[str]:
    n, month = f"0?{day.day}", day.month
    name = rf"(?:{_MONTHS[month - 1]})\w*\.?"
    ending = r"(?:st|nd|rd|th)?"
    return regex(
        rf"(?<!\d){n}{ending}(?: of)?\s+{name}|\b{name}\s+(?:the )?{n}(?!\d)|"
        rf"{day.year}-0?{month}-{n}(?!\d)|(?<![\d.]){n}\.\s?0?{month}\.|"
        rf"(?<![\d/])(?:{n}/0?{month}|0?{month}/{n})(?![\d])",
        re.IGNORECASE,
    )


def names_any_day(text: str) -> bool:
    """Whether a text names a day of a month, whichever."""
    return _ANY_DAY.search(text) is not None
