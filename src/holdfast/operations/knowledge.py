"""Operations that list what is known: facts, memories, opinions and commits; and the audit, which
compares it with the code. Concepts, entities and sessions have their own."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, TypeVar, cast

from holdfast.app.core.context import ALL_BANKS, describe_bank
from holdfast.app.memory import Holdfast
from holdfast.app.search.audit import Audit
from holdfast.app.search.audit import audit as audit_records
from holdfast.errors import NotFoundError
from holdfast.framed_text import one_line
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.knowledge import Fact, Kind, Memory
from holdfast.model.opinions import Opinion, OpinionChange
from holdfast.model.team import Commit
from holdfast.model.trust import ENDED_STATUSES, Status
from holdfast.model.uris import uri
from holdfast.operations.operation import Arg, Work, operation
from holdfast.operations.output.records import (
    any_bank,
    excerpt_of,
    home_note,
    print_record_head,
)
from holdfast.operations.paging import Page, bank_names_of, latest_records, paginate
from holdfast.operations.parameters import Bank, Cursor, Limit
from holdfast.operations.screen import Screen, day, minute, number, short
from holdfast.principal import Level
from holdfast.recall.lookup.endings import RecordEndings

T = TypeVar("T")
# More than any memory holds, and no store refuses it.
_ALL = 1 << 31
_INDENT = " " * 6
# The start of a text: about three lines; of a problem or a title: about two.
_MAX_TEXT, _MAX_TITLE = 320, 200


class KnowledgeKind(StrEnum):
    """The kinds of facts, and the kinds of what memories and facts say."""

    RULE = "rule"
    SOLUTION = "solution"
    CORE_LOGIC = "core_logic"
    DECISION = "decision"
    PREFERENCE = "preference"
    LESSON = "lesson"
    FACT = "fact"
    OUTCOME = "outcome"
    TODO = "todo"


# An item that is looked for by its name.
HomeBank = Annotated[
    str,
    Arg(
        "the name or id of a bank, or `all` (default: the project of this folder, then all)",
        most=200,
        metavar="BANK",
    ),
]


def bank_name_of(memory: Holdfast, bank: str) -> str:
    """The name of a bank, or "all"."""
    return memory.context.bank_name(memory.context.bank_id(bank))


def look_up(memory: Holdfast, bank: str, find: Callable[[str], T]) -> T:
    """What `find` finds in a bank; where none is given in that of this folder, else in all."""
    home = memory.context.scope(bank)
    try:
        return find(home)
    except NotFoundError:
        if bank or home == ALL_BANKS:
            raise
        return find(ALL_BANKS)


class FactList(NamedTuple):
    """Facts, then the memories of the same kind (`statements`). `dropped` is how many claims became
    no fact, by reason, and `counts` how many memories there are of each kind. `banks` are the names
    of their banks, by id."""

    bank: str
    facts: tuple[Fact, ...]
    statements: tuple[Memory, ...]
    dropped: dict[str, int]
    counts: dict[str, int]
    banks: dict[str, str]
    cursor: str | None


_NO_FACTS = (
    "People's lasting rules, and what took several attempts, become facts as sessions are read."
)


def _print_facts(
    screen: Screen, found: FactList, *, kind: KnowledgeKind | None = None, **_: object
) -> None:
    for fact in found.facts:
        _print_fact(screen, fact, home_note(found.bank, found.banks, fact.bank))
    for one in found.statements:
        _print_memory(screen, one, home_note(found.bank, found.banks, one.bank))
    counted = f"{number(len(found.facts), 'fact')} in {describe_bank(found.bank)}"
    said = len(found.statements)
    counted += f", {number(said, 'memory', 'memories')} from sessions" if said else ""
    screen.line(f"{counted}.", "dim")
    if found.counts and kind is None:
        listed = ", ".join(f"{one} {found.counts[one]:,}" for one in Kind if one in found.counts)
        most = max(found.counts, key=lambda one: found.counts[one])
        screen.wrap(
            f"Memories from sessions: {listed}. `holdfast facts --kind {most}` lists those."
        )
    elif not (found.facts or found.statements):
        screen.wrap(_NO_FACTS)


def _print_fact(screen: Screen, fact: Fact, home: str) -> None:
    kind = fact.kind.value.replace("_", " ")
    head = f"{kind} · {fact.status.value} · confidence {fact.confidence:.2f}"
    head += f" · {number(len(fact.evidence), 'record')} for it"
    head += f", {len(fact.against)} against" if fact.against else ""
    head += f" · last confirmed {day(fact.last_validated)}{home}"
    print_record_head(screen, head, uri("fact", fact.id))
    if fact.problem:
        attempts = f" ({fact.attempts} attempts)" if fact.attempts else ""
        problem = excerpt_of(fact, fact.problem, _MAX_TITLE)
        screen.wrap(f"problem: {problem}{attempts}", _INDENT)
    screen.wrap(excerpt_of(fact, fact.content, _MAX_TEXT), _INDENT)
    if fact.superseded_by:
        screen.line(f"{_INDENT}{fact.status.value} by {fact.superseded_by}")
    for name in fact.supersedes:
        screen.line(f"{_INDENT}changes {name}")


def _print_memory(screen: Screen, one: Memory, home: str) -> None:
    head = f"{one.kind or one.network} · {day(one.when)}"
    head += f" · {one.status.value}" if one.status in ENDED_STATUSES else ""
    head += f" · in {one.seen} sessions" if one.seen > 1 else ""
    is_named = one.who and (one.who == "user" or one.kind is None)
    head += f" · by {one_line(one.who)}" if is_named else ""
    print_record_head(screen, f"{head}{home}", uri("memory", one.id))
    screen.wrap(excerpt_of(one, one.what, _MAX_TEXT), _INDENT)


@operation(
    "facts",
    Level.READ,
    text=_print_facts,
    examples="""\
  holdfast facts
  holdfast facts --kind decision
  holdfast facts --kind rule --all
  holdfast facts --kind lesson
  holdfast facts --json""",
)
def facts(
    memory: Holdfast,
    kind: Annotated[
        KnowledgeKind | None, Arg("only this kind, with the memories of that kind")
    ] = None,
    all: Annotated[bool, Arg("also superseded and retracted ones")] = False,
    bank: Bank = "",
    limit: Limit = 50,
    cursor: Cursor = "",
) -> FactList:
    """List decisions, rules, lessons, outcomes and open tasks

    Lasting knowledge, the latest first: rules that people stated, solutions of problems that took
    several attempts, and how the core works. Each has its status, its confidence, the records for
    and against it, and when it was last confirmed. `holdfast show` opens one.

    With a kind, then also the memories of that kind from sessions, the latest first: decisions,
    rules, preferences, lessons, facts, outcomes and open tasks (todo). Without it they are only
    counted. As a kind, `lesson` includes solutions, and `fact` core logic."""
    name = kind.value if kind else ""
    known: list[Fact | Memory] = [*memory.browse.facts(bank, name, all)]
    if name in set(Kind):
        endings = RecordEndings(memory.reader)
        known += (one for one in _retained(memory, bank, name) if not endings.of(one, one.what))
    page, more = paginate(known, _fact_key, limit, cursor)
    id = memory.context.bank_id(bank)
    counts: dict[str, int] = {}
    for one in memory.context.bank_ids(bank):
        for said, count in memory.reader.memories.counts_by_kind(one).items():
            counts[said] = counts.get(said, 0) + count
    return FactList(
        memory.context.bank_name(id),
        tuple(one for one in page if isinstance(one, Fact)),
        tuple(one for one in page if isinstance(one, Memory)),
        memory.reader.facts.dropped_claims(id),
        counts,
        bank_names_of(memory, page),
        more,
    )


def _retained(memory: Holdfast, bank: str, kind: str) -> list[Memory]:
    """What sessions said of a kind, without tasks that were done."""
    ids, read = memory.context.bank_ids(bank), memory.reader.memories.retained
    return [one for id in ids for one in read(id, limit=_ALL, kind=kind, only_open=True)]


def _fact_key(one: Fact | Memory) -> tuple[int, str, str, str]:
    """Facts come first."""
    if isinstance(one, Fact):
        return 1, one.validity.learned, one.id, one.bank
    return 0, one.when, one.id, one.bank


class MemoryList(NamedTuple):
    """Memories, the latest first. `banks` are the names of their banks, by id."""

    bank: str
    memories: tuple[Memory, ...]
    banks: dict[str, str]
    cursor: str | None


def _print_memories(screen: Screen, found: MemoryList, **_: object) -> None:
    for one in found.memories:
        _print_memory(screen, one, home_note(found.bank, found.banks, one.bank))
    if not found.memories:
        screen.line(f"No memories in {any_bank(found.bank)}.")


@operation(
    "memories",
    Level.READ,
    text=_print_memories,
    examples="""\
  holdfast memories
  holdfast memories --kind decision --bank all""",
)
def memories(
    memory: Holdfast,
    kind: Annotated[Kind | None, Arg("only this kind, without tasks that were done")] = None,
    bank: Bank = "",
    limit: Limit = 50,
    cursor: Cursor = "",
) -> MemoryList:
    """List what sessions said, and what people asked to remember

    The latest first. A memory that says mainly what does not hold any more has the status of
    that."""
    if kind is None:
        page, more = cast(Page[Memory], latest_records(memory, "memory", bank, limit, cursor))
    else:
        known = _retained(memory, bank, kind)
        page, more = paginate(known, lambda one: (one.when, one.id, one.bank), limit, cursor)
        endings = RecordEndings(memory.reader)
        page = [cast(Memory, endings.with_status(one)) for one in page]
    names = bank_names_of(memory, page)
    return MemoryList(bank_name_of(memory, bank), tuple(page), names, more)


class OpinionList(NamedTuple):
    """Opinions, the most confident first; or how they changed, the latest change first. `banks` are
    the names of the banks of the opinions, by id."""

    bank: str
    opinions: tuple[Opinion, ...]
    changes: tuple[OpinionChange, ...]
    banks: dict[str, str]
    cursor: str | None


def _print_opinions(
    screen: Screen, found: OpinionList, *, changes: bool = False, **_: object
) -> None:
    for one in found.changes:
        before = f"{one.before:.2f} → " if one.before is not None else ""
        head = f"{minute(one.time)}  {one.note} {before}{one.confidence:.2f}"
        screen.line(f"{head}  {screen.paint(short(one.uri), 'cyan')}")
        screen.wrap(excerpt_of(one, one.what, len(one.what)), _INDENT)
    for one in found.opinions:
        _print_opinion(screen, one, home_note(found.bank, found.banks, one.bank))
    if not (found.changes or found.opinions):
        screen.line(f"No {'changed ' if changes else ''}opinions in {any_bank(found.bank)} yet.")
        screen.wrap("`holdfast retain --network opinion` states one; so does a model in `reflect`.")


def _print_opinion(screen: Screen, o: Opinion, home: str) -> None:
    states = [o.trend.value, *["faded"] * (o.status is Status.RETRACTED)]
    what = screen.paint(excerpt_of(o, o.what, len(o.what)), "bold")
    screen.wrap(f"{o.confidence:.2f}  {what} ({', '.join(states)})")
    if o.why:
        screen.wrap(excerpt_of(o, o.why, len(o.why)), _INDENT)
    against = f", {len(o.evidence_against)} against" if o.evidence_against else ""
    screen.line(
        f"{_INDENT}{len(o.evidence_for)} for{against}, latest {day(o.latest)}{home}  "
        f"{screen.paint(short(uri('memory', o.id)), 'cyan')}"
    )


@operation(
    "opinions",
    Level.READ,
    text=_print_opinions,
    examples="""\
  holdfast opinions
  holdfast opinions --changes         which opinions changed, and when
  holdfast opinions --all --json      also those with low confidence""",
)
def opinions(
    memory: Holdfast,
    all: Annotated[bool, Arg("also opinions whose confidence fell below 0.4")] = False,
    changes: Annotated[
        bool, Arg("instead, when opinions were formed, strengthened and weakened")
    ] = False,
    bank: Bank = "",
    limit: Limit = 50,
    cursor: Cursor = "",
) -> OpinionList:
    """List opinions, with confidence and evidence

    The most confident first. They are what somebody retained in the network `opinion`, and what a
    model's reflection believes. Each has a confidence, a trend (new, strengthening, stable,
    weakening, stale) and evidence for and against. `show` opens its history; `correct` and
    `forget` work as on any record."""
    name = bank_name_of(memory, bank)
    if changes:
        made = memory.opinions.changes(bank, _ALL)
        latest, more = paginate(
            made, lambda one: (one.time, one.uri, one.confidence), limit, cursor
        )
        return OpinionList(name, (), tuple(latest), {}, more)
    known = memory.opinions.opinions(bank, all)
    page, more = paginate(known, lambda one: (one.confidence, one.id, one.bank), limit, cursor)
    return OpinionList(name, tuple(page), (), bank_names_of(memory, page), more)


class CommitList(NamedTuple):
    """Commits, the latest first. `banks` are the names of their banks, by id."""

    bank: str
    commits: tuple[Commit, ...]
    banks: dict[str, str]
    cursor: str | None


def _print_commits(screen: Screen, found: CommitList, **_: object) -> None:
    for one in found.commits:
        home = home_note(found.bank, found.banks, one.bank)
        screen.line(excerpt_of(one, one.subject, _MAX_TITLE), "bold")
        name = screen.paint(short(uri("commit", one.id)), "cyan")
        screen.line(f"  {day(one.time)} · {one_line(one.author)}{home}  {name}")
    if not found.commits:
        screen.line(f"No commits in {any_bank(found.bank)}.")
        screen.wrap("`holdfast ingest REPOSITORY` reads the history of a repository.")


@operation(
    "commits",
    Level.READ,
    text=_print_commits,
    examples="""\
  holdfast commits --limit 10""",
)
def commits(
    memory: Holdfast, bank: Bank = "", limit: Limit = 50, cursor: Cursor = ""
) -> CommitList:
    """List the commits of all histories that were read

    The latest first. `show` has the details of one."""
    found = latest_records(memory, "commit", bank, limit, cursor)
    page, more = cast(Page[Commit], found)
    names = bank_names_of(memory, page)
    return CommitList(bank_name_of(memory, bank), tuple(page), names, more)


def print_audit(screen: Screen, found: Audit, **_: object) -> None:
    """Print the records whose code changed, then how many there are of each sort."""
    for one in found.stale:
        home = f" · {one.bank}" if found.bank == ALL_BANKS else ""
        head = f"{one.freshness.value}  {one.kind} · {day(one.time)}{home}"
        print_record_head(screen, head, one.uri)
        screen.wrap(excerpt_of(one, one.title, _MAX_TITLE), "    ")
        for file in one.files:
            screen.item(f"- {one_line(file.description)}", "    ")
        screen.line()
    if not found.histories:
        screen.wrap(
            f"No git history was read into {any_bank(found.bank)}, so the memory cannot be "
            "compared with the code: `holdfast ingest REPOSITORY` reads one."
        )
        return
    if not (found.outdated or found.fresh or found.unknown or found.about_no_file):
        screen.wrap(
            f"There are no facts, memories, decisions or rules to check in {any_bank(found.bank)}."
        )
        return
    hidden = found.outdated - len(found.stale)
    more = f" ({hidden:,} of them not shown)" if hidden > 0 else ""
    screen.wrap(
        f"Of the records in {describe_bank(found.bank)}, {found.outdated:,} are about code that "
        f"changed since{more}, and {found.fresh:,} about unchanged code. Not checked: "
        f"{found.unknown:,} about files without a known history, {found.about_no_file:,} about no "
        "file."
    )


@operation(
    "audit",
    Level.READ,
    work=Work.RUN,
    text=print_audit,
    examples="""\
  holdfast audit
  holdfast audit --file src/billing/
  holdfast audit --file retry.py --json""",
)
def audit(
    memory: Holdfast,
    file: Annotated[
        str,
        Arg(
            "only records about this file (a path, the end of one, or a folder/)",
            most=1_000,
            metavar="F",
        ),
    ] = "",
    bank: Bank = "",
    limit: Limit = 50,
) -> Audit:
    """List memories about code that has changed since

    Compares the memory with the code of today: facts, memories, decisions and rules whose files
    were changed, renamed or deleted since, the most changed first. Records without a file that is
    in a git history are only counted; the history must have been read. A record that was
    confirmed (`confirm`) is not listed again until its code changes again."""
    id, names = memory.context.bank_id(bank), memory.context.bank_names()
    found = audit_records(memory.reader, id, file)
    shown = (one._replace(bank=names.get(one.bank, one.bank)) for one in found.stale[:limit])
    return found._replace(bank=memory.context.bank_name(id), stale=tuple(shown))
