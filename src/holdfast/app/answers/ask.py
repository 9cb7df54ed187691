"""Answering one question step by step: recall, git history, plugins, and the memory agent.

The steps themselves are in `holdfast.research`; here they are given a store and a search.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from holdfast.app.core.context import Context
from holdfast.app.search.code_freshness import changed_code_notes
from holdfast.app.search.recall import narrowing_notes
from holdfast.lazy_dataclass import replace
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.query import Answer, Hit, Layer, RecallResult
from holdfast.model.research import ResearchEvent, ResearchStage
from holdfast.recall.core.plan import Budget, RecallPlan
from holdfast.recall.query.overview_questions import asked_overview, may_ask_overview
from holdfast.recall.query.query import find_time_range
from holdfast.recall.query.statement_kinds import KINDS_OF_RULES
from holdfast.recall.query.terms import asks_what_is_forbidden
from holdfast.recall.ranking.external_hits import RETRIEVER_PREFIX
from holdfast.regex import regex
from holdfast.research.answering import plugin_evidence
from holdfast.research.answering.engine import (
    EFFORTS,
    InvestigationInputs,
    done_event,
    investigate,
)
from holdfast.research.answering.request import AskRequest
from holdfast.research.answering.supporting_patterns import pattern_notes
from holdfast.settings import ALWAYS, NO_MODEL

if TYPE_CHECKING:
    from holdfast.app.answers.memory_agent import OpenLookups
    from holdfast.app.search.recall import Search
    from holdfast.model.knowledge import Kind
    from holdfast.research.history.git_answers import HistoryAnswers
    from holdfast.research.history.question_kinds import HistoryQuestion
    from holdfast.store.protocol import Reader

# An answer weighs more evidence than recall shows: hits, and tokens of text.
_EVIDENCE_HITS = 25
_EVIDENCE_TOKENS = 20_000
# How much of a question is matched against `_MAY_ASK_HISTORY`; what it asks stands at its start.
_QUESTION_PREFIX = 400
# Questions that git history may answer. It lets too many through on purpose: only then is
# `research.history` imported, which decides.
_MAY_ASK_HISTORY = regex(
    r"\W*(?:(?:so|and|but|please|hey|ok|okay|then|also)\W+)*(?:who|when|why|how (?:come|long)|"
    r"since|by whom|for what|(?:the )?(?:history|changes) |"
    r"what\b.*(?:chang|happen|done|new|modif|touch)|"
    r"(?:was|were|has|have|had|is|did)\b.*(?:revert|roll|undo|back))",
    re.IGNORECASE | re.DOTALL,
)


class AskOptions(NamedTuple):
    """A question and how to answer it. `quickly` loads a model only if words do not find enough;
    with `providers` plugins are queried."""

    question: str
    bank: str | None = None
    layers: tuple[Layer, ...] = ()
    quickly: bool = False
    as_of: str = ""
    budget: Budget = Budget.MID
    providers: bool = False
    # The most rounds of searching, if fewer than the budget allows.
    rounds: int = 0
    # The most commits in an answer that is a list of commits.
    limit: int = 6
    # What a model may look things up with, if that of the settings may answer; the earlier
    # questions of the session, which it is shown; and whether somebody cancelled.
    lookups: OpenLookups | None = None
    before: tuple[str, ...] = ()
    stopped: Callable[[], bool] = lambda: False
    # Whether remote servers are queried: only with the question itself, never with a follow-up
    # query, which is made of what this memory holds.
    remotes: bool = False
    # Only what says something of these kinds is cited.
    kinds: tuple[Kind, ...] = ()


def steps(context: Context, search: Search, options: AskOptions) -> Iterator[ResearchEvent]:
    """Every step of an investigation; the last one has the answer."""
    limited = options.layers or options.as_of or options.kinds
    always = context.settings.providers.use == ALWAYS and not limited
    plan = RecallPlan(
        options.layers,
        _EVIDENCE_HITS,
        options.budget,
        tokens=_EVIDENCE_TOKENS,
        include_repeats=True,
        as_of=options.as_of,
        providers=options.providers or always,
        anchors=False,  # the freshness of code is computed for citations only
        remotes=options.remotes,
        knowledge=options.kinds,
        weak=True,
    )
    quickly = options.quickly and options.budget is not Budget.LOW
    recall = search.recall_by_words_first if quickly else search.recall_with_plan
    id = context.bank_id(options.bank)
    searches = _InvestigationSearches(recall, options.bank, plan)
    request = AskRequest(
        id, options.question, context.now, options.layers, options.as_of, options.kinds
    )
    if options.budget is not Budget.LOW:
        request = request._replace(cosines=search.cosines)
    effort = EFFORTS[options.budget]
    effort = effort._replace(rounds=options.rounds or effort.rounds)
    events = (
        None if limited or id == "" else _overview_events(context, search, request, options.bank)
    )
    history = None if events else _HistoryAnswer.of(context.store, request, options.limit)
    inputs = InvestigationInputs(context.store, request, searches, effort, history)
    for event in events or investigate(inputs):
        if event.answer is not None:
            answer = event.answer
            if history is not None:
                answer = history.with_reason_noted(answer)
            if searches.with_plugins:
                answer = plugin_evidence.add_plugin_hits(answer, searches.with_plugins)
            answer = replace(answer, caveats=(*answer.caveats, *searches.missing_replies))
            answer = yield from _by_model(context, options, answer, id, plan.providers)
            from_git = history is not None and event.answer is history.found
            event = done_event(_with_notes(context, search, answer, id, plan, from_git))
        yield event


def _overview_events(
    context: Context, search: Search, request: AskRequest, bank: str | None
) -> list[ResearchEvent]:
    """The steps of answering a question without a subject; none if it has one."""
    if not may_ask_overview(request.question):
        return []
    when = find_time_range(context.store, request.bank, request.question, request.time)
    wanted = asked_overview(request.question if when is None else when.rest)
    if wanted is None:
        return []
    from holdfast.app.answers.overviews import answer_overview

    search.sync_rules(request.bank, bank)
    answer = answer_overview(context.store, request, wanted, when)
    if answer is None:
        return []
    planned = ResearchEvent(ResearchStage.PLANNED, f"A question for all {wanted.value}.")
    return [planned, done_event(answer)]


def _by_model(
    context: Context, options: AskOptions, by_rules: Answer, bank: str | None, plugins: bool
) -> Generator[ResearchEvent, None, Answer]:
    """Yields the steps of the memory agent, if it answers too; returns its answer, or the one by
    rules. It chooses its own searches, so it keeps to no layer, time or kind; and a low budget
    allows nothing slow."""
    settings = context.settings
    limited = options.layers or options.as_of or options.kinds or options.budget is Budget.LOW
    if limited or options.lookups is None or bank == "" or settings.models.use == NO_MODEL:
        return by_rules
    from holdfast.app.answers import memory_agent

    if not memory_agent.is_enabled(settings):
        return by_rules
    agent = memory_agent.MemoryAgent(settings, context.now, options.lookups, plugins)
    request = memory_agent.AgentRequest(
        by_rules, options.bank or "", options.before, options.stopped
    )
    for event in agent.run(request):
        if event.answer is not None:
            return event.answer
        yield event
    return by_rules


class _HistoryAnswer:
    """Answers a question from git history. Made only for a question that may ask for that."""

    def __init__(
        self, reader: Reader, request: AskRequest, topic: HistoryQuestion, limit: int
    ) -> None:
        self._reader = reader
        self._request = request
        self._topic = topic
        self._limit = limit
        # The answer from history, if there was one.
        self.found: Answer | None = None

    @classmethod
    def of(cls, reader: Reader, request: AskRequest, limit: int) -> _HistoryAnswer | None:
        if request.bank == "" or request.kinds:
            return None
        if not _MAY_ASK_HISTORY.match(request.question[:_QUESTION_PREFIX]):
            return None
        from holdfast.research.history.question_kinds import read_history_question

        topic = read_history_question(request.question)
        if topic is None:
            return None
        time = find_time_range(reader, request.bank, request.question, request.time)
        if time is not None and time.only_time:
            # "What was done on 3 March?" asks for no commit about the third of March.
            return None
        return cls(reader, request, topic, limit)

    @property
    def purpose(self) -> str:
        return f"A question for {self._topic.kind.value}: {self._topic.topic}."

    @cached_property
    def _history(self) -> HistoryAnswers:
        from holdfast.research.history.git_answers import HistoryAnswers

        return HistoryAnswers(self._reader, self._request)

    def answer(self) -> Answer | None:
        self.found = self._history.answer(self._topic, self._limit)
        return self.found

    def with_reason_noted(self, answer: Answer) -> Answer:
        """The answer, with less confidence if it lacks the reason that was asked for."""
        if self._topic.kind.value != "why":
            return answer
        return self._history.mark_missing_reason(answer)

    def add_reason(self, answer: Answer, hits: Sequence[Hit]) -> Answer | None:
        if self._topic.kind.value != "why" or answer.abstained or answer.weak:
            return None
        return self._history.add_reason(answer, hits)


class _InvestigationSearches:
    """The searches of one investigation. Plugins and remote servers are queried once, by the first
    search; `with_plugins` is its result."""

    def __init__(
        self,
        recall: Callable[[str, str | None, RecallPlan], RecallResult],
        bank: str | None,
        plan: RecallPlan,
    ) -> None:
        self._recall = recall
        self._bank = bank
        self._plan = plan
        self.with_plugins: RecallResult | None = None
        # Sentences about remote servers that did not reply.
        self.missing_replies: list[str] = []

    def __call__(self, query: str) -> RecallResult:
        if self.with_plugins is not None and self._plan.asks_plugins:
            return plugin_evidence.without_plugin_hits(self.with_plugins)
        found = self._with_kinds(query, self._recall(query, self._bank, self._plan))
        if self._plan.remotes:
            self.missing_replies = plugin_evidence.missing_replies(
                found.strategies, RETRIEVER_PREFIX
            )
            self._plan = self._plan._replace(remotes=False)
        if not self._plan.asks_plugins:
            return found
        self.with_plugins = found
        ours = tuple(layer for layer in self._plan.layers if layer is not Layer.PROVIDERS)
        if ours or not self._plan.layers:
            self._plan = self._plan._replace(providers=False, layers=ours)
        return plugin_evidence.without_plugin_hits(found)

    def _with_kinds(self, query: str, found: RecallResult) -> RecallResult:
        """A result with the rules that are known, where a question asks what is forbidden: among
        all that speaks of its subject they may come too late to be weighed."""
        kinds = KINDS_OF_RULES if asks_what_is_forbidden(query) else ()
        if not kinds or self._plan.knowledge or self._plan.budget is Budget.LOW:
            return found
        plan = self._plan._replace(knowledge=kinds, remotes=False, providers=False, weak=False)
        more = self._recall(query, self._bank, plan)
        if more.abstained:
            return found
        known = {hit.uri for hit in more.hits}
        hits = (*more.hits, *(hit for hit in found.hits if hit.uri not in known))
        ranked = tuple(sorted(hits, key=lambda hit: (hit.weak, -hit.score)))
        return replace(found, abstained=False, hits=ranked)


def _with_notes(
    context: Context,
    search: Search,
    answer: Answer,
    bank: str | None,
    plan: RecallPlan,
    from_git: bool,
) -> Answer:
    """The answer with notes on this memory, and on code that changed since. An answer from git
    itself gets none of the latter: history does not change."""
    patterns: list[str] = []
    if answer.citations:
        patterns = pattern_notes(
            context.store, bank, answer.citations, answer.question, answer.answer
        )
    has_history = not from_git and not plan.as_of and context.store.git.repositories()
    cited = answer.citations if has_history else ()
    changed = changed_code_notes(context.store, cited)
    notes = (*answer.caveats, *changed, *patterns, *search.problems(plan))
    if answer.abstained:
        notes = (*narrowing_notes(plan), *notes)
    return replace(answer, caveats=(context.missing_bank_hint(), *notes) if bank == "" else notes)
