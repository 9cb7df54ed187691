"""`holdfast keywords`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from holdfast.app.core.context import describe_bank
from holdfast.app.memory import open_memory
from holdfast.app.search import json_shapes
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, day, number
from holdfast.language import truncate
from holdfast.recall.lookup.topics import KeywordHits
from holdfast.store.knowledge.concepts import Keyword

HELP = """\
List the keywords of facts, memories, concepts and exchanges, the most frequent first. With
words: the records that have all of them as keywords, in any form.

--json prints {"bank", "keywords": [{"word", "stem", "counts"}]}, or with words
{"words", "counts", "leads": [{"uri", "kind", "title", "time", "bank"}]}."""

EXAMPLES = """\
  holdfast keywords
  holdfast keywords retry
  holdfast keywords retry import --json"""


def configure(parser: Parser) -> None:
    parser.add_argument("words", nargs="*", metavar="WORD", help="what to look up")
    options.add_limit(
        parser,
        None,
        "how many keywords (default: 50); with words, how many records of each kind (default: 10)",
    )
    options.add(parser, "bank", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    words = " ".join(arguments.words)
    with open_memory(create=False) as memory:
        id = memory.context.bank_id(arguments.bank)
        bank = memory.context.bank_name(id)
        names = memory.context.bank_names()
        hint = memory.context.missing_bank_hint(id)
        if words:
            found = memory.browse.keyword(words, arguments.bank, arguments.limit or 10)
            return _print_leads(screen, found, bank, names, hint, arguments.json)
        listed = memory.browse.keywords(arguments.bank, arguments.limit or 50)
        return _print_list(screen, listed, bank, hint, arguments.json)


def _print_leads(
    screen: Screen, found: KeywordHits, bank: str, names: Mapping[str, str], hint: str, json: bool
) -> None:
    if json:
        return screen.json(json_shapes.keyword_hits_json(found, bank, names))
    if not found.leads:
        screen.line(f"No keyword {found.words!r} in {describe_bank(bank)}.")
        screen.wrap(hint or f"`holdfast recall {found.words}` searches all that was said.")
        return
    kind = ""
    for lead in found.leads:
        if lead.kind != kind:
            kind = lead.kind
            screen.line(f"{kind} ({found.counts[kind]})", "bold")
        screen.line(f"  {day(lead.time)} {truncate(lead.title, screen.width - 14)}")
        screen.line(f"    {screen.paint(lead.uri, 'cyan')}")


def _print_list(
    screen: Screen, listed: Sequence[Keyword], bank: str, hint: str, json: bool
) -> None:
    if json:
        return screen.json({"bank": bank, "keywords": listed})
    if not listed:
        screen.line(f"No keywords in {describe_bank(bank)} yet.")
        screen.wrap(hint or "`holdfast ingest` reads your sessions.")
        return
    for keyword in listed:
        counts = ", ".join(number(n, kind) for kind, n in sorted(keyword.counts.items()))
        screen.line(f"{keyword.word:<28} {screen.paint(counts, 'dim')}")
