"""`holdfast recall`."""

from __future__ import annotations

import argparse

from holdfast.app.reading import open_reading
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.screen import Screen, day, plain
from holdfast.language import cut
from holdfast.model.query import Hit, Layer, Recalled

HELP = """\
Find the records that speak of something: turns, exchanges, digests and commits.

Every hit has a URI that `holdfast show` opens. When nothing clears the relevance
floor, recall says so instead of showing the least bad."""

EXAMPLES = """\
  holdfast recall retry backoff
  holdfast recall "why did the cache go stale" --limit 5
  holdfast recall src/ui/rest.js --layer transcripts --json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    parser.add_argument("query", nargs="+", metavar="QUERY", help="words, names, files, errors")
    parser.add_argument(
        "--limit", type=options.positive, default=10, metavar="N", help="how many (default: 10)"
    )
    parser.add_argument("--explain", action="store_true", help="show why each hit ranks as it does")
    options.add_layer(parser)
    options.add_bank(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run this command."""
    query = options.words(arguments.query, "query")
    screen = Screen()
    with open_reading() as memory:
        found = memory.recall(
            query, arguments.bank, [Layer(name) for name in arguments.layer], arguments.limit
        )
        hint = memory.no_bank() if memory.bank_id(arguments.bank) == "" else ""
    if arguments.json:
        screen.json(_contract(found))
    else:
        _print(screen, found, arguments.explain)
        if hint:
            screen.wrap(hint)
    return 0


def _contract(found: Recalled) -> dict[str, object]:
    whole = plain(found)
    for hit in (*whole["hits"], *whole["misses"]):
        del hit["bank"]
    return whole


def _print(screen: Screen, found: Recalled, explain: bool) -> None:
    if found.abstained:
        screen.line(f"Nothing in {found.bank} speaks of this.")
        for miss in found.misses:
            screen.wrap(f"nearest: {cut(miss.text, 120)} ({miss.uri})", "  ", "    ")
        return
    for hit in found.hits:
        _print_hit(screen, hit, explain)
    arms = ", ".join(f"{s.name} found {s.found} in {s.ms:.0f} ms" for s in found.strategies)
    screen.line(screen.paint(f"{len(found.hits)} of bank {found.bank}; {arms}", "dim"))


def _print_hit(screen: Screen, hit: Hit, explain: bool) -> None:
    head = f"{hit.score:.2f}  {hit.kind} · {day(hit.time)} · {hit.trust.value}"
    screen.line(f"{screen.paint(head, 'bold')}  {screen.paint(hit.uri, 'cyan')}")
    screen.wrap(cut(hit.text, 320), "      ")
    if explain:
        why = ", ".join(f"{name} {value:g}" for name, value in hit.why.items())
        screen.line(screen.paint(f"      why: {why}", "dim"))
    if hit.source.path:
        screen.line(screen.paint(f"      {hit.source.path}:{hit.source.line}", "dim"))
    screen.line()
