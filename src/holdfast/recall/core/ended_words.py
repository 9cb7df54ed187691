"""Recognises words that no longer hold, in whatever text repeats them.

The fact stage knows which statements of a bank have ended (`refine.facts.ended_statements`). A
turn, a summary, a memory or a commit that says the same was made before the decision and does not
know of it. So every text is compared with the ended statements of its bank when it is ranked or
shown: a sentence that says one of them is history. There are few such statements; a text that
shares too few of their words is not read by sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from math import ceil

from holdfast.language import (
    IRREGULAR_WORDS,
    content_stems,
    is_negated,
    sentences,
    stem,
)
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.knowledge import EndedSentence, EndedStatement, EndReason
from holdfast.regex import regex
from holdfast.store.protocol import Reader

# A stem ends where forms of a word begin to differ, but for its last letter ("y", "i").
_START_LETTERS = 3
_CHANGES = (
    "change changed mind minds longer replace replaces supersede superseding update correction "
    "scrap drop switch switched amend revised again"
)
# Where a clause ends, and the title that a report of work gives in quotes: "Committed “…” in …".
_CLAUSE_END = regex(
    r"[,.;:()—–]|\b(?:because|since|so that|but|instead|rather than|and)\b", re.IGNORECASE
)
_AGAINST = regex(r"\b(?:against|instead of|rather than)\b", re.IGNORECASE)
_TITLE = regex(r"[“\"]([^“”\"]{8,200})[”\"]")
# The kind of a line before what it says: "Committed: …", "Next: …".
_LABELLED = regex(r"\W*\w+: (.+)", re.DOTALL)
# In place of a turn: the text sums a session up.
WHOLE_SESSION = -1


class EndedLimits(NamedTuple):
    """When a sentence says what ended, by the share of the ended statement's content words that it
    has. Chosen by hand on the sentences of `tests/recall/core/test_ended_words.py`: lower values
    mark sentences about something else, higher ones miss the same in other words."""

    same_share: float = 0.8
    # In the exchange where it was said, people and agents refer to it in fewer words; a sentence
    # that was cut short has fewer of them.
    same_exchange_share: float = 0.4
    same_exchange_words: int = 2
    # A summary of that session may cut the statement short.
    summary_share: float = 0.6
    # Of the words that only the ended, or only the new statement has, a sentence must have this
    # share to say that one.
    telling_share: float = 0.5
    # What carries a decision out says a part of it in few words ("Deploy with flux"): this share of
    # them is in the ended statement, and so many are.
    part_share: float = 0.8
    part_words: int = 2
    # In the session where it was said a smaller share of the words will do: "Put uploads through
    # flux" for "uploads go through flux in the media service".
    brief_share: float = 0.6
    # A record as a whole has ended if such sentences make up this share of its text.
    share_of_record: float = 0.4


_LIMITS = EndedLimits()


class _Known(NamedTuple):
    """An ended statement with its content words: all of them, those that what holds instead does
    not have, those that only that has, and those that it denies ("we no longer …"). It is
    `part_negated` if the clause of those that do not hold is. `starts` are the beginnings of all of
    them, of which a text that says it misses `may_miss` at most."""

    statement: EndedStatement
    all: frozenset[str]
    gone: frozenset[str]
    new: frozenset[str]
    denied: frozenset[str]
    negated: bool
    part_negated: bool
    starts: tuple[str, ...]
    may_miss: int


class _Place(NamedTuple):
    """Where a text comes from, and whether something of it was cut off."""

    session: str
    seq: int
    is_cut: bool

    def is_in_session(self, statement: EndedStatement) -> bool:
        return bool(self.session) and self.session == statement.session

    def is_in_exchange(self, statement: EndedStatement) -> bool:
        within = statement.first_seq <= self.seq <= statement.last_seq
        return within and self.is_in_session(statement)


class EndedWords:
    """The ended statements of one bank."""

    def __init__(self, statements: Iterable[EndedStatement], as_of: str = "") -> None:
        """With `as_of`, those that had ended at that time."""
        known = (_known(one) for one in statements if not as_of or one.ended <= as_of)
        self._known = [one for one in known if one.all]

    def mentions(self, text: str) -> bool:
        """Whether a text has a word of what ended. Only of such a text it must be known where it
        was said."""
        lower = text.lower() if self._known else ""
        return any(start in lower for one in self._known for start in one.starts)

    def of_record(self, uri: str) -> tuple[EndedSentence, ...]:
        """The last end of the words of the record that a decision was about."""
        ends = [one.statement for one in self._known if one.statement.record == uri]
        last = max(ends, key=lambda one: (one.ended, one), default=None)
        return (_sentence(last.text, last),) if last is not None else ()

    def called_outdated(self, uri: str) -> tuple[EndedSentence, ...]:
        """The verdict that a record is outdated, whatever its words."""
        return tuple(one for one in self.of_record(uri) if one.reason is EndReason.OUTDATED)

    def find(
        self, text: str, time: str = "", session: str = "", seq: int = 0
    ) -> tuple[EndedSentence, ...]:
        """The sentences of a text that say what ended after the `time` of the text; it comes from
        a `session`, from the turn `seq` or an exchange that begins there, or sums all of it up
        (`WHOLE_SESSION`)."""
        place = _Place(session, seq, "…" in text)
        lower = text.lower() if self._known else ""
        known = [one for one in self._known if _may_be_said(one, lower, place)]
        if not known:
            return ()
        whole = _content(text)
        near = [
            one
            for one in known
            if (not time or time < one.statement.ended)
            and (
                _shares_enough(one, whole, place)
                or _may_say_part(one, whole)
                or _may_say_in_brief(one, whole, place)
            )
        ]
        if not near:
            return ()
        found: list[EndedSentence] = []
        for sentence in sentences(text):
            at = place._replace(is_cut=sentence.rstrip().endswith("…"))
            ending = _ending_of(sentence, near, at)
            if ending is not None:
                found.append(_sentence(sentence, ending))
        return tuple(found)


def _sentence(sentence: str, end: EndedStatement) -> EndedSentence:
    return EndedSentence(sentence, end.ended, end.reason, end.who, end.instead, end.now)


@cache
def _change_stems() -> frozenset[str]:
    return frozenset(map(stem, _CHANGES.split()))


@cache
def _irregular_stems() -> frozenset[str]:
    return frozenset(map(stem, IRREGULAR_WORDS))


def _content(text: str) -> frozenset[str]:
    """The stems of a text that say what holds, without those that say that something changes."""
    return content_stems(text) - _change_stems()


def _may_be_said(known: _Known, lower: str, place: _Place) -> bool:
    """Whether a text can say a statement. To look for a few letters takes a hundredth of the time
    that it takes to read a text by its stems, and most texts are about something else."""
    if place.is_cut or place.is_in_session(known.statement):
        return not known.starts or any(start in lower for start in known.starts)
    if known.gone or known.denied:
        # It may say a part of it.
        return sum(start in lower for start in known.starts) >= _LIMITS.part_words
    left = known.may_miss
    for start in known.starts:
        if start not in lower:
            left -= 1
            if left < 0:
                return False
    return True


@lru_cache(4096)
def _known(statement: EndedStatement) -> _Known:
    old, now = _content(statement.text), _content(statement.replacement)
    gone = old - now if now else frozenset[str]()
    starts = _starts(old)
    may_miss = len(old) - ceil(_LIMITS.same_share * len(old))
    negated = is_negated(statement.text)
    denied = _denied(statement) if now and not negated else frozenset[str]()
    clauses = (c for c in _CLAUSE_END.split(statement.text) if gone & _content(c))
    part_negated = any(map(is_negated, clauses))
    return _Known(statement, old, gone, now - old, denied, negated, part_negated, starts, may_miss)


def _denied(statement: EndedStatement) -> frozenset[str]:
    """The content words of the clause in which the new statement denies the ended one: "We no
    longer cache responses in Redis: …" denies them, though the ended one says more."""
    old = _content(statement.text)
    for clause in _CLAUSE_END.split(statement.replacement):
        words = _content(clause)
        if (
            is_negated(clause)
            and len(words) >= _LIMITS.part_words
            and len(words & old) >= _LIMITS.same_share * len(words)
        ):
            return words & old
    return frozenset()


def _starts(stems: Iterable[str]) -> tuple[str, ...]:
    """How words with these stems begin, the longest first; without irregular words, of which other
    forms may begin otherwise."""
    regular = sorted({*stems} - _irregular_stems(), key=lambda s: (-len(s), s))
    return tuple(word[: max(_START_LETTERS, len(word) - 1)] for word in regular)


def _ending_of(sentence: str, near: Iterable[_Known], place: _Place) -> EndedStatement | None:
    """The latest end of what a sentence says; None for a question and for what still holds."""
    if sentence.rstrip().endswith("?"):
        return None
    stems = _content(sentence)
    said = [one.statement for one in near if _says(sentence, stems, one, place)]
    return max(said, key=lambda one: (one.ended, one), default=None)


def _says(sentence: str, stems: frozenset[str], known: _Known, place: _Place) -> bool:
    """Whether a sentence says an ended statement, and not what holds instead."""
    if known.statement.everywhere and _says_part(sentence, known):
        return True
    if any(_is_brief(text, known, place) for text in _titles(sentence)):
        return True
    if not _shares_enough(known, stems, place):
        return False
    if known.new and len(known.new & stems) >= _LIMITS.telling_share * len(known.new):
        return False
    if known.gone:
        return len(known.gone & stems) >= _LIMITS.telling_share * len(known.gone)
    if known.new or (not known.statement.replacement and place.is_in_exchange(known.statement)):
        return True
    return is_negated(sentence) == known.negated


def _shares_enough(known: _Known, stems: frozenset[str], place: _Place) -> bool:
    shared, most = len(known.all & stems), len(known.all)
    is_in_session = place.is_in_session(known.statement)
    if place.is_in_exchange(known.statement) and _names_it(known, stems):
        return True
    if place.is_in_exchange(known.statement) or (place.is_cut and known.gone):
        needed = max(_LIMITS.same_exchange_words, _LIMITS.same_exchange_share * most)
        return shared >= min(most, needed)
    if place.is_cut or (is_in_session and place.seq == WHOLE_SESSION):
        return shared >= _LIMITS.summary_share * most
    return (known.statement.everywhere or is_in_session) and shared >= _LIMITS.same_share * most


def _may_say_part(known: _Known, stems: frozenset[str]) -> bool:
    """Whether a text has the words that a part of an ended statement cannot do without."""
    if known.denied and len(known.denied & stems) >= _LIMITS.same_share * len(known.denied):
        return True
    return bool(known.gone) and _names_it(known, stems)


def _says_part(sentence: str, known: _Known) -> bool:
    """Whether a sentence, the title that it quotes, or what stands after its label says a part of
    an ended statement that no longer holds, and nothing else: what carried a decision out is
    history with it."""
    return any(_is_part(text, known) for text in _titles(sentence))


def _titles(sentence: str) -> list[str]:
    """What a sentence may give as a title: what it quotes; else all of it, or what stands after its
    label."""
    labelled = _LABELLED.match(sentence)
    return _TITLE.findall(sentence) or [sentence, *(labelled.groups() if labelled else ())]


def _may_say_in_brief(known: _Known, stems: frozenset[str], place: _Place) -> bool:
    """Whether a text can be a title of what was said in its session: it names what no longer
    holds, or nothing holds instead."""
    is_of_it = place.is_in_exchange(known.statement) or (
        place.is_in_session(known.statement) and place.seq == WHOLE_SESSION
    )
    names_it = _names_it(known, stems) if known.gone else not known.statement.replacement
    return is_of_it and names_it and len(known.all & stems) >= _LIMITS.part_words


def _is_brief(text: str, known: _Known, place: _Place) -> bool:
    """Whether a text is such a title: most of its words are the statement's, and it denies what
    that denies."""
    stems = _content(text)
    if not _may_say_in_brief(known, stems, place):
        return False
    if known.new & stems or _AGAINST.search(text):
        return False
    clauses = (c for c in _CLAUSE_END.split(known.statement.text) if stems & _content(c))
    is_same = is_negated(text) == any(map(is_negated, clauses))
    return is_same and len(known.all & stems) >= _LIMITS.brief_share * len(stems)


def _is_part(text: str, known: _Known) -> bool:
    stems = _content(text)
    if known.new & stems or _AGAINST.search(text) or is_negated(text) != known.part_negated:
        return False
    if known.denied and len(known.denied & stems) >= _LIMITS.same_share * len(known.denied):
        return True
    shared = len(known.all & stems)
    is_within = shared >= max(_LIMITS.part_words, _LIMITS.part_share * len(stems))
    return is_within and bool(known.gone) and _names_it(known, stems)


def _names_it(known: _Known, stems: frozenset[str]) -> bool:
    """Whether all that tells the ended statement from the new one is there, and it is more than
    numbers: "it goes with flux now", where the statement says "deploy with flux"."""
    return known.gone <= stems and any(not word.isdigit() for word in known.gone)


def has_ended(text: str, found: Iterable[EndedSentence]) -> bool:
    """Whether a record says mainly what ended."""
    characters = sum(len(one.sentence) for one in found)
    return characters >= _LIMITS.share_of_record * len(text.strip()) > 0


def read_ended_words(
    reader: Reader, bank: str, sessions: Iterable[str] = (), as_of: str = ""
) -> EndedWords:
    """What has ended in a bank, as far as it concerns the records of some sessions."""
    names = sorted({session for session in sessions if session})
    return EndedWords(reader.facts.ended_statements(bank, names), as_of)
