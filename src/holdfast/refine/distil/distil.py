"""What is worth remembering of a session: a few statements, each of a kind, that stand alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

import numpy as np

from holdfast.language import sentences
from holdfast.model.records import Turn
from holdfast.refine.distil.features import Candidate, Numbers, find_candidates
from holdfast.refine.distil.learned_kinds import kind_of, learned_kinds
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
from holdfast.refine.distil.utterances import Place, Quotes, Utterance, find_utterances
from holdfast.refine.distil.wording import Context, Distilled, word_statements
from holdfast.refine.facts.hypotheses import is_guess
from holdfast.sources.question_forms import is_foreign_question, is_foreign_request, wonders

_PROMPTS = frozenset((Place.PROMPT, Place.CORRECTION))
# A question says nothing, nor does a line that only leads to the next.
_LEADS = ("?", "？", ":")
_MARKUP = " *_`\"')"


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
    scored = best_statements(selector.score(utterances, candidates), utterances)
    if embed is None or len(scored) <= SECOND_LOOK.few:
        embed = None
        scored = [one for one in scored if one.score >= limits.threshold]
    else:
        embed = _kept(embed)
        limits = _limits_for(utterances)
        scored = look_again(selector.weights, scored, utterances, embed)
    found = [
        one._replace(
            kind=kind_of(one.candidate.statement, utterances[one.candidate.utterance], one.kind)
        )
        for one in scored
    ]
    if embed is not None:
        found = learned_kinds(found, utterances, embed)
    if is_told is not None:
        found = _untold(found, [one for one in found if is_told(one, utterances)])
    notes = {number for number, one in enumerate(utterances) if one.place is Place.NOTE}
    return word_statements(select(found, limits, notes), utterances, context)


def best_statements(scored: Sequence[Scored], utterances: Sequence[Utterance]) -> list[Scored]:
    """The statements that say something and get a second look, best first."""
    ordered = sorted(scored, key=lambda s: (-s.score, s.candidate.utterance))
    said = (one for one in ordered if _says_something(one.candidate, utterances))
    return list(islice(said, SECOND_LOOK.best))


def _says_something(candidate: Candidate, utterances: Sequence[Utterance]) -> bool:
    utterance, statement = utterances[candidate.utterance], candidate.statement
    if utterance.place is Place.ANSWER:
        # The question without its answer says nothing, nor does the answer without it.
        return statement.is_whole
    if statement.text.rstrip(_MARKUP).endswith(_LEADS):
        return False
    said = sentences(statement.text)
    if utterance.is_person:
        return not said or not all(map(_only_asks, said))
    # What an agent takes for a cause is no memory: whether it was right is not known yet.
    return not any(map(is_guess, said))


def _only_asks(sentence: str) -> bool:
    """Whether a sentence asks or wonders, also without a question mark."""
    return wonders(sentence) or is_foreign_question(sentence) or is_foreign_request(sentence)


def _limits_for(utterances: Sequence[Utterance]) -> SelectionLimits:
    """What is selected of a session: more of one with many requests."""
    requests = sum(one.place in _PROMPTS for one in utterances)
    return LIMITS_BY_VECTORS.for_requests(requests)


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
