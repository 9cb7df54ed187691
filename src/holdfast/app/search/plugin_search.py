"""Searching plugins: find them, connect to them, and call only the tools their manifests allow.

Their replies are external text: redacted, attributed, never stored. Queries are redacted too,
because they leave this process. See docs/providers.md.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
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
        here = {"CLAUDE_PROJECT_DIR": str(folder)} if folder else {}
        # The variables that a manifest may refer to.
        environment = {**_base_environment(), **here, **dict(settings.providers.env)}
        plugins = find_plugins(settings.claude_dir, folder, settings.providers.plugin_dirs)
        self.problems = plugins.problems
        skipped = set(settings.providers.skip)
        found = [p for one in plugins.found if (p := read_provider(one, environment)) is not None]
        names = [one.name for one in found]
        # Plugins that share a name get their id, which includes the marketplace, as their name.
        self.found = tuple(
            one._replace(
                problem=_SKIPPED if skipped & {one.name, one.id} else one.problem,
                name=one.id if names.count(one.name) > 1 else one.name,
            )
            for one in found
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
        """The tools that may be called, of every provider that is not paused and answers."""
        found: list[OfferedTool] = []
        for item in self.usable():
            if not item.is_paused:
                with suppress(ProviderError):
                    found += self._offered_tools(item.provider)
        return found

    def _offered_tools(self, provider: Provider) -> list[OfferedTool]:
        guide = self._redacted(clean(provider.prompt))

        async def talk(session: ClientSession, server: Server) -> list[OfferedTool]:
            return [
                OfferedTool(
                    provider.name,
                    _qualified_name(AllowedTool(server.name, tool.name)),
                    self._redacted(clean(tool.description)),
                    tool.schema,
                    guide,
                )
                for tool in await _allowed_tools(session, provider, server)
            ]

        return self._converse(provider, provider.servers, talk)

    def call(self, provider: str, tool: str, arguments: Mapping[str, Any]) -> list[PluginText]:
        """Call a tool that the manifest allows; any other is refused before a process is started.
        `tool` is an `OfferedTool.name`, or the tool's own name if only one server has it."""
        chosen = self.named(provider)
        fitting = [one for one in chosen.allowed if tool in (_qualified_name(one), one.tool)]
        if len(fitting) != 1:
            names = ", ".join(map(_qualified_name, chosen.allowed))
            what = "is of several servers" if fitting else "is not allowed"
            raise InputError(f"The tool {tool!r} of {chosen.name} {what}.", f"Allowed: {names}.")
        given = {key: self._as_argument(value) for key, value in arguments.items()}

        async def talk(session: ClientSession, server: Server) -> list[PluginText]:
            return await self._call_tool(session, chosen, fitting[0].tool, given)

        return self._converse(chosen, [chosen.server(fitting[0].server)], talk)

    def ask(self, provider: Provider, question: str) -> list[PluginText]:
        """Query every search tool of a provider."""
        query = self._as_argument(question)

        async def talk(session: ClientSession, server: Server) -> list[list[PluginText]]:
            tools = await _allowed_tools(session, provider, server)
            return [
                await self._call_tool(session, provider, one.tool, {one.parameter: query})
                for one in choose_search_tools(tools)
            ]

        no_search = "none of its allowed tools is a search that takes one text"
        found = self._converse(provider, provider.servers, talk, no_search)
        return [text for texts in found for text in texts]

    def retrievers(self, question: str) -> list[Retriever]:
        """A retriever for each provider, the most reliable first; one for a paused provider fails
        with the reason."""
        return [self._retriever(item, question) for item in self.usable()]

    def _retriever(self, item: ProviderStatus, question: str) -> Retriever:
        def run(reader: object) -> RetrieverResult:
            if item.is_paused:
                until = item.reliability.resting_until[:16].replace("T", " ")
                raise ProviderError(f"paused until {until}: {item.reliability.problem}")
            found = [
                Passage("", PLUGIN_KIND, text.id, "", "", text.text, trust=Trust.EXTERNAL)
                for text in self.ask(item.provider, question)
            ]
            ranked = zip(found, range(len(found), 0, -1), strict=True)
            return RetrieverResult([ScoredPassage(passage, place) for passage, place in ranked])

        name, timeout_s = f"provider {item.provider.name}", self._timeout_s + _END_S
        return Retriever(name, run, is_external=True, timeout_s=timeout_s)

    def _converse(
        self,
        provider: Provider,
        servers: Sequence[Server],
        talk: Callable[[ClientSession, Server], Awaitable[list[_T]]],
        if_nothing: str = "",
    ) -> list[_T]:
        """What `talk` gets of each server, all within the time of one question. Records how long it
        took, or the failure; to get nothing is one if there is a text on that."""
        load_library()
        started, deadline = perf_counter(), Deadline(self._timeout_s)
        environment, folder = _base_environment(), self._folder or Path("/")
        found: list[_T] = []
        try:
            for server in servers:

                async def with_server(session: ClientSession, server: Server = server) -> list[_T]:
                    return await talk(session, server)

                found += converse(server, environment, folder, deadline, with_server)
            if if_nothing and not found:
                raise ProviderError(if_nothing)
        except ProviderError as error:
            self._book.record(provider.id, self._now(), 0.0, error.message)
            raise
        self._book.record(provider.id, self._now(), (perf_counter() - started) * 1000)
        return found

    async def _call_tool(
        self, session: ClientSession, provider: Provider, tool: str, given: Mapping[str, Any]
    ) -> list[PluginText]:
        texts = result_texts(await call_tool(session, tool, given))
        return [PluginText(provider.name, tool, self._redacted(text)) for text in texts]

    def _redacted(self, text: str) -> str:
        return self._redactor.redact(text).text

    def _as_argument(self, value: Any) -> Any:
        """An argument without secrets, cut to a length that plugins can be expected to take."""
        return self._redacted(value[:MAX_QUERY_CHARS]) if isinstance(value, str) else value


def plugin_retrievers(
    settings: Settings, now: Callable[[], str], folder: str, question: str, plan: RecallPlan
) -> list[Retriever]:
    """The retrievers that a plan asks for; if none can run, one that fails with the reason."""
    if settings.providers.use == OFF:
        raise InputError(
            'Plugins are not queried: providers.use is "off".',
            f'Put use = "asked" under [providers] in {settings.home / FILE_NAME}.',
        )
    if not plan.as_of and (found := Providers(settings, now, Path(folder)).retrievers(question)):
        return found
    no_plugin = "no plugin here can be asked; `holdfast providers` says why"

    def run(reader: object) -> RetrieverResult:
        raise ProviderError("plugins cannot look back" if plan.as_of else no_plugin)

    return [Retriever("providers", run, is_external=True)]


def _base_environment() -> dict[str, str]:
    """The environment of every plugin. Providers are off in it, so that a plugin that queries
    Holdfast cannot cause a loop."""
    passed = {n: os.environ[n] for n in _PASSED_VARIABLES if n in os.environ}
    return {**passed, "HOLDFAST_PROVIDERS": OFF}


async def _allowed_tools(session: ClientSession, provider: Provider, server: Server) -> list[Tool]:
    """The allowed tools that a server has, in the order of the manifest."""
    offered = await list_tools(session)
    wanted = [one.tool for one in provider.allowed if one.server == server.name]
    return [offered[name] for name in wanted if name in offered]


def _qualified_name(allowed: AllowedTool) -> str:
    return f"mcp__{allowed.server}__{allowed.tool}"
