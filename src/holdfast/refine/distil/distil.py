"""What is worth remembering of a session: a few statements, each of a kind, that stand alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from holdfast.language import is_chatter, sentences
from holdfast.model.knowledge import Kind
from holdfast.model.records import Turn
from holdfast.refine.distil.features import Candidate, content_words, find_candidates
from holdfast.refine.distil.kinds import is_left_open, kind_of
from holdfast.refine.distil.second_look import (
    LIMITS_BY_VECTORS,
    SECOND_LOOK,
    Embed,
    look_again,
)
from holdfast.refine.distil.selector import LIMITS, Scored, SelectionLimits, Selector, select
from holdfast.refine.distil.standalone import POINTS_BACK, standalone, with_context
from holdfast.refine.distil.utterances import Place, Utterance, find_utterances
from holdfast.refine.facts.hypotheses import is_guess
from holdfast.regex import regex

# Digits of a score that are kept: more depend on the processor.
_WORTH_DIGITS = 2
# What starts so is data or markup, not a statement.
_DATA = ("{", "[", "<", "|", "$ ")
# Words, without stop words, that a statement needs to be understood.
_MIN_WORDS = 4
# What an agent says of itself while it works, and what it takes for likely then.
_NARRATES = regex(
    r"\b(?:I['’](?:ll|m)|I (?:still |also |just |first |now )?(?:will|am|need|should|see|found)|"
    r"let me|let['’]s|likely|probably|perhaps|might|may (?:be|have|rely|need))\b|"
    r"^(?:wait|before I|before (?:\w+ing))\b",
    re.I,
)
# What an agent is about to do, at any time.
_ANNOUNCES = regex(r"\bI['’](?:ll|m (?:now |also )?\w+ing)\b|\bagent will\b", re.I)
# What an agent read, looked at or left out: the result is said beside it.
_READS = regex(
    r"^\W*I(?:['’]ve| have)?(?: also| now| just| then)? (?:reviewed|read|checked|looked|examined|"
    r"inspected|searched|explored|tried|attempted|ran|compared|went|did(?: not|n['’]t) (?:run|test|"
    r"check|verify|touch|change))\b",
    re.I,
)
# A part of a finding that is named by its label: how it would show, what could be done about it.
_PART_OF_FINDING = regex(
    r"^\W*(?:action(?:able fix)?|(?:suggested|proposed|recommended|possible) (?:fix|change|action)|"
    r"suggestions?|recommendation|(?:failure |example |realistic )*(?:scenario|failure case)|"
    r"impact|severity|evidence|repro(?:duction)?|why (?:this|it) (?:matters|is an? \w+))\W*:",
    re.I,
)
# How matters stand among agents at the moment.
_AT_WORK = regex(
    r"\b(?:is|are) (?:already |still |now )?(?:handling|working on|online|standing by|waiting|"
    r"in[_ ]progress|running|idle)\b|\bunblocked\b|\bstill working\b",
    re.I,
)
# The prompt of a program or an agent, which says what the reader is.
_ROLE = regex(r"^\W*(?:you are|your (?:job|task|role|name) is)\b", re.I)
# A question as an order: what comes of it says more.
_ASKS_TO_FIND_OUT = regex(
    r"^\W*(?:(?:ok(?:ay)?|now|then|next|so|and|also|please|pls|hi|hey|let['’]?s|can you|could you|"
    r"i (?:want|need) you to)[,.:! ]+)*(?:find out|figure out|look into|investigate|check|see|"
    r"tell me|explain(?: to me)?|show me|analy[sz]e|determine)\s+"
    r"(?:why|what|how|whether|if|where|who|when|which)\b",
    re.I,
)
# Arguments for a plan, under their heading.
_PRAISE_LEAD = regex(r"^\W*(?:benefits?|advantages|pros|why this works)\b", re.I)
# Code and its description that was pasted into a prompt.
_DIFF = regex(r"^(?:diff --git|@@ |[+]{3} |-{3} )|^(?:args|returns|raises|params?):", re.I)
# A verdict that names nothing: "the tests cover it", "looks consistent with existing patterns".
_VERDICT = regex(
    r"\b(?:no (?:\w+[- ]){0,3}(?:bugs?|issues?|problems?|regressions?|concerns)\b.{0,20}\b(?:found|"
    r"identified|stood out)|did(?:n['’]t| not) find any|(?:is|are|looks?) (?:internally )?"
    r"(?:consistent|coherent|correct|solid|good|fine)\b|(?:correctly|properly) handles)",
    re.I,
)
_SAYS_NOTHING = (_ANNOUNCES, _READS, _PART_OF_FINDING, _AT_WORK, _VERDICT)


class Context(NamedTuple):
    """What statements are about: the subject of their session, and what was asked for before each
    turn, by its id."""

    subject: str = ""
    requests: Mapping[str, str] = {}


# Written in the middle of a session: what they call open may be done at its end.
_SNAPSHOTS = frozenset((Place.SUMMARY, Place.FIX))


class Distilled(NamedTuple):
    """A statement to remember: its kind, its words with what it is about, only what was said, the
    turn that states it, whether whoever the agent works for said it, and the score that chose it.
    """

    kind: Kind
    text: str
    said: str
    turn: Turn
    is_person: bool
    worth: float = 0.0


def distil(
    turns: Sequence[Turn],
    context: Context,
    selector: Selector,
    limits: SelectionLimits = LIMITS,
    whole: Sequence[Turn] = (),
    embed: Embed | None = None,
) -> list[Distilled]:
    """The statements of a session to remember, in the order they were said. `whole`: all its turns,
    where these are a part of it. `embed` gives vectors for a second look at the best statements of
    a session that has many; words alone choose where there is none."""
    utterances = find_utterances(turns, whole)
    scored = selector.score(utterances, find_candidates(utterances))
    best = best_lasting(scored, utterances) if embed is not None else []
    if embed is not None and len(best) > SECOND_LOOK.few:
        limits = LIMITS_BY_VECTORS
        lasting = look_again(selector.weights, best, utterances, embed)
    else:
        likely = (one for one in scored if one.score >= limits.threshold)
        lasting = [one for one in likely if _may_last(one.candidate, utterances)]
    of_kinds = [one._replace(kind=_kind_of(one, utterances)) for one in lasting]
    return [_distilled(one, utterances, context) for one in select(of_kinds, limits)]


def best_lasting(scored: Sequence[Scored], utterances: Sequence[Utterance]) -> list[Scored]:
    """The statements that say something and get a second look, best first."""
    ordered = sorted(scored, key=lambda s: (-s.score, s.candidate.utterance))
    lasting = (one for one in ordered if _may_last(one.candidate, utterances))
    return list(islice(lasting, SECOND_LOOK.best))


def _kind_of(one: Scored, utterances: Sequence[Utterance]) -> Kind:
    candidate = one.candidate
    return kind_of(candidate.statement, utterances[candidate.utterance], one.kind)


def _may_last(candidate: Candidate, utterances: Sequence[Utterance]) -> bool:
    """Whether a statement says something: a question does not, nor does an order to find something
    out, a guess at a cause, an announcement, a verdict, a line that only leads to the next, one
    that begins with what the sentence before it names, a part of a finding, or a few words."""
    utterance, text = utterances[candidate.utterance], candidate.statement.text
    if utterance.place is Place.ANSWER:
        # The question without its answer says nothing, nor does the answer without it.
        return candidate.statement.is_whole
    if text.startswith(_DATA) or text.rstrip(" *_`\"')").endswith(("?", "？", ":")):
        return False
    if len(content_words(text)) < _MIN_WORDS:
        return False
    if utterance.place in _SNAPSHOTS and is_left_open(candidate.statement):
        return False
    if candidate.statement.lead and _PRAISE_LEAD.match(candidate.statement.lead):
        return False
    if utterance.is_person:
        return not _ROLE.match(utterance.text) and not _asks(text) and not _DIFF.search(text)
    if candidate.statement.before and POINTS_BACK.match(text):
        return False
    if utterance.place is Place.REPLY and _NARRATES.search(text):
        return False
    if any(pattern.search(text) for pattern in _SAYS_NOTHING):
        return False
    stated = sentences(text)
    return not any(is_guess(s) or is_chatter(s) for s in stated)


def _asks(text: str) -> bool:
    """Whether a person asks something, or only orders to find it out."""
    return "?" in text or (_ASKS_TO_FIND_OUT.match(text) is not None and len(sentences(text)) == 1)


def _distilled(one: Scored, utterances: Sequence[Utterance], context: Context) -> Distilled:
    utterance = utterances[one.candidate.utterance]
    said = standalone(one.candidate.statement)
    text = with_context(said, context.requests.get(utterance.turn.id) or context.subject)
    worth = round(one.score, _WORTH_DIGITS)
    return Distilled(one.kind, text, said, utterance.turn, utterance.is_person, worth)
