"""The things that a question is about, as far as its grammar tells: "Why did we drop the queue?" is
about the queue. Where a memory never mentions such a thing, it has no answer, however much else of
the question it says."""

from __future__ import annotations

import re

from holdfast.function_words import language_of
from holdfast.language import STOPWORDS, sentences
from holdfast.recall.query.expansion import Expansion, expand
from holdfast.recall.query.terms import QUESTION_WORDS, read_terms
from holdfast.regex import regex
from holdfast.store.protocol import Reader

_TOKEN = regex(r"[A-Za-z][\w+#'’-]*|\S")
# What has one of these is a thing that whoever asks takes for known. "A queue" may be any, and
# "which city" asks for Rome: neither needs to be said.
_ARTICLES = frozenset("the our my your their its this these those".split())
_AUXILIARIES = frozenset("do does did can could should would will shall must may might".split())
_NOT_NOUNS = _AUXILIARIES | frozenset("is are was were has have had".split())
# After them a noun may be the subject of a verb that follows it: "if downloading the file fails".
_CONJUNCTIONS = frozenset(
    "if when while that because after before until once how why where".split()
)
# After them a noun may be followed by what it was made: "make the tests faster".
_MAKES = frozenset("make makes made keep keeps kept get gets got leave left turn turned".split())
# What an answer would be, and not what it is about: "What was the problem with Postgres?"
_KINDS_OF_ANSWERS = frozenset(
    "problem problems trouble cause reason reasons issue issues error errors fault bug bugs "
    "failure fix solution decision rule rules status state plan idea purpose goal result outcome "
    "change changes difference answer name value way".split()
)
# A longer question is a report.
_MAX_WORDS = 20
# Words to look for, beyond which one that nobody said is no reason to decline: of 997 questions of
# LoCoMo four were declined for such a thing, three of them right before and of five words or more.
_MAX_TERMS = 4
# A question has its subject after one of the first words ("How long does the …").
_MAX_PLACE_OF_AUXILIARY = 3


def unmentioned_thing(reader: Reader, bank: str | None, question: str) -> str:
    """The thing that a question is about, if no record of a bank has its word or a synonym of it;
    otherwise ""."""
    for noun in central_nouns(question):
        terms = [noun, *expand([noun], Expansion.FULL)]
        if not any(reader.passages.term_frequencies(bank, terms, 1)):
            return noun
    return ""


def central_nouns(question: str) -> list[str]:
    """The nouns with a definite article in a question, in their order and in lower case; of
    compounds the last word. Of a question in another language than English none, and none of one
    that says much, or a report of several sentences: they tell what happened in words that nobody
    need have said."""
    said = [token.lower() for token in _TOKEN.findall(question)]
    if len(said) > _MAX_WORDS or _has_noun_for_subject(said):
        return []
    if len(sentences(question)) > 1 or not language_of(question).is_english:
        return []
    if len(read_terms(question).words) > _MAX_TERMS:
        return []
    found: list[str] = []
    for at, word in enumerate(said):
        if word not in _ARTICLES:
            continue
        end = at + 1
        while end < len(said) and _is_content(said[end]):
            end += 1
        nouns = said[at + 1 : end]
        # "the party hosted by …", "make the tests faster"
        if len(nouns) > 1 and (nouns[-1].endswith("ed") or said[at - 1] in _MAKES):
            nouns = nouns[:-1]
        is_subject = len(nouns) > 1 and not _CONJUNCTIONS.isdisjoint(said[1:at])
        # What is before "of" is a property of what is after it: "the number of terminals".
        is_thing = bool(nouns) and nouns[-1] not in _KINDS_OF_ANSWERS
        if is_thing and not is_subject and said[end : end + 1] != ["of"]:
            found.append(nouns[-1])
    return found


def _has_noun_for_subject(said: list[str]) -> bool:
    """Whether the subject of a question is a noun. Its verb follows it, and cannot be told from a
    noun: "does the export button treat drafts"."""
    places = [n for n, word in enumerate(said[:_MAX_PLACE_OF_AUXILIARY]) if word in _AUXILIARIES]
    return any(said[n + 1 : n + 2] != [] and said[n + 1] in _ARTICLES for n in places)


def _is_content(word: str) -> bool:
    plain = re.fullmatch(r"[a-z][\w+#-]+(?<!ly)", word) is not None
    return plain and word not in STOPWORDS and word not in QUESTION_WORDS and word not in _NOT_NOUNS
