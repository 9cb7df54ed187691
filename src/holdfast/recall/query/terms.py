"""The terms of a query. Whatever is typed is only ever words: quotes, operators, emoji and a
hundred kilobytes of text are safe."""

from __future__ import annotations

import re
from collections import Counter

from holdfast.function_words import language_of, without_asking
from holdfast.language import STOPWORDS, code_names, irregular_forms, split_identifier, stem, words
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.regex import regex
from holdfast.word_forms import (
    apart_from_pieces,
    is_piece,
    mixed_case_names,
    search_words,
    without_elision,
    word_start,
)

# Words beyond this many cost time and change little. A pasted text has more.
MAX_TERMS = 32
_MAX_CHARACTERS = 120_000
# A word with a letter in it. If more of a query's words than this begin with a capital, that says
# nothing of any of them.
_WORD_AS_WRITTEN = regex(r"[^\W\d_][\w.+#-]*")
_MAX_NAME_SHARE = 0.5

# Words of questions that an answer need not contain.
QUESTION_WORDS = frozenset(
    "what when where which who whom whose why how did do does was were is are tell show find "
    "remember recall know about explain describe list give happened said told discuss discussed "
    "decide decided decision question answer last time ever long many much".split()
)
# "What became of the cache?" asks about the cache.
_WHAT_BECAME = regex(r"\bwhat(?:'s|’s| has| had)? (?:ever )?bec[ao]me of\b", re.IGNORECASE)
_ASKS_WHAT_WENT_WRONG = regex(
    r"\bwhat(?:['’]s| is| was| were| has| had)? (?:goes|going|gone|went|go)? ?wrong\b",
    re.IGNORECASE,
)
# "What is not allowed in commits?", "What must nobody push?", "Which licences are forbidden?"
_ASKS_WHAT_IS_FORBIDDEN = regex(
    r"\b(?:what|which|who|where|when)\b[^.?!]{0,80}?\b(?:"
    r"(?:not|never|no longer|nobody|\w+n['’]t)\b[^.?!]{0,20}\b(?:allowed|permitted|supposed)|"
    r"forbidden|prohibited|banned|disallowed|off[- ]limits|"
    r"(?:must|may|should|shall|can)(?: not\b| never\b|n['’]t\b|not\b))|"
    r"\b(?:what|which|who|where|when) (?:must|may|should|shall) (?:\w+ ){1,4}?(?:not|never)\b",
    re.IGNORECASE,
)
# Asks for a way to do something: "How do I start the server?" "How should I …" asks for advice.
_ASKS_FOR_WAY = regex(
    r"\bhow (?:(?:do|can|could|must) (?:i|we|you|one|people|users?|somebody|"
    r"someone|anyone)|to|does one)\b|\bwhat (?:is|are|was) the (?:commands?|steps?|way|procedure) "
    r"(?:to|for|of)\b|\b(?:which|what) command\b",
    re.IGNORECASE,
)
# A longer query is a pasted text: what it asks for is said at its start.
_MAX_ASKING = 400
# The words in which these ask. They are not what is asked about.
_OF_WRONG = frozenset("goes going gone went go wrong".split())
_OF_FORBIDDEN = frozenset(
    "allowed permitted supposed forbidden prohibited banned disallowed limits must may shall never "
    "nobody longer".split()
)
_OF_WAY = frozenset("people user users somebody someone anyone way steps".split())


class Terms(NamedTuple):
    """`words` are what relevance is measured by, one per stem: words of English, pieces of scripts
    without spaces, and starts of words in other languages (`word_forms`). `phrases` are names of
    code, which are searched as a whole."""

    words: tuple[str, ...]
    phrases: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        """Everything to search for, with irregular forms."""
        spelled = dict.fromkeys(form for word in self.words for form in irregular_forms(word))
        return (*spelled, *self.phrases)


def proper_names(query: str) -> list[str]:
    """The words of a query, in lower case, that are written like a name: with a capital, and not
    only because the query begins with them. A query in which most words are is a title. In German
    every noun has a capital: only what is not written like one is a name (`SAP`)."""
    found = _WORD_AS_WRITTEN.findall(query[:_MAX_CHARACTERS])
    capital = [word for word in found[1:] if word != word.lower() and word != "I"]
    if len(capital) > _MAX_NAME_SHARE * len(found):
        return []
    if capital and "de" in language_of(query[:_MAX_CHARACTERS]).codes:
        capital = [word for word in capital if not word.istitle()]
    return [part for word in capital for part in words(word)]


def names_something(query: str) -> bool:
    """Whether a query has a word that can be looked for: "why why why" has none."""
    text = query[:_MAX_CHARACTERS]
    language = language_of(text)
    empty = STOPWORDS | language.function_words
    said = (
        words(text) if language.is_english else search_words(without_asking(text, language.codes))
    )
    return any(word not in empty and without_elision(word) not in empty for word in said)


def given_words(query: str) -> frozenset[str]:
    """The words of a query as it gives them, in lower case, without those that only ask."""
    text = query[:_MAX_CHARACTERS]
    said = frozenset(search_words(text))
    return said - STOPWORDS - QUESTION_WORDS or said


def has_given_word(given: frozenset[str], text: str) -> bool:
    """Whether a text has one of these words in this very form, also as a part of a name."""
    said = apart_from_pieces(text)
    if not given.isdisjoint(words(said)):
        return True
    if any(not given.isdisjoint(parts) for _, parts in mixed_case_names(text)):
        return True
    lowered = said.lower()
    return any(is_piece(word) and word in lowered for word in given)


def asks_what_went_wrong(question: str) -> bool:
    """Whether a question asks what was wrong with something."""
    return _ASKS_WHAT_WENT_WRONG.search(question[:_MAX_ASKING]) is not None


def asks_what_is_forbidden(question: str) -> bool:
    """Whether a question asks what must not be done."""
    return _ASKS_WHAT_IS_FORBIDDEN.search(question[:_MAX_ASKING]) is not None


def asks_for_way(question: str) -> bool:
    """Whether a question asks how to do something."""
    return _ASKS_FOR_WAY.search(question[:_MAX_ASKING]) is not None


def asking_words(text: str) -> frozenset[str]:
    """The words of a query that only tell what kind of answer it wants."""
    frames = (
        (asks_what_went_wrong, _OF_WRONG),
        (asks_what_is_forbidden, _OF_FORBIDDEN),
        (asks_for_way, _OF_WAY),
    )
    return frozenset[str]().union(*(said for asks, said in frames if asks(text)))


def read_terms(query: str) -> Terms:
    """The terms of a query, at most `MAX_TERMS` words."""
    text = query[:_MAX_CHARACTERS].encode("utf-8", "ignore").decode("utf-8")
    if "bec" in text.lower():
        text = _WHAT_BECAME.sub("what of", text)
    named = code_names(text)
    parts = [part.lower() for name in named for part in split_identifier(name) if len(part) > 1]
    language = language_of(text)
    asking = language.function_words | asking_words(text)
    said = (search_words(without_asking(text, language.codes)) or search_words(text)) + parts
    telling = [w for w in said if w not in STOPWORDS and w not in QUESTION_WORDS]
    telling = [
        w for w in telling if w not in asking and without_elision(w) not in asking
    ] or telling
    telling = telling or [w for w in said if w not in STOPWORDS] or said
    telling = [word_start(w, language.stemmers) or w for w in telling]
    counted: Counter[str] = Counter()
    spelled: dict[str, str] = {}
    for word in telling:
        counted[stem(word)] += 1
        spelled.setdefault(stem(word), word)
    if len(counted) > MAX_TERMS:
        # A pasted text is about what it repeats, and about its long words.
        best = sorted(counted, key=lambda s: (-counted[s] * len(spelled[s]), s))[:MAX_TERMS]
        spelled = {key: spelled[key] for key in best}
    phrases = tuple(name for name in named if not name.isalnum())
    return Terms(tuple(spelled.values()), phrases)
