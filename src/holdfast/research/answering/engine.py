"""Research until confident: ask, look at what was found, ask on, and rest when it suffices.

One recall answers most questions, and then nothing else happens. Where its answer is not as sure as
wanted, the evidence itself says where to look next (`refining`), for a few rounds and seconds. What
that finds is held against the question as it was put (`joining`): it may make an answer surer, it
never lowers what an answer needs. Each step is told as an event; the last one has the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from time import monotonic
from typing import NamedTuple, Protocol

from holdfast.language import stem
from holdfast.model.query import Answer, Confidence, Hit, Recalled
from holdfast.model.research import Effort, Event, Stage
from holdfast.recall.core.plan import Budget
from holdfast.recall.core.relevance import coverage, weigh_terms
from holdfast.recall.query.terms import Terms, read_terms
from holdfast.research.answering.answer import AskRequest, ask, compose
from holdfast.research.answering.evidence_chains import (
    ADDED,
    COVERED,
    Chain,
    Link,
    best_chains,
    best_excerpt,
    covers_enough,
    extend,
)
from holdfast.research.answering.next_queries import (
    SAME_SESSION,
    Lead,
    Scope,
    find_leads,
    follow_lead,
    starting_chains,
)
from holdfast.research.answering.quoting import MAX_CITATIONS, Quote
from holdfast.store.protocol import Reader

EFFORTS = {
    Budget.LOW: Effort(Confidence.NONE, 1, 0.0),
    Budget.MID: Effort(Confidence.MEDIUM, 3, 2.0),
    Budget.HIGH: Effort(Confidence.HIGH, 4, 5.0),
}
_ORDER = list(reversed(Confidence))
_BEAM = 4
_LEADS = 10
_SURE_ALONE = 0.6
# What only stands in the same session must add more than what is tied by a name.
_ADDED_NEARBY = 0.2
# Found by their time or along causes, not by the words of the question.
_OTHERWISE = {"recent", "recent_sessions", "caused_by", "causes"}


class HistoryAnswerer(Protocol):
    """Knows the ways to an answer that history has, for a question of such a form."""

    @property
    def purpose(self) -> str:
        """What it digs for, in words."""
        ...

    def answer(self) -> Answer | None:
        """The answer, if history has one."""
        ...

    def add_reason(self, answer: Answer, hits: Sequence[Hit]) -> Answer | None:
        """The answer with a reason, where one was asked for and is missing."""
        ...


class InvestigationInputs(NamedTuple):
    """What an investigation stands on."""

    reader: Reader
    request: AskRequest
    search: Callable[[str], Recalled]
    effort: Effort
    history: HistoryAnswerer | None = None
    clock: Callable[[], float] = monotonic


def at_least(one: Confidence, other: Confidence) -> bool:
    """Whether one is as sure as another."""
    return _ORDER.index(one) >= _ORDER.index(other)


def investigate(ground: InvestigationInputs) -> Iterator[Event]:
    """Answer a question, step by step. Whoever stops asking for the next event stops the work."""
    question, digger = ground.request.question, ground.history
    yield Event(Stage.PLANNED, digger.purpose if digger else "A question of memory.")
    told = digger.answer() if digger else None
    if told is not None:
        yield _reading(told, 1)
        yield _done(told)
        return
    yield Event(Stage.SEARCHING, "Asking memory.", query=question)
    found = ground.search(question)
    yield _found(found.hits, 1, question)
    answer = ask(ground.reader, found=found, now=ground.request.now, bank=ground.request.bank,
                 question=question, layers=ground.request.layers, as_of=ground.request.as_of)  # fmt: skip
    yield _reading(answer, 1)
    answer = (digger.add_reason(answer, found.hits) if digger else None) or answer
    if not _rests(ground, answer, found):
        case = _Case(ground, found, answer)
        yield from case.run()
        answer = case.answer
        yield Event(Stage.SYNTHESISING, f"After {case.round} rounds.", case.round)
    yield _done(answer)


def _rests(ground: InvestigationInputs, answer: Answer, found: Recalled) -> bool:
    """Whether nothing more is to be done: it is as sure as wanted, and one record says nearly all
    of it."""
    otherwise = any(_OTHERWISE & hit.why.keys() for hit in found.hits)
    sure = at_least(answer.confidence, ground.effort.wanted)
    whole = answer.confidence is Confidence.HIGH or _best(found) >= COVERED
    return (sure and whole) or otherwise or ground.effort.rounds < 2 or ground.request.bank == ""


def _best(found: Recalled) -> float:
    """How much of the question the best single record covers."""
    return max((hit.why.get("coverage_alone", 0.0) for hit in found.hits), default=0.0)


class _Case:
    """The rounds after the first."""

    def __init__(self, ground: InvestigationInputs, found: Recalled, answer: Answer) -> None:
        self.answer = answer
        self.round = 1
        self.settled = False
        self._ground = ground
        self._found = found
        way = ground.request
        self._scope = Scope(way.bank, way.layers, way.as_of, way.now)
        self._terms: Terms = read_terms(way.question)
        self._weight = weigh_terms(ground.reader, way.bank, self._terms.words).by_stem
        self._until = ground.clock() + ground.effort.seconds
        self._tried: set[str] = set()
        self._new: dict[str, Hit] = {}

    def run(self) -> Iterator[Event]:
        """Follow leads until it is sure enough, or nothing is left to try or to spend."""
        if not self._can_be_known():
            return
        hits = self._found.hits or self._found.misses
        begun = starting_chains(self._ground.reader, self._scope, self._terms, self._weight, hits)
        chains = best_chains(self._weight, begun, _BEAM)
        while chains and self.round < self._ground.effort.rounds and self._has_time():
            self.round += 1
            longer: list[Chain] = []
            for lead in self._leads(chains):
                if not self._has_time():
                    break
                yield Event(Stage.SEARCHING, f"By {lead.reason}.", self.round, lead.query)
                hits = follow_lead(self._ground.reader, self._scope, lead)
                yield _found(hits, self.round, lead.query)
                longer += self._joined(lead, hits)
            chains = best_chains(self._weight, longer, _BEAM)
            if self._settle(chains):
                yield _reading(self.answer, self.round)
            if self.settled:
                break

    def _can_be_known(self) -> bool:
        """Whether the bank has the words that an answer would have to cover."""
        spelled = self._terms.words
        counts = self._ground.reader.frequencies(self._ground.request.bank, spelled, 1)
        known = (stem(word) for word, count in zip(spelled, counts, strict=True) if count)
        return covers_enough(self._weight, frozenset(known))

    def _has_time(self) -> bool:
        return self._ground.clock() < self._until

    def _leads(self, chains: Sequence[Chain]) -> list[Lead]:
        """The ways that were not tried yet, those of the best chain first."""
        found: list[Lead] = []
        for chain in chains:
            for lead in find_leads(self._ground.reader, self._terms, chain):
                name = f"{lead.query} {lead.session} {lead.ids}"
                if name not in self._tried:
                    self._tried.add(name)
                    found.append(lead)
        return found[:_LEADS]

    def _joined(self, lead: Lead, hits: Sequence[Hit]) -> list[Chain]:
        made: list[Chain] = []
        for hit in hits:
            least = _ADDED_NEARBY if lead.reason == SAME_SESSION else ADDED
            longer = extend(self._weight, lead.chain, hit, lead.reason, lead.bridge, least)
            if longer is not None:
                made.append(longer)
            elif coverage(self._weight, hit.text) >= _SURE_ALONE:
                self._new.setdefault(hit.uri, hit)
        return made

    def _settle(self, chains: Sequence[Chain]) -> bool:
        """Take what is surer than what there was; returns whether that is so."""
        whole = [c for c in chains if covers_enough(self._weight, c.covers) and self._goes_on(c)]
        if whole:
            self.answer = self._by_chain(whole[0])
            self.settled = True
            return True
        better = self._by_more()
        if better is None or at_least(self.answer.confidence, better.confidence):
            return False
        self.answer = better
        return True

    def _goes_on(self, chain: Chain) -> bool:
        """Whether a chain starts from what was cited first and is tied by more than its session,
        or nothing good was cited."""
        cited = _cited(self.answer)[:1]
        goes_on = any(link.hit.uri in cited for link in chain.links)
        good = at_least(self.answer.confidence, Confidence.MEDIUM)
        return not good or (goes_on and SAME_SESSION not in chain.link_reasons)

    def _by_chain(self, chain: Chain) -> Answer:
        """An answer of linked records, and what else was cited. Where no single one cleared the
        floor, or they only stand in one session, it is a weak one."""
        weak = self._found.abstained or SAME_SESSION in chain.link_reasons
        cited = {hit.uri: hit for hit in self._found.hits}
        others = [
            Link(hit, *best_excerpt(self._weight, hit.text))
            for hit in (cited.get(uri) for uri in _cited(self.answer))
            if hit is not None and not chain.contains(hit.uri)
        ]
        shown = (*chain.links, *(link for link in others if link.excerpt))[:MAX_CITATIONS]
        chosen = [Quote(link.hit, link.excerpt, 0.0, link.hit.score) for link in shown]
        note = (
            f"No single record says all of this: [1] to [{len(chain.links)}] are linked by "
            f"{', '.join(chain.link_reasons)}."
        )
        self._new |= {link.hit.uri: link.hit for link in chain.links}
        sure = Confidence.LOW if weak else Confidence.MEDIUM
        return compose(self._ground.reader, self._ground.request, chosen, sure, [note])

    def _by_more(self) -> Answer | None:
        """An answer from more records than the first round had. They are weighed by the question
        as it was put; a bank that was found to say nothing of it says nothing of it."""
        known = {hit.uri for hit in self._found.hits}
        more = [self._judged(hit) for uri, hit in self._new.items() if uri not in known]
        if not more or self._found.abstained:
            return None
        hits = sorted((*self._found.hits, *more), key=lambda hit: -hit.score)
        way = self._ground.request
        found = replace(self._found, hits=tuple(hits))
        return ask(
            self._ground.reader, way.bank, way.question, found, way.now, way.layers, way.as_of
        )

    def _judged(self, hit: Hit) -> Hit:
        covered = round(coverage(self._weight, hit.text), 3)
        best = max((other.score for other in self._found.hits), default=1.0)
        why = {**hit.why, "coverage": covered, "coverage_alone": covered}
        return replace(hit, why=why, score=round(best * covered, 4))


def _found(hits: Sequence[Hit], round: int, query: str) -> Event:
    uris = tuple(hit.uri for hit in hits[:10])
    return Event(Stage.FOUND, f"{len(hits)} records.", round, query, len(hits), uris)


def _reading(answer: Answer, round: int) -> Event:
    return Event(
        Stage.READING, _told(answer), round, found=len(answer.citations), uris=_cited(answer)
    )


def _done(answer: Answer) -> Event:
    return Event(Stage.DONE, _told(answer), answer=answer, uris=_cited(answer))


def _cited(answer: Answer) -> tuple[str, ...]:
    return tuple(citation.uri for citation in answer.citations)


def _told(answer: Answer) -> str:
    if answer.abstained:
        return "Nothing in memory speaks of this."
    return f"Confidence {answer.confidence.value}, {len(answer.citations)} records cited."
