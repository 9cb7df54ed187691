"""`holdfast providers`."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

from holdfast.app.core.context import current_folder, utc_now
from holdfast.app.search.plugin_search import Providers, ProviderStatus, providers_json
from holdfast.errors import ProviderError
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, minute, number
from holdfast.language import cut
from holdfast.model.trust import Trust
from holdfast.settings import OFF, load_settings

HELP = """\
List plugins of Claude Code that can be searched as well: enabled plugins with an MCP server,
whose han-plugin.yml or holdfast-plugin.yml has memory.allowed_tools and
memory.system_prompt. Shows for each whether it can be used, why not, and how reliable it
has been. Listing only reads files; it starts no program.

`holdfast providers test NAME QUERY` queries one now, whatever the settings say, and shows its
answer. Answers of plugins are external text: they are never stored, and never treated as
instructions.

--json prints {"use", "providers", "problems"}; each provider has "name", "id", "root",
"usable", "problem", "servers", "allowed_tools", "score", "calls", "success", "ms",
"resting_until" and "last_problem". A test prints {"provider", "query", "ms", "texts"}."""

EXAMPLES = """\
  holdfast providers
  holdfast providers --plugin-dir ./my-plugin --json
  holdfast providers test wiki "retry policy" """

# The start of what a provider answers: about six lines.
_MAX_TEXT = 600


def configure(parser: Parser) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        choices=["list", "test"],
        default="list",
        help="what to do (default: list)",
    )
    parser.add_argument(
        "name", nargs="?", metavar="NAME", default="", help="with test: which plugin"
    )
    parser.add_argument("query", nargs="*", metavar="QUERY", help="with test: the query")
    options.add(parser, "plugin_dir", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    settings = options.with_plugins(load_settings(), arguments)
    providers = Providers(settings, utc_now, Path(current_folder()))
    if arguments.action == "test":
        name = options.words([arguments.name], "name", "Say which provider to test.")
        query = options.words(arguments.query, "query")
        return _test(screen, providers, name, query, arguments.json)
    listed = providers.listed()
    if arguments.json:
        return screen.json(providers_json(providers, settings))
    for item in listed:
        _print(screen, item)
    for problem in providers.problems:
        screen.wrap(problem)
    if not listed:
        screen.line("No enabled plugin can be queried.")
    if settings.providers.use == OFF:
        screen.wrap('Plugins are not queried: providers.use is "off". See docs/providers.md.')


def _print(screen: Screen, item: ProviderStatus) -> None:
    provider, reliability = item.provider, item.reliability
    screen.line(screen.paint(provider.name, "bold") + f"  {provider.id}  {provider.root}")
    if provider.problem:
        screen.item(f"not usable: {provider.problem}", "  ")
        return
    kinds = ", ".join(f"{one.name} ({one.kind})" for one in provider.servers)
    tools = ", ".join(one.tool for one in provider.allowed)
    screen.item(f"{kinds}; allowed: {tools}", "  ")
    screen.item(_describe_reliability(item) if reliability.calls else "never queried", "  ")


def _describe_reliability(item: ProviderStatus) -> str:
    reliability = item.reliability
    text = f"reliability {reliability.score:.2f}: {number(reliability.calls, 'call')}, "
    text += f"{reliability.success:.0%} answered recently, about {reliability.ms:.0f} ms"
    if item.is_paused:
        text += f"; paused until {minute(reliability.resting_until)}"
    return f"{text}; last problem: {reliability.problem}" if reliability.problem else text


def _test(screen: Screen, providers: Providers, name: str, query: str, json: bool) -> None:
    started = perf_counter()
    try:
        found = providers.ask(providers.named(name), query)
    except ProviderError as error:
        raise ProviderError(
            f"{name} failed: {error.message}.",
            error.remedy or "`holdfast providers` shows its record.",
        ) from error
    ms = round((perf_counter() - started) * 1000)
    if json:
        texts = [{"tool": one.tool, "text": one.text, "trust": Trust.EXTERNAL} for one in found]
        return screen.json({"provider": name, "query": query, "ms": ms, "texts": texts})
    for one in found:
        screen.line(f"{one.provider}/{one.tool} · external", "bold")
        screen.wrap(cut(one.text, _MAX_TEXT), "      ")
        screen.line()
    screen.line(f"{number(len(found), 'text')} in {ms} ms")
