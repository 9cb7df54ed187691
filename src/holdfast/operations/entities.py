"""Operations about entities: people, components, files and concepts, and their names."""

from __future__ import annotations

from typing import Annotated

from holdfast.app.memory import Holdfast
from holdfast.framed_text import one_line
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.curation import Curation
from holdfast.model.graph import Entity, EntityKind, LinkKind
from holdfast.model.uris import uri
from holdfast.operations.knowledge import HomeBank, bank_name_of, look_up
from holdfast.operations.operation import OWNER, Arg, Call, operation
from holdfast.operations.output.records import any_bank, excerpt_of, home_note
from holdfast.operations.paging import bank_names_of, paginate
from holdfast.operations.parameters import MAX_NAME, Bank, Cursor, Limit
from holdfast.operations.screen import Screen, day, number, short
from holdfast.principal import Level
from holdfast.recall.lookup.entities import EntityDetails, describe_entity

# More than any memory holds, and no store refuses it.
_ALL = 1 << 31
_MAX_TITLE = 200


class EntityList(NamedTuple):
    """Entities, those in most records first. `banks` are the names of their banks, by id."""

    bank: str
    entities: tuple[Entity, ...]
    banks: dict[str, str]
    cursor: str | None


# How many other names an entity is listed with, and how many links of it are printed.
_MAX_ALIASES, _MAX_LINKS, _MAX_ORDINARY_LINKS = 4, 12, 3


def _print_entities(screen: Screen, found: EntityList, **_: object) -> None:
    for one in found.entities:
        line = f"{one.mentions:>5}  {one.kind.value:<9}  {one_line(one.name)}"
        line += home_note(found.bank, found.banks, one.bank)
        if one.aliases:
            aliases = f"({', '.join(one.aliases[:_MAX_ALIASES])})"
            line += f"  {excerpt_of(one, aliases, max(20, screen.width - len(line) - 2))}"
        screen.line(line)
    if not found.entities:
        screen.line(f"No entities in {any_bank(found.bank)} yet; `holdfast worker` looks for them.")


@operation(
    "entities",
    Level.READ,
    text=_print_entities,
    examples="""\
  holdfast entities
  holdfast entities --kind person""",
)
def entities(
    memory: Holdfast,
    kind: Annotated[EntityKind | None, Arg("only of this kind")] = None,
    bank: Bank = "",
    limit: Limit = 50,
    cursor: Cursor = "",
) -> EntityList:
    """List people, components, files and concepts

    Those in most records first, with their other names. `entity` shows one."""
    known = memory.browse.entities(bank, kind or "", _ALL)
    page, more = paginate(known, lambda one: (one.mentions, one.id, one.bank), limit, cursor)
    names = bank_names_of(memory, page)
    return EntityList(bank_name_of(memory, bank), tuple(page), names, more)


_EntityName = Annotated[
    str, Arg("any of its names, its URI or its id", place="NAME", most=MAX_NAME)
]


def _print_entity(screen: Screen, about: EntityDetails, **_: object) -> None:
    entity = about.entity
    screen.line(f"{one_line(entity.name)}  ({entity.kind.value})", "bold")
    screen.line(uri("entity", entity.id), "cyan")
    if entity.aliases:
        screen.item(f"also: {one_line(', '.join(entity.aliases))}", "  ")
    screen.title(f"in {number(entity.mentions, 'record')}, the latest:")
    for record in about.records:
        screen.line(f"  {day(record.time)}  {screen.paint(short(record.uri), 'cyan')}")
        screen.wrap(excerpt_of(record, record.title, _MAX_TITLE), " " * 6)
    if about.together:
        screen.line()
        names = ", ".join(f"{t.name} ({t.records})" for t in about.together)
        screen.item(f"together with: {one_line(names)}")
    _print_links(screen, about)


def _print_links(screen: Screen, about: EntityDetails) -> None:
    """Print the links of each kind. Of those that only say that two records share a name, a meaning
    or a day, fewer are printed: the records above show that."""
    ordinary = (LinkKind.TEMPORAL, LinkKind.ENTITY, LinkKind.SEMANTIC)
    lines: list[str] = []
    for kind in sorted(LinkKind, key=lambda kind: kind in ordinary):
        most = _MAX_ORDINARY_LINKS if kind in ordinary else _MAX_LINKS
        links = [link for link in about.links if link.kind is kind]
        lines += [
            f"{short(link.source)} {kind.value.replace('_', ' ')} {short(link.target)}"
            + (f"  by {one_line(link.via)}" if link.via else "")
            for link in links[:most]
        ]
        if len(links) > most:
            lines.append(f"… and {len(links) - most} more {kind.value}, in JSON")
    screen.section("links:", lines)


@operation(
    "entity",
    Level.READ,
    rest="GET /entities/about",
    text=_print_entity,
    examples="""\
  holdfast entity AuthProvider
  holdfast entity src/ui/rest.js --json
  holdfast entity merge "Ann Ex" ann-dev""",
)
def entity(
    memory: Holdfast,
    name: Annotated[
        str,
        Arg("any of its names, its URI or its id", place="NAME", many_words=True, most=MAX_NAME),
    ],
    bank: HomeBank = "",
    limit: Annotated[int, Arg("how many records at most", least=1, most=200, metavar="N")] = 10,
) -> EntityDetails:
    """Show a person, component or file, and where it is mentioned

    By any of its spellings (AuthProvider, "the auth provider", AuthProvider.tsx), its URI or its
    id: its other names, the latest records, what is mentioned with it, and how these records are
    linked. `correct` renames it, `forget` hides it."""
    from holdfast.recall.links.similar_records import SimilarRecords

    found = look_up(memory, bank, lambda where: memory.browse.entity(name, where))
    similar = SimilarRecords(memory.reader, found.bank, memory.settings.vectors)
    return describe_entity(memory.reader, found, limit, similar)


class EntityDecision(NamedTuple):
    """What was decided about an entity, and the entity as it is now."""

    decision: Curation
    entity: Entity


def _print_entity_decision(screen: Screen, made: EntityDecision, **_: object) -> None:
    entity = made.entity
    aliases = f", also {one_line(', '.join(entity.aliases))}" if entity.aliases else ""
    screen.wrap(f"{one_line(entity.name)}{aliases}  {uri('entity', entity.id)}")
    screen.line("`holdfast undo` undoes this.")


@operation(
    "entity merge",
    Level.WRITE,
    rest="POST /entities/merge",
    text=_print_entity_decision,
    examples="""\
  holdfast entity merge "Ann Ex" ann-dev""",
)
def merge_entities(
    memory: Holdfast,
    name: _EntityName,
    into: Annotated[
        str, Arg("the entity that it is, by any of its names", place="INTO", most=MAX_NAME)
    ],
    bank: Bank = "",
    call: Call = OWNER,
) -> EntityDecision:
    """Make two entities one: their names mean the same

    Each is given by any of its names, its URI or its id. The decision is kept when everything is
    read and derived again; `undo` undoes it."""
    decision = memory.curation.merge_entities(name, into, bank, call.who)
    return EntityDecision(decision, memory.browse.entity(into, bank))


@operation(
    "entity split",
    Level.WRITE,
    rest="POST /entities/split",
    text=_print_entity_decision,
    examples="""\
  holdfast entity split AuthProvider "auth provider\"""",
)
def split_entity(
    memory: Holdfast,
    name: _EntityName,
    alias: Annotated[str, Arg("the name that means something else", place="ALIAS", most=MAX_NAME)],
    bank: Bank = "",
    call: Call = OWNER,
) -> EntityDecision:
    """Make one of an entity's names an entity of its own

    The decision is kept when everything is read and derived again; `undo` undoes it."""
    decision = memory.curation.split_entity(name, alias, bank, call.who)
    return EntityDecision(decision, memory.browse.entity(name, bank))
