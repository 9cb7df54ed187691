"""The matter of a statement: a form of its words that is the same however it is put.

Statements of the same matter are one memory. They may differ in case, markup, articles, words that
add nothing ("please", "from now on"), inflection, and in the order of their phrases. What remains
must be equal: numbers, names, paths, negations, prepositions and the order of words in a phrase. So
"use npm" and "do not use npm", or "npm instead of yarn" and the reverse, are two matters.

The form depends on one statement alone. So which statements belong together depends neither on the
order in which they are read nor on how many there are, and finding them takes one look-up.
"""

from __future__ import annotations

import re
from functools import lru_cache

from holdfast.language import irregular_forms, plain
from holdfast.regex import regex

# Said before a statement, and no part of it.
_FRAME = regex(
    r"\b(?:from now on|going forward|as a (?:general )?rule|(?:once|one) (?:more|again)|"
    r"(?:please )?(?:remember|note)(?: that\b|(?=[\s,:]))|make sure (?:that|to)|be sure to|"
    r"as (?:i|we) (?:already )?said|as (?:mentioned|discussed|agreed)|by the way|in short|"
    r"(?:just )?(?:a |as a )?reminder|to be clear|keep in mind(?: that)?|for the record)\b[,:]?",
    re.IGNORECASE,
)
_FILLER = frozenset(
    "a an the this that these those our your my their its his her we i you they it there he she us "
    "is are was were be been being am has have had do does did and please just also now really "
    "simply again always actually basically generally usually currently already still too very "
    "quite so then here ok okay yes well".split()
)
# How every negation is written in a matter, and among the values of a statement.
NEGATION = "not"
_FOLDED = {
    **dict.fromkeys("never no nor none neither cannot without".split(), NEGATION),
    **dict.fromkeys("must should shall need needs".split(), "must"),
    **dict.fromkeys("every each".split(), "all"),
}
# A phrase starts with one of these. Wherever it stands in a sentence, it says the same.
_PHRASE_STARTS = frozenset(
    "in on at for from to into onto with within by of off out over under above below between "
    "through during per via as like than before after when while if unless until because since "
    "instead rather but or so that where which → -> =>".split()
)
_OBLIGATION = regex(r"\b(?:has|have|had|needs?) to\b", re.IGNORECASE)
_INSTEAD = regex(r"\b(?:instead of|rather than|in place of)\b", re.IGNORECASE)
_CONTRACTED_NOT = regex(r"\b[a-z]+n['’]t\b", re.IGNORECASE)
# What is said in several words, and how it is said in one. To look for the hints first takes a
# tenth of the time, and most statements have none of them.
_REPHRASED = (
    (("n't", "n’t"), _CONTRACTED_NOT, NEGATION),
    (("from now", "forward", "rule", "once ", "one more", "one again", "remember", "note", "sure ",
      "said", "mention", "discuss", "agreed", "the way", "in short", "remind", "clear", "in mind",
      "record"), _FRAME, " "),
    (("instead", "rather", "in place"), _INSTEAD, "instead"),
    ((" to ",), _OBLIGATION, "must"),
)  # fmt: skip
_SHORT_FORM = regex(r"['’](?:s|re|ve|ll|d|m)\b", re.IGNORECASE)
_BEFORE = "`'\"“‘«([{<,;:!?…—–"
_AFTER = "`'\"”’»)]}>,;:.!?…—–"
_PHRASE_END = regex(r"[,;:.!?)\]…—–]+[`'\"“”’*_]*$|^[—–-]+$")
_CODE = regex(r"[\d_/\\.:@#$%^&|~+=-]|[a-z][A-Z]")
_ENDINGS = ("ings", "ing", "ed", "es", "s", "e")
# Letters that are left of a word at least.
_MIN_BASE = 3
_ARROWS = ("→", "->", "=>")
_OPERATOR = regex(r"^[<>=+!/*%|&-]{1,3}$")


def matter_of(text: str) -> str:
    """The matter of a statement, as words to compare; "" where it has none."""
    phrases = [phrase for phrase in _phrases(text) if phrase]
    starts = [phrase[0] for phrase in phrases if phrase[0] in _PHRASE_STARTS]
    if len(starts) == len(set(starts)):
        # Of two phrases that start alike, the order may tell which belongs to what.
        phrases.sort()
    return " | ".join(" ".join(phrase) for phrase in phrases)


def values_of(text: str) -> frozenset[str]:
    """The numbers of a statement, and whether it negates: where they differ, two statements do not
    say the same, however many words they share."""
    words = (word for phrase in _phrases(text) for word in phrase)
    return frozenset(word for word in words if word == NEGATION or any(map(str.isdigit, word)))


def _phrases(text: str) -> list[list[str]]:
    text = plain(text)
    lower = text.lower()
    for hints, pattern, plain_form in _REPHRASED:
        if any(hint in lower for hint in hints):
            text = pattern.sub(plain_form, text)
    found: list[list[str]] = [[]]
    for chunk in text.split():
        word, ends_phrase = _word(chunk, not found[-1])
        if word in _PHRASE_STARTS:
            found.append([])
        if word:
            found[-1].append(word)
        if ends_phrase:
            found.append([])
    return found


@lru_cache(maxsize=20_000)
def _word(chunk: str, is_first: bool) -> tuple[str, bool]:
    """A word in its plain form, and whether a phrase ends after it."""
    return _plain_word(chunk, is_first), _PHRASE_END.search(chunk) is not None


def _plain_word(chunk: str, is_first: bool) -> str:
    """A word in its plain form, "" for one that says nothing; a name of code stays as it is."""
    if chunk in _ARROWS or _OPERATOR.match(chunk):
        return chunk
    inner = chunk.lstrip(_BEFORE).rstrip(_AFTER)
    is_letter = len(inner) == 1 and inner.isupper() and inner != "I" and not is_first
    if is_letter or _CODE.search(inner):
        return inner
    word = _SHORT_FORM.sub("", inner).lower()
    if word in _FILLER:
        return ""
    return _FOLDED.get(word) or (word if word in _PHRASE_STARTS else _base(word))


def _base(word: str) -> str:
    """A word without the endings of number and tense. Others make another word: an importer and
    an import are two things, as are products and production."""
    word = irregular_forms(word)[0]
    if not word.isascii():
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_BASE:
            word = word[: -len(ending)]
            break
    if len(word) > _MIN_BASE and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word[:-1] + "i" if word.endswith("y") else word
