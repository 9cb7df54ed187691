"""Recognises by its form what a person lays down: what must hold beyond the task at hand. Why they
refused what an agent was about to do is one, too.

"The icons must be PNGs", "I don't want it to depend on my machine", "Do not add the full names".
People say this in a few words, which are not like those of a careful reader, so the selector scores
it too low. An order that is carried out and done with ("Add the icons") is none, nor is a question,
what is broken, or a message that a program composed.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from holdfast.language import describes_failure, plain, sentences
from holdfast.refine.core.word_classes import WordClass, word_class
from holdfast.refine.distil.features import content_words
from holdfast.refine.distil.lasting import asks
from holdfast.refine.distil.person_kinds import (
    MAX_SENTENCES,
    OPENERS,
    PROHIBITS,
    is_passing,
    prohibits,
)
from holdfast.refine.distil.statements import Statement, find_rules
from holdfast.refine.distil.utterances import Place, Utterance
from holdfast.refine.facts.momentary_orders import is_for_the_moment
from holdfast.regex import regex


class LaidDownLimits(NamedTuple):
    """Which messages are a person's own words, and how short they may be."""

    max_sentences: int = MAX_SENTENCES
    max_chars: int = 300
    min_words: int = 2
    # What is added to the score. Of 168 sessions, what binds was what a careful reader remembered
    # in 20 of 41 statements that score no lower than this below the threshold, and a choice with
    # its reason or its alternative in 20 of 43; of all that people say there, in 95 of 670.
    binding: float = 2.1
    choice: float = 1.6


LIMITS = LaidDownLimits()

_TYPED = frozenset((Place.PROMPT, Place.CORRECTION, Place.REFUSAL))
_VERBS = frozenset((WordClass.VERB, WordClass.ACTION))
_OPENED = regex(OPENERS, re.I)
# A question, also without its mark.
_ASKS = regex(
    OPENERS + r"(?:do|does|did|can|could|is|are|was|were|has|have|should|would|will|what|why|how|"
    r"where|when|who|which)\b",
    re.I,
)
# The history of another session, as a program hands it over, and what agents write to each other.
_COMPOSED = regex(
    r"^\W*(?:the following is the \w+ agent history|you are\b|your (?:job|task|role|name) is\b)|"
    r"^\[\d+\] \w+\b",
    re.I,
)
# What somebody wants to be so, not what they want done.
_WISHES = regex(
    r"\b(?:i|we)(?:['’]d| would)?(?: (?:really|just|also|only|still|always|much|greatly))* "
    r"(?:(?:do not|don['’]?t|never)(?: \w+)? (?:want|like|need)\b|(?:prefer|value)\b|"
    r"(?:like|want|need) (?:to )?(?:keep|avoid|stay|be able|have (?:no|only|all)|see (?:the|your)|"
    r"no\b|only\b)|"
    r"(?:like|want|need) (?:[\w`./-]+ ){1,6}?to (?:be|stay|remain|work|have|use|look|keep)\b)",
    re.I,
)
_MUST = regex(
    r"^(?:[^\s,;:?]+ ){1,8}?(?:must|should(?:n['’]t)?|shall|has to|have to|needs to)\b"
    r"(?! (?:we|i)\b)",
    re.I,
)
# Not about a thing: what somebody is to do now, a condition, or what was just spoken of.
_NO_SUBJECT = regex(
    r"^(?:something|someone|i|we|you|they|he|she|this|that|these|those|it|there|what|which|who|how|why|where|if|when|"
    r"whether|maybe|perhaps|then|as|because|since|let['’]?s)\b",
    re.I,
)
_STANDS = regex(
    r"\b(?:always|never|from now on|going forward|each time|every time|whenever|by default|"
    r"in (?:the )?future|as (?:much|little|few|simple|small) as possible|at all times|"
    r"under no circumstances)\b",
    re.I,
)
# A choice between ways: with what it is not, why, or for all of us.
_CHOOSES = regex(
    r"\b(?:instead|rather than|without|unless|because|since|given that|so that|no longer)\b|"
    + OPENERS
    + r"(?:i think )?we (?:should|will)\b",
    re.I,
)
# What happened, and why: it says what is so, not what must be.
_HAPPENED = regex(
    r"^[^,;]*?\b(?:was|were|got|(?:has|have|had) been)\b[^,;]*\b(?:because|since|given that)\b",
    re.I,
)


def worth_of_form(statement: Statement, utterance: Utterance) -> float:
    """What the form of a statement adds to its score: more than 0 where a person lays down with it
    what must hold, or says why one thing is done and not another."""
    if not utterance.is_person or utterance.place not in _TYPED or utterance.turn.speaker:
        return 0.0  # in Claude Code, who has a name is another agent
    if _COMPOSED.search(utterance.text):
        return 0.0
    if statement.total > LIMITS.max_sentences or statement.text.endswith((":", "…")):
        return 0.0
    if lists_rules(statement, utterance):
        return LIMITS.binding
    found = sentences(statement.text)
    if utterance.place is Place.REFUSAL and any(map(_may_bind, found)):
        return LIMITS.binding
    return max(map(_worth, found), default=0.0)


def lists_rules(statement: Statement, utterance: Utterance) -> bool:
    """Whether a statement is a whole list of rules."""
    is_list = statement.is_item and statement.length > 1
    return is_list and utterance.is_person and statement in find_rules(utterance.text)


def _worth(sentence: str) -> float:
    text = plain(sentence).strip()
    if not _may_bind(text) or is_passing(text):
        return 0.0
    if prohibits(text) or _WISHES.search(text) or _binds(text):
        return LIMITS.binding
    reports = describes_failure(text) or _HAPPENED.match(text) is not None
    return LIMITS.choice if _CHOOSES.search(text) and not reports else 0.0


def _may_bind(text: str) -> bool:
    """Whether a sentence is no question, not for the moment, and of neither few nor many words."""
    if asks(text) or (_ASKS.match(text) and not PROHIBITS.match(text)):
        return False
    has_words = len(content_words(text)) >= LIMITS.min_words and len(text) <= LIMITS.max_chars
    return has_words and not is_for_the_moment(text)


def _binds(text: str) -> bool:
    """Whether a sentence says of a thing how it must be, or that it always or never is so."""
    bare = _OPENED.sub("", text)
    if _NO_SUBJECT.match(bare):
        return False
    first = re.split(r"\W", bare, maxsplit=1)[0]
    is_order = word_class(first.lower()) in _VERBS
    return _STANDS.search(bare) is not None if is_order else _MUST.match(bare) is not None
