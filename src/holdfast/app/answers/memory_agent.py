"""The memory agent: a model that answers a question by calling tools that only read.

It runs only where the settings name a model service, and every call goes through the spend
governor. The answer by rules is found before it, and stays the answer if the model fails, is
refused by the governor, or says what no record supports. Imported only when an agent is wanted.

The tools are given from above; those of plugins are added here, and a plugin is called only as its
manifest allows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event as Flag
from threading import Thread
from time import monotonic
from typing import Any, NamedTuple, Protocol, TypeVar

from holdfast.app.core.backends import checkpoint_and_close, open_store
from holdfast.app.core.context import current_folder
from holdfast.app.search.plugin_search import Providers
from holdfast.capture.redact import Redactor
from holdfast.errors import HoldfastError, ModelAnswerError, ModelStoppedError, NotFoundError
from holdfast.framed_text import defang
from holdfast.inference.agent_chat import HOOKS_OFF_VARIABLE
from holdfast.inference.chat import Chat, Tool
from holdfast.inference.service_choice import choose_chat, detect_service
from holdfast.language import truncate
from holdfast.model.query import LAYER_BY_KIND, Answer, Citation, Hit, Layer
from holdfast.model.research import ResearchEvent, ResearchStage
from holdfast.model.trust import Trust
from holdfast.model.uris import parse_uri
from holdfast.model.uris import uri as uri_of
from holdfast.recall.lookup.origins import Named, origins
from holdfast.recall.ranking.external_hits import PLUGIN_KIND
from holdfast.regex import regex
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
from holdfast.store.protocol import Reader

# The tool that is called with the question before the model starts, which saves it a round.
_FIRST_TOOL = "memory_search_hybrid"
_FIRST_RESULTS_HEADING = "Found with the question's own words"
# How often a waiting caller looks whether it was cancelled; less reacts sooner and wakes more.
_POLL_S = 0.1
# How long the agent's thread may take to end after a cancellation; then it is left behind.
_JOIN_TIMEOUT_S = 1.0
# How much of a lookup's query a progress event shows.
_MAX_QUERY_CHARS = 200

# Every tool's description is part of each request to the model: more tools cost more tokens.
_MAX_TOOLS = 12
_MAX_DESCRIPTION_CHARS = 400
# What a plugin says of how to use its tools, told once, with the first of them. It is a description
# like the others and no part of the agent's instructions: somebody else wrote it.
_MAX_GUIDE_CHARS = 600
# Model services accept tool names of these characters, up to 64 of them; `_0` to `_11` is added.
_NOT_IN_TOOL_NAMES = regex(r"[^A-Za-z0-9_-]+")
_MAX_NAME_CHARS = 48

T = TypeVar("T")
Object = dict[str, Any]


class Tools(Protocol):
    """Tools that a model may call."""

    def tools(self) -> Sequence[Tool]: ...

    def call(self, name: str, arguments: Mapping[str, Any]) -> Object: ...


class Lookups(Tools, Protocol):
    """Tools that look things up in a store."""

    @property
    def reader(self) -> Reader: ...

    def close(self) -> None: ...


class AgentRequest(NamedTuple):
    """A question to the agent, as the answer by rules to it; `bank` is a name."""

    rule_answer: Answer
    bank: str = ""
    earlier_questions: tuple[str, ...] = ()
    is_cancelled: Callable[[], bool] = lambda: False


def is_enabled(settings: Settings) -> bool:
    """Whether a model answers questions. Never inside an agent that we started, which would start
    another one; and with the service "openai", which has no default model, only if a model is named
    for this."""
    models = settings.models
    if NO_MODEL in (models.use, models.agent) or os.environ.get(HOOKS_OFF_VARIABLE):
        return False
    return bool(models.agent) or detect_service(models) != "openai"


# Opens the tools for a bank, by its name.
OpenLookups = Callable[[Settings, str], Lookups]


class MemoryAgent:
    """Answers questions by a model that looks things up; with `plugins` it may call their tools,
    too. `chat` replaces the settings' service."""

    def __init__(
        self,
        settings: Settings,
        now: Callable[[], str],
        open_lookups: OpenLookups,
        plugins: bool = False,
        chat: Chat | None = None,
    ) -> None:
        self._settings = settings
        self._now = now
        self._open_lookups = open_lookups
        self._plugins: PluginTools | None = None
        if plugins and settings.providers.use != OFF:
            self._plugins = PluginTools(Providers(settings, now, Path(current_folder())))
        self._chat = chat

    def run(self, request: AgentRequest) -> Iterator[ResearchEvent]:
        """Yields every step; the last one has the answer. Closing the iterator, a cancellation and
        the timeout of the settings all stop the model, and none of them waits for its service."""
        events: SimpleQueue[ResearchEvent | None] = SimpleQueue()
        answers: list[Answer] = []
        closed = Flag()
        timeout_s = self._settings.models.timeout_s
        deadline = monotonic() + timeout_s

        def is_cancelled() -> bool:
            return closed.is_set() or request.is_cancelled() or monotonic() > deadline

        def drive() -> None:
            try:
                answers.append(self._run(request._replace(is_cancelled=is_cancelled), events.put))
            finally:
                events.put(None)

        # A daemon, so that a service that does not answer cannot keep the process alive.
        thread = Thread(target=drive, name="agent", daemon=True)
        thread.start()
        problem = "The memory agent failed."
        try:
            while True:
                try:
                    event = events.get(timeout=_POLL_S)
                except Empty:
                    if not is_cancelled():
                        continue
                    late = monotonic() > deadline
                    problem = f"No answer in {timeout_s} seconds." if late else "Stopped."
                    yield ResearchEvent(ResearchStage.READING, problem)
                    break
                if event is None:
                    break
                yield event
            answer = answers[0] if answers else _rule_answer_because(request.rule_answer, problem)
            yield ResearchEvent(ResearchStage.DONE, "Done.", answer=answer)
        finally:
            closed.set()
            thread.join(_JOIN_TIMEOUT_S)

    def _run(self, request: AgentRequest, on_event: Callable[[ResearchEvent], None]) -> Answer:
        try:
            return self._answer(request, on_event)
        except ModelAnswerError as error:
            problem = f"The model's answer cannot be used: {error.message}"
        except HoldfastError as error:
            problem = error.full_text
        return _rule_answer_because(request.rule_answer, problem)

    def _answer(self, request: AgentRequest, on_event: Callable[[ResearchEvent], None]) -> Answer:
        models = self._settings.models
        chat = self._chat or choose_chat(models, AGENT)
        if chat is None:
            return request.rule_answer
        redactor = Redactor(self._settings.redact_patterns)
        questions = (request.rule_answer.question, *request.earlier_questions)
        question, *earlier = (redactor.redact(text).text for text in questions)
        thread = _LookupThread(lambda: self._open_lookups(self._settings, request.bank))
        with thread as own, ExitStack() as closing:
            # A connection of this thread, in which the governor records calls.
            calls = open_store(self._settings, create=False)
            closing.callback(checkpoint_and_close, calls)
            known = own.run(lambda opened: opened.tools())
            more = self._plugins.tools() if self._plugins else ()
            lookups = LookupTools(
                self._caller(own, known), _report_lookups(on_event), request.is_cancelled
            )
            first_results = lookups.look_up(_FIRST_TOOL, {"query": question})
            prompt = question_for(question, earlier, lookups.toolbox([*known, *more]))
            prompt = prompt._replace(
                text=f"{prompt.text}\n\n{_FIRST_RESULTS_HEADING}:\n{first_results}"
            )
            governor = Governor(chat, calls, models.caps, self._now, models.prices)
            on_event(ResearchEvent(ResearchStage.READING, f"{governor.model} reads."))
            sentences = governor.ask(CallPurpose(AGENT), prompt, read_sentences)
            if request.is_cancelled():
                raise ModelStoppedError("Stopped.")
            text = "Checking the answer against its citations."
            on_event(ResearchEvent(ResearchStage.SYNTHESISING, text))
            answer = own.run(
                lambda opened: _checked_answer(
                    sentences, lookups, opened.reader, request.rule_answer, redactor
                )
            )
        return replace(answer, cost=governor.cost())

    def _caller(
        self, own: _LookupThread, known: Sequence[Tool]
    ) -> Callable[[str, Mapping[str, Any]], Object]:
        names, plugins = {tool.name for tool in known}, self._plugins

        def call(name: str, arguments: Mapping[str, Any]) -> Object:
            if plugins is not None and name not in names:
                return plugins.call(name, arguments)
            return own.run(lambda opened: opened.call(name, arguments))

        return call


class _LookupThread:
    """Runs lookups in a thread of their own, because their connection belongs to one thread and a
    chat may call tools from any."""

    def __init__(self, open: Callable[[], Lookups]) -> None:
        self._thread = ThreadPoolExecutor(1, "lookups")
        self._lookups = self._thread.submit(open).result()

    def __enter__(self) -> _LookupThread:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.submit(self._lookups.close).result()
        self._thread.shutdown()

    def run(self, function: Callable[[Lookups], T]) -> T:
        """Call the function in that thread; returns its result."""
        return self._thread.submit(function, self._lookups).result()


class PluginTools:
    """The tools of all plugins that are not paused. `tools` must be called before `call`."""

    def __init__(self, providers: Providers) -> None:
        self._providers = providers
        self._known: dict[str, tuple[str, str]] = {}

    def tools(self) -> Sequence[Tool]:
        """The tools that may be called. Their descriptions say that the plugin wrote them."""
        found: list[Tool] = []
        guided: set[str] = set()
        for offer in self._providers.tools()[:_MAX_TOOLS]:
            spelled = _NOT_IN_TOOL_NAMES.sub(
                "_", f"{offer.provider}_{offer.name.rpartition('__')[2]}"
            )
            name = f"{spelled[:_MAX_NAME_CHARS]}_{len(found)}"
            self._known[name] = (offer.provider, offer.name)
            about = f"Of the plugin {offer.provider}, in its words: {offer.description}"
            about = truncate(about, _MAX_DESCRIPTION_CHARS)
            if offer.guide and offer.provider not in guided:
                about += f" Its guide: {truncate(offer.guide, _MAX_GUIDE_CHARS)}"
            guided.add(offer.provider)
            found.append(Tool(name, about, offer.schema))
        return found

    def call(self, name: str, arguments: Mapping[str, Any]) -> Object:
        """The texts that a tool returns, as external results."""
        if name not in self._known:
            known = ", ".join(self._known) or "none of plugins"
            raise NotFoundError(f"There is no tool {name[:100]!r}.", f"There are: {known}.")
        provider, tool = self._known[name]
        texts = self._providers.call(provider, tool, arguments)
        return {
            "provider": provider,
            "results": [
                {
                    "uri": uri_of(PLUGIN_KIND, one.id),
                    "text": defang(one.text, outside=True),
                    "trust": Trust.EXTERNAL.value,
                }
                for one in texts
            ],
        }


def _checked_answer(
    sentences: Sequence[Sentence],
    lookups: LookupTools,
    reader: Reader,
    rule_answer: Answer,
    redactor: Redactor,
) -> Answer:
    """The model's sentences that the records they cite support; else the answer by rules."""
    if not sentences:
        return rule_answer if rule_answer.abstained or rule_answer.weak else abstain(rule_answer)
    checked = check_answer(
        sentences, lookups, lambda uri: _find_cited(reader, uri, lookups), rule_answer, redactor
    )
    if checked.answer is rule_answer:
        problem = "No sentence of the model's answer is supported by the records it cites."
        return _rule_answer_because(rule_answer, problem)
    return checked.answer


def _rule_answer_because(rule_answer: Answer, problem: str) -> Answer:
    """The answer by rules, with the reason why it is not the model's."""
    return replace(rule_answer, caveats=(*rule_answer.caveats, f"By rules alone: {problem}"))


def _report_lookups(
    on_event: Callable[[ResearchEvent], None],
) -> Callable[[str, Mapping[str, Any], int], None]:
    def report(name: str, arguments: Mapping[str, Any], found: int) -> None:
        query = truncate(
            str(arguments.get("query") or arguments.get("pattern") or ""), _MAX_QUERY_CHARS
        )
        on_event(ResearchEvent(ResearchStage.SEARCHING, f"{name} was asked.", query=query))
        text = f"{found} records that were not seen before."
        on_event(ResearchEvent(ResearchStage.FOUND, text, found=found))

    return report


def _find_cited(reader: Reader, uri: str, lookups: LookupTools) -> tuple[Hit, Citation] | None:
    """A record that a tool returned, as a hit and a citation; None for one that no tool returned or
    that was removed since. What a plugin returned is not stored and cannot be removed."""
    fields = lookups.shown.get(uri)
    if fields is None:
        return None
    named = parse_uri(uri)
    kind = named.kind if named is not None else PLUGIN_KIND
    is_stored = named is not None and kind in LAYER_BY_KIND and kind != PLUGIN_KIND
    found = reader.records.find(None, kind, named.id, 1) if named and is_stored else []
    if is_stored and not found:
        return None
    layer = LAYER_BY_KIND[kind] if is_stored else Layer.PROVIDERS
    trust = Trust(fields.get("trust") or Trust.EXTERNAL) if is_stored else Trust.EXTERNAL
    hit = Hit(
        uri=uri,
        kind=kind,
        layer=layer,
        score=0.0,
        text=_result_text(fields),
        time=str(fields.get("time") or ""),
        session=str(fields.get("session") or ""),
        bank="",
        trust=trust,
        shared=str(fields.get("shared") or ""),
    )
    url = str(fields.get("browse_url") or "")
    cited = Citation(0, uri, layer, excerpt_of(hit), url, hit.time, trust, hit.shared)
    if found:
        bank = reader.banks.get(found[0].bank)
        title = origins(reader, [Named(found[0].bank, uri)])[uri].title
        cited = cited._replace(bank=bank.name if bank else "", session=title)
    return hit, cited


def _result_text(fields: Mapping[str, Any]) -> str:
    """The text of a tool's result; without one, all of its texts."""
    text = fields.get("text")
    if isinstance(text, str) and text:
        return text
    return "\n".join(value for value in fields.values() if isinstance(value, str))
