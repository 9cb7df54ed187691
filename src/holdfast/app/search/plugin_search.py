"""Plugins that may be asked: found, connected to, and held to what they allow themselves.

Whatever they say is outside text: redacted, attributed, `external`, never stored. What is asked of
them is redacted too, since it leaves this process. See docs/providers.md.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

from holdfast.capture.redact import Redactor
from holdfast.errors import InputError, NotFoundError, ProviderError
from holdfast.model.query import Passage
from holdfast.model.trust import Trust
from holdfast.recall.core.candidates import ScoredPassage
from holdfast.recall.core.parallel import RETRIEVER_TIMEOUT_S, Retriever, RetrieverResult
from holdfast.recall.core.plan import Plan
from holdfast.recall.ranking.plugin_hits import KIND
from holdfast.settings import FILE_NAME, OFF, Settings
from holdfast.sources.providers.client import ProviderClient, Tool
from holdfast.sources.providers.discover import find_plugins
from holdfast.sources.providers.http import HttpTransport
from holdfast.sources.providers.manifest import AllowedTool, Provider, Server, read_provider
from holdfast.sources.providers.reliability import Reliability, ReliabilityFile
from holdfast.sources.providers.result_texts import clean, result_texts
from holdfast.sources.providers.rpc import Deadline, Transport
from holdfast.sources.providers.stdio import StdioTransport
from holdfast.sources.providers.tool_choice import choose_search_tools

# Ending a program takes a moment too, and all of it has to fit into the arm's five seconds.
ANSWER_S = RETRIEVER_TIMEOUT_S - 0.8
MOST_ASKED = 1_000
# What any program needs to run; no key and no token is among these.
_PLAIN = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SHELL")
_T = TypeVar("_T")
_SKIPPED = "the settings leave it out"


class PluginText(NamedTuple):
    """One text of a provider, and the tool that gave it."""

    provider: str
    tool: str
    text: str


class OfferedTool(NamedTuple):
    """An allowed tool that is really offered, for whoever can choose: `name` is what `call`
    takes."""

    provider: str
    name: str
    description: str
    schema: Mapping[str, Any]


class ProviderStatus(NamedTuple):
    """A provider as people see it."""

    provider: Provider
    standing: Reliability
    resting: bool


class Providers:
    """The providers of a user as seen from a folder. Finding them reads files; only `tools`,
    `call`, `ask` and the arms start or reach anything, each for five seconds at most."""

    def __init__(
        self,
        settings: Settings,
        now: Callable[[], str],
        folder: Path | None,
        patience_s: float = ANSWER_S,
    ) -> None:
        self._now = now
        self._patience_s = patience_s
        self._folder = folder
        self._book = ReliabilityFile(settings.home)
        self._redactor = Redactor(settings.redact_patterns)
        self._environment = _environment(settings, folder)
        plugins = find_plugins(settings.claude_dir, folder, settings.providers.plugin_dirs)
        self.problems = plugins.problems
        read = [read_provider(plugin, self._environment) for plugin in plugins.found]
        self.found = _named(
            [p._replace(problem=_SKIPPED) if _is_in(p, settings.providers.skip) else p
             for p in read if p is not None]
        )  # fmt: skip

    def listed(self) -> list[ProviderStatus]:
        """All of them with what is known of them, the most reliable first."""
        known, now = self._book.read(), self._now()
        items = [
            ProviderStatus(p, s, s.is_paused(now)) for p in self.found for s in (known.get(p.id, Reliability()),)
        ]
        return sorted(items, key=lambda i: (bool(i.provider.problem), -i.standing.score))

    def usable(self) -> list[ProviderStatus]:
        """Those that can be asked, resting or not."""
        return [item for item in self.listed() if not item.provider.problem]

    def named(self, name: str) -> Provider:
        """A provider that can be asked, by its name."""
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
        """What may be called, of all that can be asked and do not rest."""
        return [
            offer
            for item in self.usable()
            if not item.resting
            for offer in self._offers(item.provider)
        ]

    def call(self, provider: str, tool: str, arguments: Mapping[str, Any]) -> list[PluginText]:
        """Call a tool that its plugin allows; anything else is refused before anything is
        started. `tool` is the name of an offer, or the tool's own where one server alone has it."""
        chosen = self.named(provider)
        allowed = self._allowed(chosen, tool)
        given = {key: self._leaving(value) for key, value in arguments.items()}

        def go(deadline: Deadline) -> list[PluginText]:
            with self._client(chosen.server(allowed.server), deadline) as client:
                return self._called(client, chosen, allowed.tool, given)

        return self._counted(chosen, go)

    def ask(self, provider: Provider, question: str) -> list[PluginText]:
        """Put a question to the searches of a provider."""
        asked = self._leaving(question)

        def go(deadline: Deadline) -> list[PluginText]:
            found: list[PluginText] = []
            searches = 0
            for server in provider.servers:
                with self._client(server, deadline) as client:
                    for way in choose_search_tools(_offered(client, provider, server)):
                        searches += 1
                        given = {way.parameter: asked}
                        found += self._called(client, provider, way.tool, given)
            if not searches:
                raise ProviderError("none of its allowed tools is a search that takes one text")
            return found

        return self._counted(provider, go)

    def arms(self, question: str) -> list[Retriever]:
        """One arm each, the most reliable first; one that rests says so instead of running."""
        return [self._arm(item, question) for item in self.usable()]

    def _arm(self, item: ProviderStatus, question: str) -> Retriever:
        provider = item.provider

        def run(reader: object) -> RetrieverResult:
            if item.resting:
                until = item.standing.resting_until[:16].replace("T", " ")
                raise ProviderError(f"left alone until {until}: {item.standing.problem}")
            told = self.ask(provider, question)
            places = range(len(told), 0, -1)
            return RetrieverResult(
                [ScoredPassage(_passage(t), n) for n, t in zip(places, told, strict=True)]
            )

        return Retriever(f"provider {provider.name}", run, is_external=True)

    def _offers(self, provider: Provider) -> list[OfferedTool]:
        def go(deadline: Deadline) -> list[OfferedTool]:
            found: list[OfferedTool] = []
            for server in provider.servers:
                with self._client(server, deadline) as client:
                    for tool in _offered(client, provider, server):
                        name = _spelled(AllowedTool(server.name, tool.name))
                        text = self._redactor.redact(clean(tool.description)).text
                        found.append(OfferedTool(provider.name, name, text, tool.schema))
            return found

        try:
            return self._counted(provider, go)
        except ProviderError:
            return []

    def _allowed(self, provider: Provider, tool: str) -> AllowedTool:
        fitting = [one for one in provider.allowed if tool in (_spelled(one), one.tool)]
        if len(fitting) == 1:
            return fitting[0]
        names = ", ".join(map(_spelled, provider.allowed))
        what = "is of several servers" if fitting else "is not allowed"
        raise InputError(f"The tool {tool!r} of {provider.name} {what}.", f"Allowed: {names}.")

    def _called(
        self, client: ProviderClient, provider: Provider, tool: str, given: Mapping[str, Any]
    ) -> list[PluginText]:
        texts = result_texts(client.call(tool, given))
        return [PluginText(provider.name, tool, self._redactor.redact(text).text) for text in texts]

    def _leaving(self, value: Any) -> Any:
        """What goes out, without secrets and not without end."""
        return self._redactor.redact(value[:MOST_ASKED]).text if isinstance(value, str) else value

    def _counted(self, provider: Provider, go: Callable[[Deadline], _T]) -> _T:
        started = perf_counter()
        try:
            done = go(Deadline(self._patience_s))
        except ProviderError as error:
            self._book.record(provider.id, self._now(), 0.0, error.message)
            raise
        self._book.record(provider.id, self._now(), (perf_counter() - started) * 1000)
        return done

    @contextmanager
    def _client(self, server: Server, deadline: Deadline) -> Generator[ProviderClient]:
        transport: Transport
        if server.url:
            transport = HttpTransport(server.url, dict(server.headers))
        else:
            environment = {**_plain(), **dict(server.environment)}
            transport = StdioTransport(
                server.command, server.arguments, environment, self._folder or Path("/")
            )
        with ProviderClient(transport, deadline) as client:
            yield client


def arms_for(
    settings: Settings, now: Callable[[], str], folder: str, question: str, plan: Plan
) -> list[Retriever]:
    """The arms that a plan asks for. Where none can run, one says why."""
    if not plan.asks_plugins:
        return []
    if settings.providers.use == OFF:
        raise InputError(
            'Plugins are not asked: providers.use is "off".',
            f'Put use = "asked" under [providers] in {settings.home / FILE_NAME}.',
        )
    if plan.as_of:
        return [_silent("plugins cannot look back")]
    arms = Providers(settings, now, Path(folder)).arms(question)
    return arms or [_silent("no plugin here can be asked; `holdfast providers` says why")]


def _silent(why: str) -> Retriever:
    def run(reader: object) -> RetrieverResult:
        raise ProviderError(why)

    return Retriever("providers", run, is_external=True)


def _plain() -> dict[str, str]:
    """What every program is given. A server that asks Holdfast in turn must not come back to us
    through it, so for that one providers are off."""
    return {**{n: os.environ[n] for n in _PLAIN if n in os.environ}, "HOLDFAST_PROVIDERS": OFF}


def _environment(settings: Settings, folder: Path | None) -> dict[str, str]:
    """What the description of a server may refer to."""
    here = {"CLAUDE_PROJECT_DIR": str(folder)} if folder else {}
    return {**_plain(), **here, **dict(settings.providers.env)}


def _offered(client: ProviderClient, provider: Provider, server: Server) -> list[Tool]:
    """What a server has of the tools that are allowed, in the order they are allowed."""
    offered = client.tools()
    wanted = [one.tool for one in provider.allowed if one.server == server.name]
    return [offered[name] for name in wanted if name in offered]


def _spelled(allowed: AllowedTool) -> str:
    return f"mcp__{allowed.server}__{allowed.tool}"


def _is_in(provider: Provider, names: Sequence[str]) -> bool:
    return provider.name in names or provider.id in names


def _named(found: Sequence[Provider]) -> tuple[Provider, ...]:
    """Two plugins of one name are called by their names with their marketplaces."""
    names = [provider.name for provider in found]
    return tuple(p._replace(name=p.id) if names.count(p.name) > 1 else p for p in found)


def _passage(told: PluginText) -> Passage:
    mark = sha256(told.text.encode()).hexdigest()[:16]
    id = f"{told.provider}/{told.tool}/{mark}"
    return Passage("", KIND, id, "", "", told.text, trust=Trust.EXTERNAL)


def all_told(providers: Providers, settings: Settings) -> dict[str, Any]:
    """The providers and what is known of each, ready to be sent."""
    return {
        "use": settings.providers.use,
        "providers": [_told(item) for item in providers.listed()],
        "problems": providers.problems,
    }


def _told(item: ProviderStatus) -> dict[str, object]:
    provider, standing = item.provider, item.standing
    return {
        "name": provider.name,
        "id": provider.id,
        "root": str(provider.root),
        "usable": not provider.problem,
        "problem": provider.problem,
        "servers": [{"name": one.name, "kind": one.kind} for one in provider.servers],
        "allowed_tools": [f"mcp__{one.server}__{one.tool}" for one in provider.allowed],
        "score": standing.score,
        "calls": standing.calls,
        "success": standing.success,
        "ms": standing.ms,
        "resting_until": standing.resting_until if item.resting else "",
        "last_problem": standing.problem,
    }
