"""`holdfast entities`."""

from __future__ import annotations

from holdfast.app.memory import open_memory
from holdfast.app.search import json_shapes
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, day, number, short
from holdfast.language import truncate
from holdfast.model.graph import EntityKind, LinkKind
from holdfast.model.uris import uri
from holdfast.recall.lookup.entities import EntityDetails

HELP = """\
List the people, components, files and concepts in this project's memory,
those in most records first. With a NAME: one of them, with its other names, the records
that mention it, what is mentioned with it, and how these records are linked.

A NAME is any of its spellings (AuthProvider, "the auth provider", AuthProvider.tsx), or
holdfast://entity/ID. `holdfast entity` merges and splits names.

--json prints {"entities": [...]}, or with a NAME {"entity", "records", "together", "links"}."""

EXAMPLES = """\
  holdfast entities
  holdfast entities --kind person
  holdfast entities AuthProvider
  holdfast entities src/ui/rest.js --json"""

# How many other names an entity is listed with, and how many of its links are printed; --json has
# all of them.
_MAX_ALIASES, _MAX_LINKS, _MAX_ORDINARY_LINKS = 4, 12, 3


def configure(parser: Parser) -> None:
    parser.add_argument("name", nargs="*", metavar="NAME", help="show this one")
    parser.choice("--kind", EntityKind, "only of this kind")
    options.add_limit(parser, 30)
    options.add(parser, "bank", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    name = " ".join(arguments.name).strip()
    with open_memory(create=False) as memory:
        hint = memory.context.missing_bank_hint(memory.context.bank_id(arguments.bank))
        if name:
            about = memory.browse.about_entity(name, arguments.bank, min(arguments.limit, 10))
            return _print_entity(screen, about, arguments.json)
        found = memory.browse.entities(arguments.bank, arguments.kind, arguments.limit)
    if arguments.json:
        return screen.json({"entities": [json_shapes.entity_json(entity) for entity in found]})
    for entity in found:
        line = f"{entity.mentions:>5}  {entity.kind.value:<9}  {entity.name}"
        if entity.aliases:
            aliases = f"({', '.join(entity.aliases[:_MAX_ALIASES])})"
            line += f"  {truncate(aliases, max(20, screen.width - len(line) - 2))}"
        screen.line(line)
    if not found:
        screen.wrap(hint or "No entities are known yet; `holdfast worker` looks for them.")


def _print_entity(screen: Screen, about: EntityDetails, as_json: bool) -> None:
    if as_json:
        return screen.json(json_shapes.entity_details_json(about))
    entity = about.entity
    screen.line(f"{entity.name}  ({entity.kind.value})", "bold")
    screen.line(uri("entity", entity.id), "cyan")
    if entity.aliases:
        screen.item(f"also: {', '.join(entity.aliases)}", "  ")
    screen.title(f"in {number(entity.mentions, 'record')}, the latest:")
    for record in about.records:
        screen.line(f"  {day(record.time)}  {screen.paint(short(record.uri), 'cyan')}")
        screen.wrap(record.title, "      ")
    if about.together:
        screen.line()
        names = ", ".join(f"{t.name} ({t.records})" for t in about.together)
        screen.item(f"together with: {names}")
    _print_links(screen, about)


def _print_links(screen: Screen, about: EntityDetails) -> None:
    """Print the links of each kind. Of those that only say that two records share a name, a meaning
    or a day, fewer are printed: the records above show that."""
    ordinary = (LinkKind.TEMPORAL, LinkKind.ENTITY, LinkKind.SEMANTIC)
    ordered = sorted(LinkKind, key=lambda kind: kind in ordinary)
    lines: list[str] = []
    for kind in ordered:
        most = _MAX_ORDINARY_LINKS if kind in ordinary else _MAX_LINKS
        links = [link for link in about.links if link.kind is kind]
        lines += [
            f"{short(link.source)} {kind.value.replace('_', ' ')} {short(link.target)}"
            + (f"  by {link.via}" if link.via else "")
            for link in links[:most]
        ]
        if len(links) > most:
            lines.append(f"… and {len(links) - most} more {kind.value}, see --json")
    screen.section("links:", lines)
