"""`holdfast remote`."""

from __future__ import annotations

import getpass
import sys
from collections import Counter
from collections.abc import Mapping, Sequence

from holdfast.app.memory import Holdfast, open_memory
from holdfast.app.remote.outbox import Outbox, PushReport
from holdfast.app.remote.remote_search import Remotes, RemoteStatus, RemoteTest
from holdfast.errors import InputError, RemoteError, RemoteRefusedError
from holdfast.interfaces.cli import confirm, options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.operations.screen import Screen, number
from holdfast.settings import OFF
from holdfast.sources.remote.remote_config import Remote, checked_address
from holdfast.store.records.outbox import OutboxItem, OutboxState

HELP = """\
Manage the servers of your team. Once one is added, `recall` and `ask` also send it your
question, redacted, and wait at most 0.8 seconds; `holdfast share --to NAME` sends it chosen
records. Nothing else is sent, and nothing from banks that are not listed for it.

add URL      add a server. Its key is asked for, or read from standard input or from
             HOLDFAST_REMOTE_KEY, and stored in a file that only you can read.
list         list the servers, whether each can be reached, and what waits to be sent
test [NAME]  check which banks the key gives access to
push [NAME]  send now what waits to be sent; otherwise the worker does it
remove NAME  remove a server and its key

--json: list prints {"use", "remotes": [{"name", "url", "banks", "reachable", "problem", "ms",
"resting_until", "waiting", "refused", "sent"}]}; test {"name", "ms", "banks", "missing"};
push {NAME: {"sent", "refused", "dropped", "waiting", "problem"}}."""

EXAMPLES = """\
  holdfast remote add https://memory.example.com --name acme
  holdfast remote add https://memory.example.com --bank shop=checkout --bank ui=ui
  holdfast remote list
  holdfast remote test acme --json
  holdfast remote push
  holdfast remote remove acme"""

# How long `list` waits for each server: longer than a recall does, and short enough for a person.
_REACH_TIMEOUT_S = 3.0
_NO_SERVER = "No server is configured: holdfast remote add URL"


def configure(parser: Parser) -> None:
    actions = ["list", "add", "test", "push", "remove"]
    parser.add_argument(
        "action", nargs="?", choices=actions, default="list", help="what to do (default: list)"
    )
    parser.add_argument(
        "name_or_url",
        nargs="?",
        metavar="NAME|URL",
        default="",
        help="with add: the URL; otherwise the name of a server",
    )
    parser.option("--name", "NAME", "with add: a name for the server")
    parser.repeated(
        "--bank",
        "with add: a bank of yours and its name on the server; repeatable "
        "(default: the bank of this folder, under the same name)",
        metavar="LOCAL=REMOTE",
    )
    parser.flag(
        "--insecure",
        "with add: allow plain HTTP; always allowed on this machine",
    )
    options.add(parser, "yes", "json")


def run(screen: Screen, arguments: Arguments) -> int:
    with open_memory(create=False) as memory:
        remotes = Remotes(memory.settings, memory.now)
        match arguments.action:
            case "add":
                _add(screen, memory, remotes, arguments)
            case "test":
                _test(screen, remotes, remotes.named(arguments.name_or_url), arguments.json)
            case "push":
                done = Outbox(memory.context).push(arguments.name_or_url)
                return _push(screen, done, arguments.json)
            case "remove":
                _remove(screen, memory, remotes, arguments)
            case _:
                _list(screen, memory, remotes, arguments.json)
    return 0


def _add(screen: Screen, memory: Holdfast, remotes: Remotes, arguments: Arguments) -> None:
    url: str = arguments.name_or_url
    if not url:
        raise InputError("No address is given.", "holdfast remote add https://memory.example.com")
    checked_address(url, arguments.insecure)
    banks = _banks(memory, arguments.bank)
    key = memory.settings.remote.key or _key(url)
    remote = remotes.make(url, key, banks, arguments.name, arguments.insecure)
    tested: RemoteTest | None = None
    problem = ""
    try:
        tested = remotes.check(remote)
    except RemoteRefusedError as error:
        raise InputError(
            f"{remote.url} cannot be added: {error.message}.",
            "Check the address, and that the key is complete.",
        ) from error
    except RemoteError as error:
        problem = error.message
    remotes.add(remote)
    if arguments.json:
        added = {"name": remote.name, "url": remote.url, "banks": dict(banks)}
        missing = tested.missing if tested else ()
        return screen.json({**added, "problem": problem, "missing": missing})
    listed = ", ".join(here if here == there else f"{here} as {there}" for here, there in banks)
    screen.wrap(f"{remote.name} will be queried for {listed}, and for nothing else.")
    if problem:
        screen.wrap(f"Just now {problem}; `holdfast remote test` tries again.")
    _print_missing(screen, tested)


def _banks(memory: Holdfast, given: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of a local bank and its name on the server."""
    if not given:
        id = memory.context.bank_id()
        if id is None:
            raise InputError(
                "The settings select all banks.", "Say which one: --bank LOCAL=REMOTE."
            )
        name = memory.context.bank_name(id)
        return [(name, name)]
    pairs: list[tuple[str, str]] = []
    for text in given:
        here, _, there = text.partition("=")
        here, there = here.strip(), there.strip() or here.strip()
        if not here or "all" in (here, there):
            raise InputError(f"{text!r} has no bank.", "Write --bank LOCAL=REMOTE, one by one.")
        pairs.append((here, there))
    return pairs


def _key(url: str) -> str:
    """The key, from a hidden prompt or standard input; never from the command line, which others
    can read."""
    if sys.stdin.isatty():
        return getpass.getpass(f"Key for {url}: ")
    return sys.stdin.readline()


def _print_missing(screen: Screen, tested: RemoteTest | None) -> None:
    if tested and tested.missing:
        known = ", ".join(tested.banks) or "none"
        screen.wrap(f"It has no bank {', '.join(tested.missing)} for this key; it has: {known}.")


def _test(screen: Screen, remotes: Remotes, remote: Remote, as_json: bool) -> None:
    try:
        tested = remotes.check(remote)
    except RemoteError as error:
        raise RemoteError(
            f"{remote.name} ({remote.url}) cannot be queried: {error.message}.",
            error.remedy
            or "Check the address and the key; `holdfast remote remove` and `add` change them.",
        ) from error
    if as_json:
        found = {"ms": tested.ms, "banks": tested.banks, "missing": tested.missing}
        return screen.json({"name": remote.name, **found})
    screen.wrap(
        f"{remote.name} answers in {tested.ms} ms. The key opens {', '.join(tested.banks)}."
    )
    _print_missing(screen, tested)


def _remove(screen: Screen, memory: Holdfast, remotes: Remotes, arguments: Arguments) -> None:
    if not arguments.name_or_url:
        raise InputError("No server is given.", "holdfast remote remove NAME")
    remote = remotes.named(arguments.name_or_url)
    items = memory.reader.outbox.items(remote.name)
    waiting = _counts(items)[OutboxState.WAITING]
    lost = f" {number(waiting, 'record')} would never be sent." if waiting else ""
    question = f"Remove {remote.name} and its key?{lost}"
    if not confirm.confirm_change(screen, arguments.yes, question, False, "what is asked", False):
        return
    with memory.store.transaction():
        for item in items:
            memory.store.outbox.drop(item)
    remotes.remove(remote)
    sentence = f"{remote.name} is no longer queried. Records that you shared there stay there."
    screen.report(arguments.json, {"removed": remote.name}, sentence)


def _list(screen: Screen, memory: Holdfast, remotes: Remotes, as_json: bool) -> None:
    use = memory.settings.remote.use
    found = [(item, *_reached(remotes, item)) for item in remotes.listed()]
    if as_json:
        remotes_json = [
            _remote_json(item, ms, problem) | _counts(memory.reader.outbox.items(item.remote.name))
            for item, ms, problem in found
        ]
        return screen.json({"use": use, "remotes": remotes_json})
    for item, ms, problem in found:
        remote = item.remote
        screen.line(f"{screen.paint(remote.name, 'bold')}  {remote.url}")
        state = f"cannot be queried: {problem}" if problem else f"answers in {ms} ms"
        screen.item(state, "  ")
        banks = ", ".join(h if h == t else f"{h} as {t}" for h, t in remote.banks)
        screen.item(f"{number(len(remote.banks), 'bank')}: {banks}", "  ")
        items = memory.reader.outbox.items(remote.name)
        counted = ", ".join(f"{n} {state}" for state, n in _counts(items).items() if n)
        screen.item(f"shared there: {counted or 'nothing'}", "  ")
        for refused in (p for p in items if p.state is OutboxState.REFUSED):
            screen.item(f"refused: {refused.origin} ({refused.problem})", "  ")
    if not found:
        screen.line(_NO_SERVER)
    if use == OFF:
        screen.wrap('Servers are not queried: remote.use is "off". See docs/remote.md.')


def _push(screen: Screen, done: Mapping[str, PushReport], as_json: bool) -> int:
    if as_json:
        screen.json(done)
    elif not done:
        screen.line(_NO_SERVER)
    else:
        for name, report in done.items():
            screen.wrap(f"{name}: {_describe_push(report)}")
    return 1 if any(report.problem for report in done.values()) else 0


def _describe_push(report: PushReport) -> str:
    """The result of sending, as a sentence."""
    parts = [f"{report.sent} sent"] * bool(report.sent)
    parts += [f"{report.refused} refused (`holdfast remote list` says why)"] * bool(report.refused)
    parts += [f"{report.dropped} forgotten since, and not sent"] * bool(report.dropped)
    parts += [f"{report.waiting} still to be sent"] * bool(report.waiting)
    parts += [report.problem] * bool(report.problem)
    return "; ".join(parts or ["nothing to send"]) + "."


def _counts(items: Sequence[OutboxItem]) -> dict[str, int]:
    counted = Counter(item.state for item in items)
    return {state.value: counted[state] for state in OutboxState}


def _reached(remotes: Remotes, item: RemoteStatus) -> tuple[int, str]:
    try:
        return remotes.check(item.remote, _REACH_TIMEOUT_S).ms, ""
    except RemoteError as error:
        return 0, error.message


def _remote_json(item: RemoteStatus, ms: int, problem: str) -> dict[str, object]:
    return {
        "name": item.remote.name,
        "url": item.remote.url,
        "banks": dict(item.remote.banks),
        "reachable": not problem,
        "problem": problem,
        "ms": ms,
        "resting_until": item.reliability.resting_until if item.is_paused and problem else "",
    }
