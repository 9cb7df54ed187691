"""Investigations, put together: a question of a memory, answered step by step."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from holdfast.app.core.context import Context
from holdfast.app.search.code_freshness import caveats
from holdfast.app.search.recall import Search
from holdfast.errors import InputError
from holdfast.model.query import Answer, Hit, Layer, RecallResult
from holdfast.model.research import ResearchEvent
from holdfast.recall.core.plan import Budget, Plan
from holdfast.recall.ranking import remote_hits
from holdfast.regex import regex
from holdfast.research.answering import plugin_evidence
from holdfast.research.answering.answer import AskRequest
from holdfast.research.answering.engine import EFFORTS, InvestigationInputs, investigate
from holdfast.research.answering.supporting_patterns import pattern_notes
from holdfast.settings import ALWAYS, NO_MODEL, Settings
from holdfast.store.protocol import Reader

_LIMIT = 25
_TOKENS = 20_000
_READ = 400
_MAY_DIG = regex(
    r"\W*(?:(?:so|and|but|please|hey|ok|okay|then|also)\W+)*(?:who|when|why|how (?:come|long)|"
    r"since|by whom|for what|(?:the )?(?:history|changes) |"
    r"what\b.*(?:chang|happen|done|new|modif|touch)|"
    r"(?:was|were|has|have|had|is|did)\b.*(?:revert|roll|undo|back))",
    re.IGNORECASE | re.DOTALL,
)


class Wish(NamedTuple):
    """What is asked and how: of which bank and layers, as of which moment, with how much effort;
    `quickly` loads a model only where words do not find it; with `providers` plugins are asked."""

    question: str
    bank: str | None = None
    layers: tuple[Layer, ...] = ()
    quickly: bool = False
    as_of: str = ""
    budget: Budget = Budget.MID
    providers: bool = False
    # At most so many, whatever the budget allows.
    rounds: int = 0
    # How many commits are listed where the answer is a list of them.
    limit: int = 6
    # Whether a model may answer, where the settings name one; what was asked before in the same
    # talk, for it to know; and who may stop it.
    model: bool = True
    before: tuple[str, ...] = ()
    stopped: Callable[[], bool] = lambda: False
    # Whether servers of the team's are asked, too: with the question as it is put, and with no
    # other that follows from what is remembered.
    remotes: bool = False


def steps(context: Context, search: Search, wish: Wish) -> Iterator[ResearchEvent]:
    """Every step of an investigation; the last one has the answer."""
    plan = Plan(
        wish.layers, _LIMIT, wish.budget, tokens=_TOKENS, include_repeats=True, as_of=wish.as_of
    )
    always = context.settings.providers.use == ALWAYS and not (wish.layers or wish.as_of)
    # What became of the code is told of what is cited alone.
    plan = plan._replace(providers=wish.providers or always, anchors=False, remotes=wish.remotes)
    quickly = wish.quickly and wish.budget is not Budget.LOW
    recall = search.recall_by_words_first if quickly else search.recall_with_plan
    id = context.bank_id(wish.bank)
    searches = _InvestigationSearches(recall, wish.bank, plan)
    way = AskRequest(id, wish.question, context.now, wish.layers, wish.as_of)
    effort = EFFORTS[wish.budget]
    effort = effort._replace(rounds=wish.rounds or effort.rounds)
    digger = _Digger.of(context.store, way, wish.limit)
    for event in investigate(InvestigationInputs(context.store, way, searches, effort, digger)):
        if event.answer is not None:
            answer = digger.reasoned(event.answer) if digger is not None else event.answer
            answer = (
                plugin_evidence.add_plugin_hits(answer, searches.heard)
                if searches.heard
                else answer
            )
            answer = replace(answer, caveats=(*answer.caveats, *searches.unheard))
            if _is_for_a_model(context.settings, wish, id):
                answer = yield from _by_model(context, search, wish, answer, plan.providers)
            dug = digger is not None and event.answer is digger.told
            event = event._replace(answer=_with_notes(context, search, answer, id, plan, dug))
        yield event


def _is_for_a_model(settings: Settings, wish: Wish, bank: str | None) -> bool:
    """Whether a model looks on where rules have answered. Its tools know neither layers nor a
    moment to look back from, and with a low budget nothing is asked that takes long."""
    plain = not (wish.layers or wish.as_of) and wish.budget is not Budget.LOW
    if not (wish.model and plain and bank != "") or settings.models.use == NO_MODEL:
        return False
    from holdfast.app.answers import memory_agent

    return memory_agent.is_wanted(settings)


def _by_model(
    context: Context, search: Search, wish: Wish, told: Answer, plugins: bool
) -> Generator[ResearchEvent, None, Answer]:
    """Every step of the memory agent; gives its answer."""
    from holdfast.app.answers import memory_agent

    talk = memory_agent.Talk(told, wish.bank or "", wish.before, wish.stopped)
    for event in memory_agent.open_agent(context.settings, context.now, plugins).steps(talk):
        if event.answer is not None:
            return event.answer
        yield event
    return told


class _Digger:
    """Digs in history. It is loaded only for a question that may ask for that."""

    def __init__(self, reader: Reader, way: AskRequest, dig: Any, ways: Any, limit: int) -> None:
        self._reader = reader
        self._way = way
        self._dig = dig
        self._ways = ways
        self._limit = limit
        # What history answered, if it did.
        self.told: Answer | None = None

    @classmethod
    def of(cls, reader: Reader, way: AskRequest, limit: int) -> _Digger | None:
        if way.bank == "" or not _MAY_DIG.match(way.question[:_READ]):
            return None
        from holdfast.research.history.question_kinds import read_history_question

        dig = read_history_question(way.question)
        if dig is None:
            return None
        from holdfast.research.history import git_answers

        return cls(reader, way, dig, git_answers, limit)

    @property
    def purpose(self) -> str:
        return f"A question for {self._dig.kind.value}: {self._dig.topic}."

    def answer(self) -> Answer | None:
        self.told = self._ways.answer_from_history(self._reader, self._way, self._dig, self._limit)
        return self.told

    def reasoned(self, answer: Answer) -> Answer:
        """The answer as it is or, where a reason was asked for and none is given, less sure."""
        if self._dig.kind.value != "why":
            return answer
        return self._ways.mark_missing_reason(self._reader, self._way, answer)

    def add_reason(self, answer: Answer, hits: Sequence[Hit]) -> Answer | None:
        if self._dig.kind.value != "why" or answer.abstained:
            return None
        return self._ways.add_reason(self._reader, self._way, answer, hits)


class _InvestigationSearches:
    """The searches of one investigation. Plugins and servers are asked once, with the first of
    them; `heard` is what came of it. What they say leads to no further question to them."""

    def __init__(
        self,
        recall: Callable[[str, str | None, Plan], RecallResult],
        bank: str | None,
        plan: Plan,
    ) -> None:
        self._recall = recall
        self._bank = bank
        self._plan = plan
        self.heard: RecallResult | None = None
        # What became of servers that said nothing, in words.
        self.unheard: list[str] = []

    def __call__(self, query: str) -> RecallResult:
        if self.heard is not None and self._plan.asks_plugins:
            return plugin_evidence.without_plugin_hits(self.heard)  # nobody else is to be asked
        found = self._recall(query, self._bank, self._plan)
        if self._plan.remotes:
            self.unheard = plugin_evidence.missing_replies(
                found.strategies, remote_hits.STRATEGY_PREFIX
            )
            self._plan = self._plan._replace(remotes=False)
        if not self._plan.asks_plugins:
            return found
        self.heard = found
        ours = tuple(layer for layer in self._plan.layers if layer is not Layer.PROVIDERS)
        if ours or not self._plan.layers:
            self._plan = self._plan._replace(providers=False, layers=ours)
        return plugin_evidence.without_plugin_hits(found)


def _with_notes(
    context: Context, search: Search, answer: Answer, bank: str | None, plan: Plan, dug: bool
) -> Answer:
    """The answer with what must be said of this memory. What git itself tells of the past is as
    true as it was, whatever became of the code."""
    patterns = pattern_notes(context.store, bank, answer.citations) if answer.citations else ()
    kept = not dug and not plan.as_of and context.store.repositories()
    cited = answer.citations if kept else ()
    changed = caveats(context.store, cited)
    notes = (*answer.caveats, *changed, *patterns, *search.problems(plan))
    return replace(answer, caveats=(context.missing_bank_hint(), *notes) if bank == "" else notes)


def answered(context: Context, search: Search, wish: Wish) -> Answer:
    """The answer alone."""
    for event in steps(context, search, wish):
        if event.answer is not None:
            return event.answer
    raise InputError("The question was not answered.", "Ask it again.")
