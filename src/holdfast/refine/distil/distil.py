"""What is worth remembering of a session: a few statements, each of a kind, that stand alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import islice

import numpy as np

from holdfast.model.knowledge import Kind
from holdfast.model.records import Turn
from holdfast.refine.distil.features import Candidate, Numbers, find_candidates
from holdfast.refine.distil.joining import join
from holdfast.refine.distil.kinds import kind_of
from holdfast.refine.distil.laid_down import LIMITS as FORM_LIMITS
from holdfast.refine.distil.laid_down import lists_rules, worth_of_form
from holdfast.refine.distil.lasting import may_last
from holdfast.refine.distil.learned_kinds import learned_kinds
from holdfast.refine.distil.overtaken import LaterWork
from holdfast.refine.distil.person_kinds import is_step_order
from holdfast.refine.distil.second_look import (
    LIMITS_BY_VECTORS,
    SECOND_LOOK,
    Embed,
    look_again,
)
from holdfast.refine.distil.selector import (
    LIMITS,
    Scored,
    SelectionLimits,
    Selector,
    select,
    span_of,
)
from holdfast.refine.distil.standalone import standalone
from holdfast.refine.distil.utterances import Place, Quotes, Utterance, find_utterances
from holdfast.refine.distil.wording import Context, Distilled, word_statements

# A refusal or an answer tells more than an order: what was about to be done, or was asked.
_PROMPTS = frozenset((Place.PROMPT, Place.CORRECTION))


def distil(
    turns: Sequence[Turn],
    context: Context,
    selector: Selector,
    limits: SelectionLimits = LIMITS,
    whole: Sequence[Turn] = (),
    embed: Embed | None = None,
    is_told: Callable[[Scored, Sequence[Utterance]], bool] | None = None,
) -> list[Distilled]:
    """The statements of a session to remember, in the order they were said. `whole`: all its turns,
    where these are a part of it. `embed` gives vectors for a second look at the best statements of
    a session that has many, and at their kinds; words alone choose where there is none. What
    `is_told` by another record takes no place."""
    utterances = find_utterances(turns, whole)
    quotes = Quotes(utterances)
    candidates = [one for one in find_candidates(utterances) if not quotes.has(*one)]
    scored = selector.score(utterances, candidates)
    later = LaterWork(whole or turns)
    formed = _by_form(scored, utterances)
    best = best_lasting(scored, utterances, later) if embed is not None else []
    if embed is None or len(best) <= SECOND_LOOK.few:
        embed = None
        likely = (one.candidate for one in scored if one.score >= limits.threshold)
        holding = {one for one in likely if _holds(one, utterances, later)} | formed.keys()
        lasting = [one for one in scored if one.candidate in holding]
    else:
        embed = _kept(embed)
        limits = _limits_for(utterances)
        missed = formed.keys() - {one.candidate for one in best}
        best += (one for one in scored if one.candidate in missed)
        near = look_again(selector.weights, best, utterances, embed)
        # A rule is beside the matter of its session, so vectors do not tell against it.
        lower = limits.threshold - LIMITS.threshold
        lasting = [
            two._replace(score=max(one.score + lower, two.score))
            if one.candidate in formed
            else two
            for one, two in zip(best, near, strict=True)
        ]
    raised = (one._replace(score=one.score + formed.get(one.candidate, 0.0)) for one in lasting)
    of_kinds = [one._replace(kind=_kind_of(one, utterances)) for one in raised]
    if embed is not None:
        of_kinds = learned_kinds(of_kinds, utterances, embed)
    if is_told is not None:
        of_kinds = _untold(of_kinds, [one for one in of_kinds if is_told(one, utterances)])
    vectors: Numbers | None = None
    if embed is not None:
        vectors = embed([standalone(one.candidate.statement) for one in of_kinds])
    of_kinds = join(of_kinds, utterances, limits.threshold, vectors)
    notes = {number for number, one in enumerate(utterances) if one.place is Place.NOTE}
    laid_down = {one for one, worth in formed.items() if worth == FORM_LIMITS.binding}
    lasting = [one for one in of_kinds if not _is_momentary(one, utterances, laid_down)]
    # What was asked for is better than nothing where a session says nothing else.
    chosen = select(lasting, limits, notes, laid_down) or select(of_kinds, limits, notes)
    return word_statements(chosen, utterances, context, [one.candidate for one in scored])


def _limits_for(utterances: Sequence[Utterance]) -> SelectionLimits:
    """What is selected of a session: more of one with many requests."""
    requests = sum(one.place in _PROMPTS for one in utterances)
    return LIMITS_BY_VECTORS.for_requests(requests)


def _is_momentary(
    one: Scored, utterances: Sequence[Utterance], laid_down: Collection[Candidate]
) -> bool:
    """Whether a statement is a person's order that was carried out and is done with."""
    utterance = utterances[one.candidate.utterance]
    is_typed = utterance.is_person and utterance.place in _PROMPTS
    return is_typed and one.candidate not in laid_down and is_step_order(one.candidate.statement)


def _untold(scored: Sequence[Scored], told: Sequence[Scored]) -> list[Scored]:
    """The statements that have no sentences of which another record tells."""
    spans = [span_of(one.candidate) for one in told]
    return [one for one in scored if not any(span <= span_of(one.candidate) for span in spans)]


def _kept(embed: Embed) -> Embed:
    """Gives the vector of a text once, however often it is asked for."""
    known: dict[str, Numbers] = {}

    def find(texts: Sequence[str]) -> Numbers:
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            known.update(zip(missing, embed(missing), strict=True))
        return np.array([known[text] for text in texts], np.float32)

    return find


def _by_form(scored: Sequence[Scored], utterances: Sequence[Utterance]) -> dict[Candidate, float]:
    """What the form of statements adds to their scores. What binds needs no more words, and no more
    sentences, unless these are worth it themselves."""
    found: dict[Candidate, float] = {}
    for candidate, score, *_ in scored:
        statement = candidate.statement
        if statement.length > 1 and not statement.is_item and score < LIMITS.threshold:
            continue
        worth = worth_of_form(statement, utterances[candidate.utterance])
        if worth and (worth == FORM_LIMITS.binding or may_last(candidate, utterances)):
            found[candidate] = worth
    return found


def best_lasting(
    scored: Sequence[Scored], utterances: Sequence[Utterance], later: LaterWork | None = None
) -> list[Scored]:
    """The statements that say something and get a second look, best first. `later` is what happened
    in the session; without it, what was said in it."""
    later = later or LaterWork([utterance.turn for utterance in utterances])
    ordered = sorted(scored, key=lambda s: (-s.score, s.candidate.utterance))
    lasting = (one for one in ordered if _holds(one.candidate, utterances, later))
    return list(islice(lasting, SECOND_LOOK.best))


def _holds(candidate: Candidate, utterances: Sequence[Utterance], later: LaterWork) -> bool:
    """Whether a statement says something that was still so when its session ended."""
    if not may_last(candidate, utterances):
        return False
    return not later.overtakes(candidate.statement, utterances[candidate.utterance])


def _kind_of(one: Scored, utterances: Sequence[Utterance]) -> Kind:
    statement, utterance = one.candidate.statement, utterances[one.candidate.utterance]
    if lists_rules(statement, utterance):
        return Kind.RULE
    return kind_of(statement, utterance, one.kind)
