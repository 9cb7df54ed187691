"""Dates of questions in other languages, as tokens of English that `date_phrases` reads: "vor drei
Tagen" becomes "3 days ago", at the place where it stands. The words are in `date_words`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from holdfast.function_words import function_words, without_asking
from holdfast.language import STOPWORDS, words
from holdfast.recall.query.date_phrases import Token, tokenize
from holdfast.recall.query.date_words import DATE_WORDS, DateWords
from holdfast.regex import regex

_UNITS = ("minute", "hour", "day", "week", "month", "quarter", "year")
_MONTHS = (
    "January February March April May June July August September October November December".split()
)
_WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_SEASONS = ("spring", "summer", "autumn", "winter")
_YEAR = r"(?:19|20)\d\d"
_DAY = r"[0-3]?\d"
_NUMBERS = ("n", "day", "month", "year")
_PLACE = re.compile(r"\{(\w+)\}")
# Words after which no preposition follows: "since in March" is "since March".
_BEFORE_DATES = frozenset("since before after until between and from every next".split())
_WIDE_DIGITS = str.maketrans("０１２３４５６７８９", "0123456789")
_HIRAGANA_AND_SIGNS = re.compile(r"[\u3041-\u309f\W\d_]+")

# Patterns with their English, by the places that they stand for.
_WordTables = dict[str, list[tuple[str, str]]]


class _Phrase(NamedTuple):
    """A phrase as a pattern, the English that it means, and the kinds of words without which it
    cannot be: a text that names no month needs no pattern of months."""

    pattern: re.Pattern[str]
    meaning: str
    needs: frozenset[str] = frozenset()


class _Reader(NamedTuple):
    """The phrases of one language, compiled, and the patterns of the words within them."""

    phrases: tuple[_Phrase, ...]
    following: tuple[_Phrase, ...]
    parts: dict[str, tuple[tuple[re.Pattern[str], str], ...]]
    kinds: dict[str, re.Pattern[str]]


class _Found(NamedTuple):
    """A phrase found in a text: its place and its English words."""

    start: int
    end: int
    english: tuple[str, ...]


def translate_dates(text: str, start: int, end: int, code: str) -> list[Token]:
    """The tokens of a part of a text: dates in the language as English, all else as it is."""
    tokens: list[Token] = []
    at = start
    for found in _find_phrases(text, start, end, code):
        tokens += tokenize(text, at, found.start)
        english = found.english
        if tokens and tokens[-1].word in _BEFORE_DATES and english[0] in ("in", "on"):
            english = english[1:]
        *most, last = (Token(word.lower(), word, found.start, found.end) for word in english)
        # What follows is not what a year counts, as in "2025 records".
        tokens += [*most, last._replace(comma=True)]
        at = found.end
    return tokens + tokenize(text, at, end)


def has_content(text: str, code: str) -> bool:
    """Whether what is left of a question without its time asks for something in particular."""
    known = DATE_WORDS[code]
    if known.spaced:
        empty = function_words(code) | frozenset(known.empty.split()) | STOPWORDS
        said = words(text.replace("'", " ").replace("’", " "))
        return any(word not in empty and len(word) > 1 for word in said)
    rest = without_asking(text, (code,))
    if code == "ko":
        left = [word for word in words(rest) if not _empty(code).fullmatch(word)]
        return any(len(word) > 1 for word in left)
    return bool(_HIRAGANA_AND_SIGNS.sub("", _empty(code).sub("", rest)))


@cache
def _empty(code: str) -> re.Pattern[str]:
    return re.compile(DATE_WORDS[code].empty)


def _find_phrases(text: str, start: int, end: int, code: str) -> list[_Found]:
    """The phrases in a part of a text, in order; of two at one place the longer one."""
    reader = _reader(code)
    lowered = text.lower().translate(_WIDE_DIGITS)
    if len(lowered) != len(text):
        # The lower case of a few letters is two: places would no longer fit.
        return []
    absent = {kind for kind, words in reader.kinds.items() if not words.search(lowered)}
    found = [
        _Found(match.start(), match.end(), _english(reader, phrase, match))
        for phrase in reader.phrases
        if not phrase.needs & absent
        for match in phrase.pattern.finditer(lowered, start, end)
    ]
    chosen: list[_Found] = []
    for one in sorted(found, key=lambda one: (one.start - one.end, one.start)):
        if all(one.end <= other.start or other.end <= one.start for other in chosen):
            chosen.append(one)
    return [_with_following(reader, one, lowered) for one in sorted(chosen)]


def _with_following(reader: _Reader, found: _Found, text: str) -> _Found:
    """A phrase with the preposition that the word directly after it means."""
    for phrase in reader.following:
        if match := phrase.pattern.match(text, found.end):
            bare = found.english[1:] if found.english[0] in ("in", "on") else found.english
            return _Found(found.start, match.end(), (phrase.meaning, *bare))
    return found


def _english(reader: _Reader, phrase: _Phrase, match: re.Match[str]) -> tuple[str, ...]:
    said = {name: value for name, value in match.groupdict().items() if value is not None}
    # A place that stands in a pattern twice is called `month` and `month_`.
    values = {name.rstrip("_"): _meaning(reader, name.rstrip("_"), said[name]) for name in said}
    return tuple(_PLACE.sub(lambda place: values.get(place[1], ""), phrase.meaning).split())


def _meaning(reader: _Reader, place: str, said: str) -> str:
    if said.isdigit() and place in ("n", "day", "year"):
        return str(int(said))
    for pattern, english in reader.parts.get(place, ()):
        if pattern.fullmatch(said):
            return english
    return said


@cache
def _reader(code: str) -> _Reader:
    known = DATE_WORDS[code]
    tables = _word_tables(known)
    return _Reader(
        tuple(_phrase(known, tables, *phrase) for phrase in known.phrases),
        tuple(_Phrase(regex(pattern), meaning) for pattern, meaning in known.following),
        {
            place: tuple((regex(pattern), english) for pattern, english in pairs)
            for place, pairs in tables.items()
        },
        {
            kind: regex("|".join(pattern for pattern, _ in pairs))
            for kind, pairs in tables.items()
            if kind != "n" and pairs
        },
    )


def _word_tables(known: DateWords) -> _WordTables:
    """The patterns of each place with their English."""
    return {
        "unit": list(zip(known.units, _UNITS, strict=True)),
        "month": list(zip(known.months, _MONTHS, strict=True)),
        "weekday": list(zip(known.weekdays, _WEEKDAYS, strict=True)),
        "season": list(zip(known.seasons, _SEASONS, strict=True)),
        "n": [(pattern, english) for english, pattern in known.numbers.items()],
    }


def _phrase(known: DateWords, tables: _WordTables, pattern: str, meaning: str) -> _Phrase:
    seen: dict[str, int] = {}

    def place(match: re.Match[str]) -> str:
        name = match[1]
        if name not in ("day", "year", *tables):
            return match[0]
        seen[name] = seen.get(name, 0) + 1
        # The longest first: "10" before "1".
        options = sorted((one for one, _ in tables.get(name, ())), key=len, reverse=True)
        digits = {"n": [r"\d{1,3}"], "day": [_DAY], "year": [_YEAR]}.get(name, [])
        group = f"(?P<{name}{'_' * (seen[name] - 1)}>{'|'.join([*digits, *options])})"
        # A number is not part of a longer one.
        return rf"(?<!\d){group}(?!\d)" if name in _NUMBERS else group

    whole = _PLACE.sub(place, pattern)
    whole = rf"(?<!\w)(?:{whole})(?!\w)" if known.spaced else whole
    return _Phrase(regex(whole), meaning, frozenset(seen.keys() - {"n", "day", "year"}))
