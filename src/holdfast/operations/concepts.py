"""Operations that list and open concepts, and keywords."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from holdfast.app.core.context import ALL_BANKS, describe_bank
from holdfast.app.memory import Holdfast
from holdfast.app.search.hit_view import ended_lines
from holdfast.framed_text import one_line
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.curation import Curation
from holdfast.model.kinds import record_kind
from holdfast.model.knowledge import Concept, ConceptEvent, EndedSentence
from holdfast.model.records import Exchange, ExchangeType
from holdfast.model.trust import Trust
from holdfast.model.uris import parse_uri, uri
from holdfast.operations.knowledge import HomeBank, bank_name_of, look_up
from holdfast.operations.operation import Arg, operation
from holdfast.operations.output.records import (
    any_bank,
    excerpt_of,
    print_reference,
)
from holdfast.operations.paging import paginate
from holdfast.operations.parameters import MAX_NAME, Bank, Cursor, Limit
from holdfast.operations.screen import Screen, day, number
from holdfast.operations.shapes import record_from
from holdfast.principal import Level
from holdfast.recall.lookup.endings import RecordEndings
from holdfast.recall.lookup.path import describe_record
from holdfast.recall.lookup.topics import KeywordHit, find_by_keywords, find_concept
from holdfast.store.across_tables.lookup import Record
from holdfast.store.knowledge.concepts import Keyword

# More than any memory holds, and no store refuses it.
_ALL = 1 << 31


class ConceptSummary(NamedTuple):
    """A concept: how many `exchanges` it has, and sentences of its summary that do not hold any
    more (`ended`). `bank` is the name of its bank."""

    uri: str
    name: str
    summary: str
    exchanges: int
    founded: str
    updated: str
    files: tuple[str, ...]
    keywords: tuple[str, ...]
    trust: Trust
    bank: str
    ended: tuple[str, ...]


class ConceptList(NamedTuple):
    """Concepts, the latest changed first."""

    bank: str
    concepts: tuple[ConceptSummary, ...]
    cursor: str | None


class ConceptMember(NamedTuple):
    """A record of a concept; an exchange has a `type`."""

    uri: str
    kind: str
    title: str
    time: str
    type: ExchangeType | None


class ConceptDetails(NamedTuple):
    """A concept with its history, its members, and the decisions of people about it."""

    uri: str
    name: str
    summary: str
    exchanges: int
    founded: str
    updated: str
    files: tuple[str, ...]
    keywords: tuple[str, ...]
    trust: Trust
    bank: str
    ended: tuple[str, ...]
    history: tuple[ConceptEvent, ...]
    members: tuple[ConceptMember, ...]
    decided: tuple[Curation, ...]


# How many files a concept is listed with: about what fits in a line.
_MAX_FILES = 3


def _summary(
    concept: Concept, names: Mapping[str, str], ended: Sequence[EndedSentence]
) -> ConceptSummary:
    known = [parse_uri(member) for member in concept.members]
    return record_from(
        ConceptSummary,
        concept,
        uri=uri("concept", concept.id),
        bank=names.get(concept.bank, concept.bank),
        exchanges=sum(one is not None and one.kind == "exchange" for one in known),
        ended=tuple(ended_lines(concept.updated, ended)),
    )


def _print_concepts(screen: Screen, found: ConceptList, **_: object) -> None:
    if not found.concepts:
        screen.line(f"No concepts in {any_bank(found.bank)} yet.")
        screen.wrap("They group exchanges that share files, words and names.")
        return
    for one in found.concepts:
        screen.line(one_line(one.name), "bold")
        files = f" · {', '.join(one.files[:_MAX_FILES])}" if one.files else ""
        line = f"{number(one.exchanges, 'exchange')} · {day(one.updated)}{files}"
        screen.line("  " + excerpt_of(one, line, screen.width - 2))
        print_reference(screen, one.uri, "  ", bank=one.bank if found.bank == ALL_BANKS else "")
    screen.line(f"{number(len(found.concepts), 'concept')} in {describe_bank(found.bank)}", "dim")


@operation(
    "concepts",
    Level.READ,
    text=_print_concepts,
    examples="""\
  holdfast concepts
  holdfast concepts --bank all --json""",
)
def concepts(
    memory: Holdfast, bank: Bank = "", limit: Limit = 50, cursor: Cursor = ""
) -> ConceptList:
    """List the topics of a project, and what belongs to each

    A concept is a group of exchanges and memories that share files, words and names. The latest
    changed comes first. `concept` shows one; it can be renamed (`correct`), hidden (`forget`) and
    merged with another (`merge`)."""
    known = memory.browse.concepts(bank, _ALL)
    page, more = paginate(known, lambda one: (one.updated, one.id, one.bank), limit, cursor)
    names, endings = memory.context.bank_names(), RecordEndings(memory.reader)
    shown = tuple(_summary(one, names, endings.of(one)) for one in page)
    return ConceptList(bank_name_of(memory, bank), shown, more)


def _print_concept(screen: Screen, found: ConceptDetails, **_: object) -> None:
    screen.line(one_line(found.name), "bold")
    screen.line(found.uri, "cyan")
    screen.wrap(excerpt_of(found, found.summary, len(found.summary)), "  ")
    for line in found.ended:
        screen.wrap(line, "  ")
    for label, values in (("files", found.files), ("keywords", found.keywords)):
        if values:
            screen.item(f"{label}: {one_line(', '.join(values))}", "  ")
    screen.line(f"  trust: {found.trust.value}")
    screen.line(f"  bank: {found.bank}")
    screen.title("history:")
    for event in found.history:
        why = f" ({one_line(event.why)})" if event.why else ""
        screen.item(f"{day(event.time)} {one_line(event.what)}{why}", "  ")
    for entry in found.decided:
        text = f": {excerpt_of(found, entry.text, 100)}" if entry.text else ""
        screen.item(f"{day(entry.time)} {entry.action.value} by {one_line(entry.who)}{text}", "  ")
    screen.title(f"{number(len(found.members), 'member')}:")
    for member in reversed(found.members):
        note = f" [{member.type.value}]" if member.type else ""
        screen.line(f"  {day(member.time)}{note} {excerpt_of(found, member.title, 80)}")
        screen.line(f"    {screen.paint(member.uri, 'cyan')}")


@operation(
    "concept",
    Level.READ,
    rest="GET /concepts/{id:path}",
    text=_print_concept,
    examples="""\
  holdfast concept "nightly import"
  holdfast concept 5c1f0a --json
  holdfast correct concept/5c1f0a "Nightly import retries\"""",
)
def concept(
    memory: Holdfast,
    id: Annotated[
        str,
        Arg("a name, a part of one, or an id", place="NAME", many_words=True, most=MAX_NAME),
    ],
    bank: HomeBank = "",
) -> ConceptDetails:
    """Show a topic, its history, and the records that belong to it

    By its name, a part of the name, its URI, its id or the start of that; of several with such a
    name, the latest changed."""
    reader, context = memory.reader, memory.context
    found = look_up(memory, bank, lambda where: find_concept(reader, context.bank_id(where), id))
    trace = memory.show(uri("concept", found.id), found.bank)
    return ConceptDetails(
        *_summary(found, memory.context.bank_names(), trace.ended),
        found.history,
        tuple(map(_member, trace.below)),
        trace.history,
    )


def _member(record: Record) -> ConceptMember:
    kind = record_kind(record)
    type = record.type if isinstance(record, Exchange) else None
    return ConceptMember(uri(kind, record.id), kind, *describe_record(record), type)


class KeywordList(NamedTuple):
    """The keywords of a bank, the most frequent first."""

    bank: str
    keywords: tuple[Keyword, ...]


def _print_keywords(screen: Screen, found: KeywordList, **_: object) -> None:
    for one in found.keywords:
        counts = ", ".join(number(n, kind) for kind, n in sorted(one.counts.items()))
        screen.line(f"{one_line(one.word):<28} {screen.paint(counts, 'dim')}")
    if not found.keywords:
        screen.line(f"No keywords in {any_bank(found.bank)} yet.")


@operation(
    "keywords",
    Level.READ,
    text=_print_keywords,
    examples="""\
  holdfast keywords
  holdfast keywords --limit 200 --json""",
)
def keywords(memory: Holdfast, bank: Bank = "", limit: Limit = 50) -> KeywordList:
    """List the keywords of facts, memories, concepts and exchanges

    The most frequent first, each with the number of records of each kind. `keyword` lists the
    records that have one."""
    id = memory.context.bank_id(bank)
    found = memory.reader.concepts.keywords(id, limit)
    return KeywordList(memory.context.bank_name(id), tuple(found))


class KeywordLeads(NamedTuple):
    """The records that have all of some words as keywords, the latest of each kind first; `counts`
    is how many there are of each kind."""

    bank: str
    words: str
    leads: tuple[KeywordHit, ...]
    counts: dict[str, int]


def _print_keyword(screen: Screen, found: KeywordLeads, **_: object) -> None:
    kind = ""
    for lead in found.leads:
        if lead.kind != kind:
            kind = lead.kind
            screen.line(f"{kind} ({found.counts[kind]})", "bold")
        screen.line(f"  {day(lead.time)} {excerpt_of(lead, lead.title, screen.width - 14)}")
        bank = lead.bank if found.bank == ALL_BANKS else ""
        note = screen.paint(f" · {bank}", "dim") if bank else ""
        screen.line(f"    {screen.paint(lead.uri, 'cyan')}{note}")
    if not found.leads:
        screen.line(f"No keyword {found.words!r} in {any_bank(found.bank)}.")
        screen.wrap(f"`holdfast recall {found.words}` searches all that was said.")


@operation(
    "keyword",
    Level.READ,
    rest="GET /keywords/leads",
    text=_print_keyword,
    examples="""\
  holdfast keyword retry
  holdfast keyword retry import --json""",
)
def keyword(
    memory: Holdfast,
    words: Annotated[
        str, Arg("one or several words", place="WORD", many_words=True, most=MAX_NAME)
    ],
    bank: Bank = "",
    limit: Annotated[
        int, Arg("how many records of each kind at most", least=1, most=200, metavar="N")
    ] = 10,
) -> KeywordLeads:
    """List the records that have certain words as keywords

    Facts, memories, concepts and exchanges that have all of the words, in any form; the latest of
    each kind first."""
    id, names = memory.context.bank_id(bank), memory.context.bank_names()
    found = find_by_keywords(memory.reader, id, words, limit)
    leads = tuple(one._replace(bank=names.get(one.bank, one.bank)) for one in found.leads)
    return KeywordLeads(memory.context.bank_name(id), words, leads, found.counts)
