"""Searching plugins: find them, connect to them, and call only the tools their manifests allow.

Their replies are external text: redacted, attributed, never stored. Queries are redacted too,
because they leave this process. See docs/providers.md.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from holdfast.capture.redact import Redactor
from holdfast.errors import InputError, NotFoundError, ProviderError
from holdfast.model.query import Passage
from holdfast.model.trust import Trust
from holdfast.recall.core.candidates import ScoredPassage
from holdfast.recall.core.parallel import Retriever, RetrieverResult
from holdfast.recall.core.plan import RecallPlan
from holdfast.recall.ranking.external_hits import PLUGIN_KIND
from holdfast.settings import FILE_NAME, OFF, Settings
from holdfast.sources.providers.client import (
    Deadline,
    Tool,
    call_tool,
    converse,
    list_tools,
    load_library,
)
from holdfast.sources.providers.discover import find_plugins
from holdfast.sources.providers.manifest import AllowedTool, Provider, Server, read_provider
from holdfast.sources.providers.reliability import Reliability, ReliabilityFile
from holdfast.sources.providers.result_texts import clean, result_texts
from holdfast.sources.providers.tool_choice import choose_search_tools

if TYPE_CHECKING:
    from mcp import ClientSession

# How much longer a search waits than the plugin has to answer.
_END_S = 0.8
MAX_QUERY_CHARS = 1_000
# Environment variables that every plugin gets: what programs need to run, and no key or token.
_PASSED_VARIABLES = "PATH HOME USER LOGNAME LANG LC_ALL LC_CTYPE TZ TMPDIR SHELL".split()
_T = TypeVar("_T")
_SKIPPED = "the settings leave it out"


class PluginText(NamedTuple):
    """One text that a provider returned, and the tool it came from."""

    provider: str
    tool: str
    text: str

    @property
    def id(self) -> str:
        """An id for citations, with a hash of the text: what plugins return is not stored."""
        return f"{self.provider}/{self.tool}/{sha256(self.text.encode()).hexdigest()[:16]}"


class OfferedTool(NamedTuple):
    """An allowed tool that the provider offers; `name` is what `Providers.call` takes, `guide` what
    its manifest says of when and how to ask (`memory.system_prompt`)."""

    provider: str
    name: str
    description: str
    schema: Mapping[str, Any]
    guide: str = ""


class ProviderStatus(NamedTuple):
    """A provider with its reliability, and whether it is paused after failures."""

    provider: Provider
    reliability: Reliability
    is_paused: bool


class Providers:
    """The providers that are enabled in a folder. The constructor only reads files; `tools`,
    `call`, `ask` and the retrievers start processes or connect, each within the time that the
    settings allow."""

    def __init__(self, settings: Settings, now: Callable[[], str], folder: Path | None) -> None:
        self._now = now
        self._timeout_s = settings.providers.wait_ms / 1000
        self._folder = folder
        self._book = ReliabilityFile(settings.home)
        self._redactor = Redactor(settings.redact_patterns)
        self._environment = _environment(settings, folder)
        plugins = find_plugins(settings.claude_dir, folder, settings.providers.plugin_dirs)
        self.problems = plugins.problems
        read = [read_provider(plugin, self._environment) for plugin in plugins.found]
        skipped = set(settings.providers.skip)
        self.found = _with_unique_names(
            [
                p._replace(problem=_SKIPPED) if skipped & {p.name, p.id} else p
                for p in read
                if p is not None
            ]
        )

    def listed(self) -> list[ProviderStatus]:
        """Every provider, the most reliable first."""
        known, now = self._book.read(), self._now()
        with_reliability = [(p, known.get(p.id, Reliability())) for p in self.found]
        items = [ProviderStatus(p, r, r.is_paused(now)) for p, r in with_reliability]
        return sorted(items, key=lambda i: (bool(i.provider.problem), -i.reliability.score))

    def usable(self) -> list[ProviderStatus]:
        """The providers that can be queried, paused or not."""
        return [item for item in self.listed() if not item.provider.problem]

    def named(self, name: str) -> Provider:
        """The provider with this name; raises an `InputError` if it cannot be queried."""
        found = next((p for p in self.found if name in (p.name, p.id)), None)
        if found is None:
            known = ", ".join(p.name for p in self.found) or "none"
            raise NotFoundError(f"There is no provider {name!r}.", f"There are: {known}.")
        if found.problem:
            raise InputError(
                f"{found.name} cannot be asked: {found.problem}.", "See `holdfast providers`."
            )
        return found

    def tools(self) -> list[OfferedTool]:
        """The tools that may be called, of every provider that is not paused."""
        return [
            offer
            for item in self.usable()
            if not item.is_paused
            for offer in self._offered_tools(item.provider)
        ]

    def call(self, provider: str, tool: str, arguments: Mapping[str, Any]) -> list[PluginText]:
        """Call a tool that the manifest allows; any other is refused before a process is started.
        `tool` is an `OfferedTool.name`, or the tool's own name if only one server has it."""
        chosen = self.named(provider)
        allowed = self._allowed(chosen, tool)
        given = {key: self._redacted_argument(value) for key, value in arguments.items()}

        def go(deadline: Deadline) -> list[PluginText]:
            async def talk(session: ClientSession) -> list[PluginText]:
                return await self._call_tool(session, chosen, allowed.tool, given)

            return self._converse(chosen.server(allowed.server), deadline, talk)

        return self._recorded(chosen, go)

    def ask(self, provider: Provider, question: str) -> list[PluginText]:
        """Query every search tool of a provider."""
        query = self._redacted_argument(question)

        def go(deadline: Deadline) -> list[PluginText]:
            found: list[list[PluginText]] = []
            for server in provider.servers:

                async def talk(session: ClientSession, server: Server = server) -> None:
                    tools = await _allowed_tools(session, provider, server)
                    for search in choose_search_tools(tools):
                        given = {search.parameter: query}
                        found.append(await self._call_tool(session, provider, search.tool, given))

                self._converse(server, deadline, talk)
            if not found:
                raise ProviderError("none of its allowed tools is a search that takes one text")
            return [text for texts in found for text in texts]

        return self._recorded(provider, go)

    def retrievers(self, question: str) -> list[Retriever]:
        """A retriever for each provider, the most reliable first; one for a paused provider fails
        with the reason."""
        return [self._retriever(item, question) for item in self.usable()]

    def _retriever(self, item: ProviderStatus, question: str) -> Retriever:
        provider = item.provider

        def run(reader: object) -> RetrieverResult:
            if item.is_paused:
                until = item.reliability.resting_until[:16].replace("T", " ")
                raise ProviderError(f"paused until {until}: {item.reliability.problem}")
            texts = self.ask(provider, question)
            places = range(len(texts), 0, -1)
            return RetrieverResult(
                [ScoredPassage(_passage(t), n) for n, t in zip(places, texts, strict=True)]
            )

        timeout_s = self._timeout_s + _END_S
        return Retriever(f"provider {provider.name}", run, is_external=True, timeout_s=timeout_s)

    def _offered_tools(self, provider: Provider) -> list[OfferedTool]:
        def go(deadline: Deadline) -> list[OfferedTool]:
            found: list[OfferedTool] = []
            guide = self._redactor.redact(clean(provider.prompt)).text
            for server in provider.servers:

                async def talk(session: ClientSession, server: Server = server) -> list[Tool]:
                    return await _allowed_tools(session, provider, server)

                for tool in self._converse(server, deadline, talk):
                    name = _qualified_name(AllowedTool(server.name, tool.name))
                    text = self._redactor.redact(clean(tool.description)).text
                    found.append(OfferedTool(provider.name, name, text, tool.schema, guide))
            return found

        try:
            return self._recorded(provider, go)
        except ProviderError:
            return []

    def _allowed(self, provider: Provider, tool: str) -> AllowedTool:
        fitting = [one for one in provider.allowed if tool in (_qualified_name(one), one.tool)]
        if len(fitting) == 1:
            return fitting[0]
        names = ", ".join(map(_qualified_name, provider.allowed))
        what = "is of several servers" if fitting else "is not allowed"
        raise InputError(f"The tool {tool!r} of {provider.name} {what}.", f"Allowed: {names}.")

    async def _call_tool(
        self, session: ClientSession, provider: Provider, tool: str, given: Mapping[str, Any]
    ) -> list[PluginText]:
        texts = result_texts(await call_tool(session, tool, given))
        return [PluginText(provider.name, tool, self._redactor.redact(text).text) for text in texts]

    def _redacted_argument(self, value: Any) -> Any:
        """An argument without secrets, cut to a length that plugins can be expected to take."""
        if not isinstance(value, str):
            return value
        return self._redactor.redact(value[:MAX_QUERY_CHARS]).text

    def _recorded(self, provider: Provider, go: Callable[[Deadline], _T]) -> _T:
        load_library()
        started = perf_counter()
        try:
            done = go(Deadline(self._timeout_s))
        except ProviderError as error:
            self._book.record(provider.id, self._now(), 0.0, error.message)
            raise
        self._book.record(provider.id, self._now(), (perf_counter() - started) * 1000)
        return done

    def _converse(
        self,
        server: Server,
        deadline: Deadline,
        talk: Callable[[ClientSession], Awaitable[_T]],
    ) -> _T:
        return converse(server, _base_environment(), self._folder or Path("/"), deadline, talk)


def plugin_retrievers(
    settings: Settings, now: Callable[[], str], folder: str, question: str, plan: RecallPlan
) -> list[Retriever]:
    """The retrievers that a plan asks for; if none can run, one that fails with the reason."""
    if not plan.asks_plugins:
        return []
    if settings.providers.use == OFF:
        raise InputError(
            'Plugins are not queried: providers.use is "off".',
            f'Put use = "asked" under [providers] in {settings.home / FILE_NAME}.',
        )
    if plan.as_of:
        return [_failing_retriever("plugins cannot look back")]
    found = Providers(settings, now, Path(folder)).retrievers(question)
    return found or [
        _failing_retriever("no plugin here can be asked; `holdfast providers` says why")
    ]


def _failing_retriever(why: str) -> Retriever:
    def run(reader: object) -> RetrieverResult:
        raise ProviderError(why)

    return Retriever("providers", run, is_external=True)


def _base_environment() -> dict[str, str]:
    """The environment of every plugin. Providers are off in it, so that a plugin that queries
    Holdfast cannot cause a loop."""
    return {
        **{n: os.environ[n] for n in _PASSED_VARIABLES if n in os.environ},
        "HOLDFAST_PROVIDERS": OFF,
    }


def _environment(settings: Settings, folder: Path | None) -> dict[str, str]:
    """The variables that a manifest may refer to."""
    here = {"CLAUDE_PROJECT_DIR": str(folder)} if folder else {}
    return {**_base_environment(), **here, **dict(settings.providers.env)}


async def _allowed_tools(session: ClientSession, provider: Provider, server: Server) -> list[Tool]:
    """The allowed tools that a server has, in the order of the manifest."""
    offered = await list_tools(session)
    wanted = [one.tool for one in provider.allowed if one.server == server.name]
    return [offered[name] for name in wanted if name in offered]


def _qualified_name(allowed: AllowedTool) -> str:
    return f"mcp__{allowed.server}__{allowed.tool}"


def _with_unique_names(found: Sequence[Provider]) -> tuple[Provider, ...]:
    """Plugins that share a name get their id, which includes the marketplace, as their name."""
    names = [provider.name for provider in found]
    return tuple(p._replace(name=p.id) if names.count(p.name) > 1 else p for p in found)


def _passage(found: PluginText) -> Passage:
    return Passage("", PLUGIN_KIND, found.id, "", "", found.text, trust=Trust.EXTERNAL)
