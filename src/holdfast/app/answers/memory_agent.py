"""The memory agent, put together: the data access layer in a model's hands, under the governor.

It answers where the settings name a model, and only there. What rules answer is found first: it
is what remains where the model fails, may not be asked, or says what no record bears out. Loaded
only where it is wanted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event as Flag
from threading import Thread
from time import monotonic
from typing import Any, NamedTuple, Protocol, Self, TypeVar

from holdfast.app.answers.access import DataAccess, open_access
from holdfast.app.answers.access_tools import ACCESS_TOOLS
from holdfast.app.answers.plugin_tools import PluginTools
from holdfast.app.answers.tool import Object
from holdfast.app.core.backends import checkpoint_and_close, open_store
from holdfast.app.core.context import current_folder
from holdfast.app.search.plugin_search import Providers
from holdfast.capture.redact import Redactor
from holdfast.errors import HoldfastError, ModelAnswerError, ModelStoppedError
from holdfast.inference.agent_chat import HOOKS_OFF_VARIABLE
from holdfast.inference.chat import Chat, Tool
from holdfast.inference.service_choice import choose_chat, detect_service
from holdfast.language import truncate
from holdfast.model.query import LAYER_BY_KIND, Answer, Citation, Hit, Layer
from holdfast.model.research import ResearchEvent, ResearchStage
from holdfast.model.trust import Trust
from holdfast.model.uris import parse_uri
from holdfast.recall.ranking.plugin_hits import KIND
from holdfast.research.answering.agent_answer import (
    AGENT,
    LookupTools,
    Sentence,
    abstain,
    check_answer,
    excerpt_of,
    question_for,
    read_sentences,
)
from holdfast.settings import NO_MODEL, OFF, Settings
from holdfast.spend.governor import CallPurpose, Governor
from holdfast.store.protocol import Reader, Store

_FIRST_TOOL = "memory_search_hybrid"
_FIRST_RESULTS_HEADING = "Found with the question's own words"
_POLL_S = 0.1
_JOIN_TIMEOUT_S = 1.0

T = TypeVar("T")


class ExtraTools(Protocol):
    """More tools than memory's own: what they are, and what a call gives."""

    def tools(self) -> Sequence[Tool]: ...

    def call(self, name: str, arguments: Mapping[str, Any]) -> Object: ...


class AgentRequest(NamedTuple):
    """What the agent is asked: the question as rules answered it, of a bank by its name, what was
    asked before, and who may stop it."""

    rule_answer: Answer
    bank: str = ""
    earlier_questions: tuple[str, ...] = ()
    is_cancelled: Callable[[], bool] = lambda: False


def is_enabled(settings: Settings) -> bool:
    """Whether a model is to answer. One that runs for us must not set another one going, and a
    service without a usual model is asked only for what a model is named for."""
    models = settings.models
    if NO_MODEL in (models.use, models.agent) or os.environ.get(HOOKS_OFF_VARIABLE):
        return False
    return bool(models.agent) or detect_service(models) != "openai"


def open_agent(settings: Settings, now: Callable[[], str], plugins: bool) -> MemoryAgent:
    """The agent of these settings, with the tools of plugins if they are to be asked."""
    shelf = None
    if plugins and settings.providers.use != OFF:
        shelf = PluginTools(Providers(settings, now, Path(current_folder())))
    return MemoryAgent(settings, now, shelf)


class MemoryAgent:
    """Answers questions by a model that looks things up."""

    def __init__(
        self,
        settings: Settings,
        now: Callable[[], str],
        shelf: ExtraTools | None = None,
        chat: Chat | None = None,
    ) -> None:
        self._settings = settings
        self._now = now
        self._shelf = shelf
        self._chat = chat

    def run(self, talk: AgentRequest) -> Iterator[ResearchEvent]:
        """Every step; the last one has the answer. Whoever stops asking for the next one stops the
        model; nobody waits for one that is stopped, or for longer than the settings say."""
        heard: SimpleQueue[ResearchEvent | None] = SimpleQueue()
        answers: list[Answer] = []
        left = Flag()
        asked = talk.is_cancelled
        patience_s = self._settings.models.timeout_s
        until = monotonic() + patience_s

        def stopped() -> bool:
            return left.is_set() or asked() or monotonic() > until

        def drive() -> None:
            try:
                answers.append(self._run(talk._replace(stopped=stopped), heard.put))
            finally:
                heard.put(None)

        # Whoever wants to leave is not held up by a service that does not answer.
        thread = Thread(target=drive, name="agent", daemon=True)
        thread.start()
        problem = "The memory agent failed."
        try:
            while True:
                try:
                    event = heard.get(timeout=_POLL_S)
                except Empty:
                    if not stopped():
                        continue
                    late = monotonic() > until
                    problem = f"No answer in {patience_s} seconds." if late else "Stopped."
                    yield ResearchEvent(ResearchStage.READING, problem)
                    break
                if event is None:
                    break
                yield event
            answer = answers[0] if answers else _rule_answer_because(talk.rule_answer, problem)
            yield ResearchEvent(ResearchStage.DONE, "Done.", answer=answer)
        finally:
            left.set()
            thread.join(_JOIN_TIMEOUT_S)

    def _run(self, talk: AgentRequest, tell: Callable[[ResearchEvent], None]) -> Answer:
        try:
            return self._answer(talk, tell)
        except ModelAnswerError as error:
            return _rule_answer_because(talk.rule_answer, f"The model's answer cannot be used: {error.message}")
        except HoldfastError as error:
            return _rule_answer_because(talk.rule_answer, f"{error.message} {error.remedy}".strip())

    def _answer(self, talk: AgentRequest, tell: Callable[[ResearchEvent], None]) -> Answer:
        models = self._settings.models
        chat = self._chat or choose_chat(models, AGENT)
        if chat is None:
            return talk.rule_answer
        with _LookupThread(self._settings, talk.bank) as books, self._ledger() as calls:
            lookups = LookupTools(self._caller(books), _report_lookups(tell), talk.is_cancelled)
            redactor = Redactor(self._settings.redact_patterns)
            question, *before = (
                redactor.redact(t).text for t in (talk.rule_answer.question, *talk.earlier_questions)
            )
            opening = lookups.look_up(_FIRST_TOOL, {"query": question})
            asked = question_for(question, before, lookups.toolbox(self._tools()))
            asked = asked._replace(text=f"{asked.text}\n\n{_FIRST_RESULTS_HEADING}:\n{opening}")
            governor = Governor(chat, calls, models.caps, self._now, models.prices)
            tell(ResearchEvent(ResearchStage.READING, f"{governor.model} reads."))
            said = governor.ask(CallPurpose(AGENT), asked, read_sentences)
            if talk.is_cancelled():
                raise ModelStoppedError("Stopped.")
            tell(ResearchEvent(ResearchStage.SYNTHESISING, "Holding the answer against what it cites."))
            answer = books.ask(lambda access: self._checked(said, lookups, access, talk.rule_answer))
        return replace(answer, cost=governor.cost())

    @contextmanager
    def _ledger(self) -> Generator[Store]:
        """A connection of this thread's own, for what the governor notes."""
        store = open_store(self._settings, create=False)
        try:
            yield store
        finally:
            checkpoint_and_close(store)

    def _checked(
        self, said: Sequence[Sentence], lookups: LookupTools, access: DataAccess, told: Answer
    ) -> Answer:
        if not said:
            return told if told.abstained else abstain(told)
        redactor = Redactor(self._settings.redact_patterns)
        reader = access.reader
        checked = check_answer(
            said, lookups, lambda uri: _find_cited(reader, uri, lookups), told, redactor
        )
        if checked.answer is told:
            return _rule_answer_because(told, "Nothing in the model's answer was borne out by its records.")
        return checked.answer

    def _tools(self) -> list[Tool]:
        own = [Tool(tool.name, tool.description, tool.input_schema()) for tool in ACCESS_TOOLS]
        return [*own, *(self._shelf.tools() if self._shelf else ())]

    def _caller(self, books: _LookupThread) -> Callable[[str, Mapping[str, Any]], Object]:
        own = {tool.name for tool in ACCESS_TOOLS}
        shelf = self._shelf

        def call(name: str, arguments: Mapping[str, Any]) -> Object:
            if shelf is not None and name not in own:
                return shelf.call(name, arguments)
            return books.ask(lambda access: access.call(name, arguments))

        return call


class _LookupThread:
    """Memory's own tools in a thread of their own: whoever calls them may be in any."""

    def __init__(self, settings: Settings, bank: str) -> None:
        self._thread = ThreadPoolExecutor(1, "lookups")
        self._access = self._thread.submit(open_access, settings, bank).result()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.submit(self._access.close).result()
        self._thread.shutdown()

    def ask(self, what: Callable[[DataAccess], T]) -> T:
        """What is to be done with the tools, done there."""
        return self._thread.submit(what, self._access).result()


def _rule_answer_because(told: Answer, problem: str) -> Answer:
    """What rules say, with why it is not the model that answers."""
    return replace(told, caveats=(*told.caveats, f"By rules alone: {problem}"))


def _report_lookups(tell: Callable[[ResearchEvent], None]) -> Callable[[str, Mapping[str, Any], int], None]:
    def noticed(name: str, arguments: Mapping[str, Any], found: int) -> None:
        query = truncate(str(arguments.get("query") or arguments.get("pattern") or ""), 200)
        tell(ResearchEvent(ResearchStage.SEARCHING, f"{name} was asked.", query=query))
        tell(ResearchEvent(ResearchStage.FOUND, f"{found} records that were not seen before.", found=found))

    return noticed


def _find_cited(reader: Reader, uri: str, lookups: LookupTools) -> tuple[Hit, Citation] | None:
    """A record that was shown, if it is still there; what lies outside of memory is as it was."""
    fields = lookups.shown.get(uri)
    if fields is None:
        return None
    named = parse_uri(uri)
    word = named.kind if named is not None else KIND
    inside = named is not None and word in LAYER_BY_KIND and word != KIND
    if named is not None and inside and not reader.find(None, word, named.id, 1):
        return None
    about: dict[str, Any] = dict(fields.get("metadata") or {})
    layer = LAYER_BY_KIND[word] if inside else Layer.PROVIDERS
    trust = Trust(about.get("trust") or Trust.EXTERNAL) if inside else Trust.EXTERNAL
    time = str(about.get("timestamp") or fields.get("timestamp") or "")
    hit = Hit(
        uri=uri,
        kind=word,
        layer=layer,
        score=0.0,
        text=_result_text(fields),
        time=time,
        session=str(about.get("sessionId") or fields.get("sessionId") or ""),
        bank="",
        trust=trust,
    )
    url = str(fields.get("browseUrl") or "")
    return hit, Citation(0, uri, layer, excerpt_of(hit), url, time, trust)


def _result_text(fields: Mapping[str, Any]) -> str:
    """What a result says: its content, else every text in it."""
    content = fields.get("content")
    if isinstance(content, str) and content:
        return content
    return "\n".join(value for value in fields.values() if isinstance(value, str))
