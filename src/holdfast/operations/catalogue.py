"""Records of one kind as a list: rules, facts, concepts, opinions, memories, patterns, shared and
imported records, and what was forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Annotated, Any

from holdfast.app.memory import Holdfast
from holdfast.framed_text import one_line
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.curation import Action, Curation, in_effect
from holdfast.model.kinds import record_kind
from holdfast.model.knowledge import Concept, Kind, Pattern, Rule
from holdfast.model.opinions import Opinion
from holdfast.model.trust import ENDED_STATUSES, Status
from holdfast.model.uris import parse_uri, uri
from holdfast.operations.operation import Arg, operation
from holdfast.operations.output.records import any_bank, excerpt_of, home_note, print_record_head
from holdfast.operations.paging import bank_names_of, paginate
from holdfast.operations.parameters import MAX_QUESTION, AnyBank, Cursor, Limit
from holdfast.operations.screen import Screen, day
from holdfast.principal import Level
from holdfast.recall.lookup.endings import RecordEndings
from holdfast.recall.lookup.path import describe_record
from holdfast.store.protocol import Reader, Store

# The first read takes this many times what a page needs, each further one so many times as many;
# above the most a page has what was found, so that a filter that matches almost nothing does not
# read a huge memory whole.
_FIRST_READ, _GROWTH, _MOST_READ = 2, 8, 20_000
_MAX_TEXT, _INDENT = 320, " " * 6


class Section(StrEnum):
    """The lists of records."""

    RULES = "rules"
    FACTS = "facts"
    CONCEPTS = "concepts"
    OPINIONS = "opinions"
    MEMORIES = "memories"
    PATTERNS = "patterns"
    SHARED = "shared"
    IMPORTED = "imported"
    FORGOTTEN = "forgotten"


class ForgottenRecord(NamedTuple):
    """A record that was forgotten or merged: its text ("" if unknown), who hid it and when, and
    the URI of the record it was merged into."""

    uri: str
    bank: str
    kind: str
    text: str
    time: str
    who: str
    into: str


class RecordList(NamedTuple):
    """Records of a section: rules as in their files, opinions and patterns by confidence, others
    the latest first. `ended` says of some why they do not hold any more, by their URIs; `banks` are
    the names of their banks, by id."""

    bank: str
    records: tuple[Any, ...]
    ended: dict[str, str]
    banks: dict[str, str]
    cursor: str | None


def print_listed(screen: Screen, found: RecordList, *, section: Section, **_: object) -> None:
    """Print records."""
    for one in found.records:
        status, sure = getattr(one, "status", ""), getattr(one, "confidence", None)
        text, time = describe(one)
        by = f"by {one_line(one.who)}" if isinstance(one, ForgottenRecord) else ""
        parts = (str(status), "" if sure is None else f"{sure:.2f}", day(time), by)
        head = " · ".join(filter(None, parts)) + home_note(found.bank, found.banks, one.bank)
        print_record_head(screen, head, uri_of(one))
        screen.wrap(excerpt_of(one, text, _MAX_TEXT), _INDENT)
    if not found.records:
        screen.line(f"No {section} in {any_bank(found.bank)}.")


@operation(
    "records",
    Level.READ,
    text=print_listed,
    examples="""\
  holdfast records rules
  holdfast records facts --all --words importer
  holdfast records forgotten""",
)
def records(
    memory: Holdfast,
    section: Annotated[Section, Arg("which records", place="SECTION")],
    status: Annotated[Status | None, Arg("only records of this status")] = None,
    all: Annotated[bool, Arg("also records that do not hold any more")] = False,
    kind: Annotated[Kind | None, Arg("only facts and memories that say this kind")] = None,
    words: Annotated[
        str, Arg("only records that have all of these words", metavar="WORDS", most=MAX_QUESTION)
    ] = "",
    domain: Annotated[
        str, Arg("only rules and patterns of this subject", metavar="NAME", most=100)
    ] = "",
    bank: AnyBank = "all",
    limit: Limit = 50,
    cursor: Cursor = "",
) -> RecordList:
    """List records of one kind, e.g. rules or what was forgotten

    With their status, confidence and evidence, where they have one. What was forgotten or merged
    can be brought back (`restore`)."""
    wanted, store, most = words.lower().split(), memory.store, _FIRST_READ * limit
    while True:
        known = [
            one
            for id in memory.context.bank_ids(bank)
            for one in _read(memory, section, id, most, kind)
        ]
        matching = [
            one
            for one in known
            if _has_status(one, status, all)
            and domain in ("", getattr(one, "domain", None))
            and (not wanted or _has_words(_with_text(store, one), wanted))
        ]
        is_in_files = section is Section.RULES
        page, more = paginate(
            matching, _place if is_in_files else _rank, limit, cursor, not is_in_files
        )
        if more or len(known) < most or most >= _MOST_READ:
            break
        most *= _GROWTH
    endings = RecordEndings(memory.reader)
    holding = (one for one in page if not isinstance(one, ForgottenRecord | Opinion))
    labels = {uri_of(one): endings.label(one, describe(one)[0]) for one in holding}
    return RecordList(
        memory.context.bank_name(memory.context.bank_id(bank)),
        tuple(_with_text(store, one) for one in page),
        {name: label for name, label in labels.items() if label},
        bank_names_of(memory, page),
        more,
    )


def _read(
    memory: Holdfast, section: Section, bank: str, most: int, kind: Kind | None
) -> Iterable[Any]:
    """The records of a section in a bank. A memory that says mainly what ended has that status."""
    reader: Reader = memory.reader
    match section:
        case Section.FORGOTTEN:
            return _forgotten(memory.store, bank)
        case Section.OPINIONS:
            return memory.opinions.opinions(bank, all=True)
        case Section.RULES:
            return reader.rules.all(bank)
        case Section.FACTS:
            return [fact for fact in reader.facts.all(bank) if kind in (None, fact.kind.says)]
        case Section.CONCEPTS:
            return reader.concepts.latest(bank, most)
        case Section.PATTERNS:
            return reader.rules.patterns(bank)
        case Section.SHARED:
            return reader.shares.all(bank)
        case Section.IMPORTED:
            return reader.imports.all(bank)
        case Section.MEMORIES:
            endings = RecordEndings(reader)
            kept = [] if kind else reader.memories.remembered(bank, most)
            said = reader.memories.retained(bank, limit=most, kind=kind or "")
            return [endings.with_status(one) for one in (*kept, *said)]


def uri_of(record: Any) -> str:
    """The URI of a listed record; that of an opinion is of a memory."""
    if isinstance(record, ForgottenRecord):
        return record.uri
    return uri("memory" if isinstance(record, Opinion) else record_kind(record), record.id)


def describe(one: Any) -> tuple[str, str]:
    """The text of a listed record, and its time."""
    match one:
        case Opinion():
            return one.what, one.updated
        case ForgottenRecord():
            return one.text, one.time
        case Rule():
            return one.text, one.updated
        case Concept():
            return f"{one.name}: {one.summary}", one.updated
        case _:
            return describe_record(one)


def _rank(one: Any) -> tuple[float, str, str, str]:
    sure = one.confidence if isinstance(one, Opinion | Pattern) else 0.0
    return sure, describe(one)[1], uri_of(one), one.bank


def _place(one: Rule) -> tuple[str, str, int, str]:
    return one.bank, one.path, one.line, one.id


def _has_status(one: Any, wanted: Status | None, all: bool) -> bool:
    status = getattr(one, "status", None)
    return status is wanted if wanted else all or status not in ENDED_STATUSES


def _has_words(one: Any, words: list[str]) -> bool:
    more = (getattr(one, "problem", ""), getattr(one, "path", ""), getattr(one, "heading", ""))
    text = " ".join((describe(one)[0], uri_of(one), *more)).lower()
    return all(word in text for word in words)


def _forgotten(store: Store, bank: str) -> Iterator[ForgottenRecord]:
    """What was forgotten or merged, and can be restored."""
    last: dict[str, Curation] = {}
    for entry in in_effect(store.curation.log(bank)):
        if entry.action in (Action.FORGET, Action.MERGE, Action.PURGE, Action.RESTORE):
            last[entry.target] = entry
    for target, entry in last.items():
        named = parse_uri(target)
        if named is None or entry.action not in (Action.FORGET, Action.MERGE):
            continue
        known = store.curation.state(bank, named.kind, named.id)
        if known is not None and known.is_hidden:
            said = known.text or known.was
            made = target, bank, named.kind, said, entry.time, entry.who, known.into
            yield ForgottenRecord(*made)


def _with_text(store: Store, one: Any) -> Any:
    is_unread = isinstance(one, ForgottenRecord) and not one.text
    return one._replace(text=hidden_text(store, one.bank, one.uri)) if is_unread else one


def hidden_text(store: Store, bank: str, name: str) -> str:
    """The text of a hidden record, "" where it is no longer known."""
    named = parse_uri(name)
    kind, id = named if named else ("", "")
    match kind:
        case "memory":
            known = {one.id: one.what for one in store.memories.remembered_uncurated(bank)}
            known |= {one.id: one.what for one in store.opinions.all_uncurated(bank)}
            return known.get(id, "")
        case "turn":
            turn = store.turns.get_uncurated(bank, id)
            return turn.text if turn else ""
        case "commit":
            commit = store.git.commit_uncurated(bank, id)
            return commit.subject if commit else ""
        case "session":
            turns = store.turns.stream_uncurated(bank, id)
            return next((turn.text for turn in turns if turn.text), "")
        case _:
            return ""
