"""Answer a question in rounds: search, read, follow leads, stop when the answer is sure enough.

One recall answers most questions. Where its answer is less sure than wanted, the records found
suggest what to search next (`next_queries`), for a few rounds and seconds. What later rounds find
is compared with the question as it was asked (`evidence_chains`): records that are linked may make
an answer surer, but nothing lowers what an answer needs. Each step is yielded as an event; the last
has the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import monotonic
from typing import Protocol

from holdfast.language import stem
from holdfast.lazy_dataclass import replace
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.query import Answer, Confidence, Hit, RecallResult
from holdfast.model.research import ResearchEffort, ResearchEvent, ResearchStage
from holdfast.recall.core.plan import Budget
from holdfast.recall.core.relevance import coverage, weigh_terms
from holdfast.recall.query.terms import Terms, asks_what_is_forbidden, read_terms
from holdfast.research.answering.answer import answer_from_recall, compose, what_changed_last
from holdfast.research.answering.confidence import asks_beyond_quotes
from holdfast.research.answering.evidence import evidence_in, may_answer
from holdfast.research.answering.evidence_chains import (
    LIMITS,
    Chain,
    Link,
    best_chains,
    best_excerpt,
    covers_enough,
    extend,
)
from holdfast.research.answering.fixed_states import is_history
from holdfast.research.answering.next_queries import (
    SAME_SESSION,
    Lead,
    find_leads,
    follow_lead,
    starting_chains,
)
from holdfast.research.answering.quoting import MAX_CITATIONS, Quote
from holdfast.research.answering.request import AskRequest
from holdfast.store.protocol import Reader

# Confidence to reach, rounds, and seconds after the first round. A low budget is one recall; a
# middle one stays within what a person waits for a command; a high one goes on until two records
# agree.
EFFORTS = {
    Budget.LOW: ResearchEffort(Confidence.NONE, 1, 0.0),
    Budget.MID: ResearchEffort(Confidence.MEDIUM, 3, 2.0),
    Budget.HIGH: ResearchEffort(Confidence.HIGH, 4, 5.0),
}
_LEAST_SURE_FIRST = list(reversed(Confidence))


class RoundLimits(NamedTuple):
    """What one round may do. Higher numbers find more and take longer."""

    # Chains that are followed further, best first.
    chains: int = 4
    # Queries.
    leads: int = 10
    # Share of the question that a record must cover by itself to be added without a link.
    min_coverage_alone: float = 0.6
    # URIs named in one event.
    uris_in_event: int = 10


_ROUND = RoundLimits()
# Retrievers that find by time or along causes, not by the words of the question.
_NOT_BY_WORDS = {"recent", "recent_sessions", "caused_by", "causes"}


class HistoryAnswerer(Protocol):
    """Answers one question from git history."""

    @property
    def purpose(self) -> str:
        """What is looked for, for people."""
        ...

    def answer(self) -> Answer | None:
        """The answer, if history has one."""
        ...

    def add_reason(self, answer: Answer, hits: Sequence[Hit]) -> Answer | None:
        """The answer with a reason; None if none was asked for, or none is missing or known."""
        ...


class InvestigationInputs(NamedTuple):
    """What an investigation needs; `history` only for a question that git history may answer."""

    reader: Reader
    request: AskRequest
    search: Callable[[str], RecallResult]
    effort: ResearchEffort
    history: HistoryAnswerer | None = None
    clock: Callable[[], float] = monotonic


def at_least(one: Confidence, other: Confidence) -> bool:
    """Whether the first confidence is as high as the second."""
    return _LEAST_SURE_FIRST.index(one) >= _LEAST_SURE_FIRST.index(other)


def investigate(inputs: InvestigationInputs) -> Iterator[ResearchEvent]:
    """Answer a question step by step. A caller that takes no further event stops the work."""
    question, history = inputs.request.question, inputs.history
    yield ResearchEvent(
        ResearchStage.PLANNED, history.purpose if history else "A question of memory."
    )
    from_history = history.answer() if history else None
    if from_history is not None:
        yield _reading_event(from_history, 1)
        yield done_event(from_history)
        return
    yield ResearchEvent(ResearchStage.SEARCHING, "Asking memory.", query=question)
    found = evidence_in(inputs.reader, inputs.request.bank, inputs.search(question))
    yield _found_event(found.hits, 1, question)
    answer = answer_from_recall(inputs.reader, inputs.request, found)
    yield _reading_event(answer, 1)
    answer = (history.add_reason(answer, found.hits) if history else None) or answer
    if not _is_finished(inputs, answer, found):
        further = _FurtherRounds(inputs, found, answer)
        yield from further.run()
        answer = further.answer
        yield ResearchEvent(
            ResearchStage.SYNTHESISING, f"After {further.round} rounds.", further.round
        )
    yield done_event(answer)


def _is_finished(inputs: InvestigationInputs, answer: Answer, found: RecallResult) -> bool:
    """Whether no further round is wanted: the answer is as sure as wanted and one record covers
    nearly all of the question, or more searches by words cannot help."""
    if any(hit.why.get("recap") for hit in found.hits):
        return True
    if asks_what_is_forbidden(inputs.request.question):
        # Records that share words may be linked, and are no more of that kind for it.
        return True
    by_time_or_cause = any(_NOT_BY_WORDS & hit.why.keys() for hit in found.hits)
    not_by_words = found.only_time or by_time_or_cause
    sure = at_least(answer.confidence, inputs.effort.wanted)
    best = max((hit.why.get("coverage_alone", 0.0) for hit in found.hits), default=0.0)
    whole = answer.confidence is Confidence.HIGH or best >= LIMITS.min_coverage
    one_round = inputs.effort.rounds < 2 or inputs.request.bank == ""
    return (sure and whole) or not_by_words or one_round


class _FurtherRounds:
    """The rounds after the first. `answer` is the best answer so far."""

    def __init__(self, inputs: InvestigationInputs, found: RecallResult, answer: Answer) -> None:
        self.answer = answer
        self.round = 1
        self._first_confidence = answer.confidence
        self._inputs = inputs
        self._found = found
        self._request = request = inputs.request
        self._terms: Terms = read_terms(request.question)
        self._weights = weigh_terms(inputs.reader, request.bank, self._terms.words).by_stem
        self._deadline = inputs.clock() + inputs.effort.seconds
        self._tried: set[str] = set()
        self._new_hits: dict[str, Hit] = {}
        self._is_complete = False

    def run(self) -> Iterator[ResearchEvent]:
        """Follow leads until a chain answers the question, or leads, rounds or time run out."""
        if not self._can_be_known():
            return
        hits = [hit for hit in self._found.hits if may_answer(hit, self._request.question)]
        starts = starting_chains(
            self._inputs.reader, self._request, self._terms, self._weights, hits
        )
        chains = best_chains(self._weights, starts, _ROUND.chains)
        while chains and self.round < self._inputs.effort.rounds and self._has_time():
            self.round += 1
            longer: list[Chain] = []
            for lead in self._untried_leads(chains):
                if not self._has_time():
                    break
                yield ResearchEvent(
                    ResearchStage.SEARCHING, f"By {lead.reason}.", self.round, lead.query
                )
                followed = follow_lead(self._inputs.reader, self._request, lead)
                hits = [hit for hit in followed if may_answer(hit, self._request.question)]
                yield _found_event(hits, self.round, lead.query)
                longer += self._extend_chain(lead, hits)
            chains = best_chains(self._weights, longer, _ROUND.chains)
            if self._improve_answer(chains):
                yield _reading_event(self.answer, self.round)
            if self._is_complete:
                break

    def _can_be_known(self) -> bool:
        """Whether the bank has the words that an answer would have to cover.
        Two records that share a session have two words between them by chance."""
        words = self._terms.words
        if len(words) < LIMITS.min_words:
            return False
        counts = self._inputs.reader.passages.term_frequencies(self._request.bank, words, 1)
        known = (stem(word) for word, count in zip(words, counts, strict=True) if count)
        return covers_enough(self._weights, frozenset(known))

    def _has_time(self) -> bool:
        return self._inputs.clock() < self._deadline

    def _untried_leads(self, chains: Sequence[Chain]) -> list[Lead]:
        """Leads of the chains that were not followed yet, those of the best chain first."""
        found: list[Lead] = []
        for chain in chains:
            for lead in find_leads(self._inputs.reader, self._terms, chain):
                key = f"{lead.query} {lead.session} {lead.ids}"
                if key not in self._tried:
                    self._tried.add(key)
                    found.append(lead)
        return found[: _ROUND.leads]

    def _extend_chain(self, lead: Lead, hits: Sequence[Hit]) -> list[Chain]:
        """The lead's chain with each hit that extends it; notes hits that are good alone."""
        extended: list[Chain] = []
        same_session = lead.reason == SAME_SESSION
        min_added = LIMITS.min_added_same_session if same_session else LIMITS.min_added
        for hit in hits:
            longer = extend(self._weights, lead.chain, hit, lead.reason, lead.bridge, min_added)
            if longer is not None:
                extended.append(longer)
            elif coverage(self._weights, hit.text) >= _ROUND.min_coverage_alone:
                self._new_hits.setdefault(hit.uri, hit)
        return extended

    def _improve_answer(self, chains: Sequence[Chain]) -> bool:
        """Replace the answer by a better one; returns whether there was one."""
        whole = [
            chain
            for chain in chains
            if covers_enough(self._weights, chain.covers) and self._continues_answer(chain)
        ]
        if whole:
            self.answer = self._answer_from_chain(whole[0])
            self._is_complete = True
            return True
        better = self._answer_from_more_hits()
        if better is None or at_least(self.answer.confidence, better.confidence):
            return False
        # Only words were compared in these rounds: of 8 answers that were surer by them 3 were
        # right, so they are better answers, of the same confidence.
        self.answer = replace(better, confidence=self._first_confidence)
        return True

    def _continues_answer(self, chain: Chain) -> bool:
        """Whether a chain contains the first citation, if there is one, and is linked by more than
        a session, or the answer so far is weak."""
        first_cited = () if self.answer.weak else _cited(self.answer)[:1]
        continues = not first_cited or any(link.hit.uri in first_cited for link in chain.links)
        is_weak = not at_least(self.answer.confidence, Confidence.MEDIUM)
        return continues and (is_weak or SAME_SESSION not in chain.link_reasons)

    def _answer_from_chain(self, chain: Chain) -> Answer:
        """An answer of linked records, then what else was cited. Its confidence is low where no
        single record reached the threshold, where only a session links them, or where the question
        asks for more than quotes can show."""
        weak = self._found.abstained or SAME_SESSION in chain.link_reasons
        weak = weak or asks_beyond_quotes(self._request.question)
        hits = {hit.uri: hit for hit in self._found.hits}
        others = [
            Link(hit, *best_excerpt(self._weights, hit.text))
            for hit in (hits.get(uri) for uri in _cited(self.answer))
            if hit is not None and not hit.weak and not chain.contains(hit.uri)
        ]
        links = (*chain.links, *(link for link in others if link.excerpt))[:MAX_CITATIONS]
        quotes = [Quote(link.hit, link.excerpt, 0.0, link.hit.score) for link in links]
        quotes = what_changed_last(self._inputs.reader, self._request, quotes)
        self._new_hits |= {link.hit.uri: link.hit for link in chain.links}
        confidence = Confidence.LOW if weak or is_history(quotes) else Confidence.MEDIUM
        answer = compose(self._inputs.reader, self._request, quotes, confidence)
        linked = [f"[{one.number}]" for one in answer.citations if chain.contains(one.uri)]
        note = (
            f"No single record says all of this: {' and '.join(linked)} are linked by "
            f"{', '.join(chain.link_reasons)}."
        )
        return replace(answer, caveats=(*answer.caveats, note))

    def _answer_from_more_hits(self) -> Answer | None:
        """An answer from the hits of all rounds, scored by the question as it was asked. None if
        there are no new ones, or the first round abstained: then the bank has no answer."""
        known = {hit.uri for hit in self._found.hits}
        more = [self._scored(hit) for uri, hit in self._new_hits.items() if uri not in known]
        if not more or self._found.abstained:
            return None
        hits = sorted((*self._found.hits, *more), key=lambda hit: -hit.score)
        found = replace(self._found, hits=tuple(hits))
        return answer_from_recall(self._inputs.reader, self._request, found)

    def _scored(self, hit: Hit) -> Hit:
        covered = round(coverage(self._weights, hit.text), 3)
        best = max((other.score for other in self._found.hits), default=1.0)
        why = {**hit.why, "coverage": covered, "coverage_alone": covered}
        return replace(hit, why=why, score=round(best * covered, 4))


def _found_event(hits: Sequence[Hit], round: int, query: str) -> ResearchEvent:
    uris = tuple(hit.uri for hit in hits[: _ROUND.uris_in_event])
    return ResearchEvent(
        ResearchStage.FOUND, f"{_records(len(hits))}.", round, query, len(hits), uris
    )


def _reading_event(answer: Answer, round: int) -> ResearchEvent:
    cited = _cited(answer)
    return ResearchEvent(
        ResearchStage.READING, _summary(answer), round, found=len(cited), uris=cited
    )


def done_event(answer: Answer) -> ResearchEvent:
    """The last step of an investigation: the answer, with its own figures in words."""
    return ResearchEvent(ResearchStage.DONE, _summary(answer), answer=answer, uris=_cited(answer))


def _cited(answer: Answer) -> tuple[str, ...]:
    return tuple(citation.uri for citation in answer.citations)


def _summary(answer: Answer) -> str:
    if answer.abstained:
        return "No record clearly answers this."
    return f"Confidence {answer.confidence.value}, {_records(len(answer.citations))} cited."


def _records(count: int) -> str:
    return f"{count} record{'' if count == 1 else 's'}"
