"""What is worth remembering of a session: a few statements, each of a kind, that stand alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from holdfast.language import is_chatter, sentences
from holdfast.model.knowledge import Kind
from holdfast.model.records import Turn
from holdfast.refine.distil.features import Candidate, content_words, find_candidates
from holdfast.refine.distil.kinds import is_left_open, kind_of
from holdfast.refine.distil.selector import LIMITS, Scored, SelectionLimits, Selector, select
from holdfast.refine.distil.standalone import POINTS_BACK, standalone, with_context
from holdfast.refine.distil.utterances import Place, Utterance, find_utterances
from holdfast.refine.facts.hypotheses import is_guess
from holdfast.regex import regex

# What starts so is data or markup, not a statement.
_DATA = ("{", "[", "<", "|", "$ ")
# Words, without stop words, that a statement needs to be understood.
_MIN_WORDS = 4
# What an agent says of itself while it works.
_NARRATES = regex(
    r"\b(?:I['’](?:ll|m)|I (?:will|am|need to|should)|let me|let['’]s)\b|^wait\b", re.I
)


class Context(NamedTuple):
    """What statements are about: the subject of their session, and what was asked for before each
    turn, by its id."""

    subject: str = ""
    requests: Mapping[str, str] = {}


# Written in the middle of a session: what they call open may be done at its end.
_SNAPSHOTS = frozenset((Place.SUMMARY, Place.FIX))


class Distilled(NamedTuple):
    """A statement to remember: its kind, its words with what it is about, only what was said, the
    turn that states it and whether whoever the agent works for said it."""

    kind: Kind
    text: str
    said: str
    turn: Turn
    is_person: bool


def distil(
    turns: Sequence[Turn],
    context: Context,
    selector: Selector,
    limits: SelectionLimits = LIMITS,
    whole: Sequence[Turn] = (),
) -> list[Distilled]:
    """The statements of a session to remember, in the order they were said. `whole`: all its turns,
    where these are a part of it."""
    utterances = find_utterances(turns, whole)
    scored = selector.score(utterances, find_candidates(utterances))
    lasting = [
        one._replace(kind=_kind_of(one, utterances))
        for one in scored
        if one.score >= limits.threshold and _may_last(one.candidate, utterances)
    ]
    return [_distilled(one, utterances, context) for one in select(lasting, limits)]


def _kind_of(one: Scored, utterances: Sequence[Utterance]) -> Kind:
    candidate = one.candidate
    return kind_of(candidate.statement, utterances[candidate.utterance], one.kind)


def _may_last(candidate: Candidate, utterances: Sequence[Utterance]) -> bool:
    """Whether a statement says something: a question does not, nor does a guess at a cause, an
    announcement, a line that only leads to the next, one that begins with what the sentence before
    it names, or a few words."""
    utterance, text = utterances[candidate.utterance], candidate.statement.text
    if utterance.place is Place.ANSWER:
        return True
    if text.startswith(_DATA) or text.rstrip(" *_`\"')").endswith(("?", "？", ":")):
        return False
    if len(content_words(text)) < _MIN_WORDS:
        return False
    if utterance.place in _SNAPSHOTS and is_left_open(candidate.statement):
        return False
    if utterance.is_person:
        return True
    if candidate.statement.before and POINTS_BACK.match(text):
        return False
    if utterance.place is Place.REPLY and _NARRATES.search(text):
        return False
    stated = sentences(text)
    return not any(is_guess(s) or is_chatter(s) for s in stated)


def _distilled(one: Scored, utterances: Sequence[Utterance], context: Context) -> Distilled:
    utterance = utterances[one.candidate.utterance]
    said = standalone(one.candidate.statement)
    subjects = (context.subject, context.requests.get(utterance.turn.id, ""))
    text = with_context(said, subjects)
    return Distilled(one.kind, text, said, utterance.turn, utterance.is_person)
