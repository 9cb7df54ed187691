"""Finding records by words or by filters, as an index: what each is about and what it costs to
read; the texts on request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated

from holdfast.app.core.context import ALL_BANKS, describe_bank, relative_to_project
from holdfast.app.memory import Holdfast
from holdfast.app.search.browse import days_before, left_out_note
from holdfast.app.search.hit_view import ended_lines
from holdfast.errors import InputError
from holdfast.framed_text import defang, one_line, outside_note
from holdfast.language import cut, truncate
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.imports import ImportedRecord
from holdfast.model.kinds import is_from_outside, knowledge_kind, record_kind
from holdfast.model.knowledge import Fact, Kind, Memory
from holdfast.model.query import Layer, matches_path
from holdfast.model.records import Digest, Exchange, ExchangeType, Turn
from holdfast.model.trust import Status, Trust
from holdfast.model.uris import uri
from holdfast.operations.operation import Arg, Work, operation
from holdfast.operations.output.records import print_reference
from holdfast.operations.parameters import MAX_QUESTION, Bank, Limit, Since, Until
from holdfast.operations.screen import Screen, minute, number
from holdfast.principal import Level
from holdfast.recall.core.plan import Budget, RecallPlan
from holdfast.recall.lookup.endings import RecordEndings
from holdfast.recall.lookup.path import describe_record
from holdfast.recall.query.iso_dates import read_iso_span
from holdfast.recall.ranking.hits import estimate_tokens
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Reader

# The text of one record is cut here: about a seventh of what a tool may return.
MAX_RECORD_CHARS = 4_000
_MAX_PATH = 1_000
_MAX_DAYS, _MAX_OFFSET = 100_000, 10_000
# Ranked candidates of a query before filters are applied; with fewer, a narrow filter may find
# nothing although something matches. And the records that filters alone may give.
_MAX_RANKED, _MAX_FILTERED, _NO_LIMIT = 200, 1_000, 1 << 30
# Tools, files and exchanges that are listed with a session, and the length of a title.
_MAX_LISTED = 20
_MAX_TITLE = 160
# Kinds of imported records that are no observations.
_SUMMARY, _PROMPT = "summary", "prompt"
# The width of a time (16 characters) and two spaces: what follows is aligned with the type.
_INDENT = " " * 18


class Part(StrEnum):
    """What is looked for: requests with their results, memories and facts; sessions; what people
    said."""

    WORK = "work"
    SESSIONS = "sessions"
    PROMPTS = "prompts"


class Order(StrEnum):
    """The order of what is found."""

    RELEVANCE = "relevance"
    LATEST_FIRST = "date_desc"
    OLDEST_FIRST = "date_asc"


class Detail(StrEnum):
    """An index of titles, or the texts, too."""

    INDEX = "index"
    FULL = "full"


class Finding(NamedTuple):
    """One record. `type` is that of an exchange, the outcome of a session, the state of a pull
    request, who spoke, or what another program called it. `files` are those it changed or names,
    `files_read` those an exchange only read. `ended` says how its title ended, if it does not hold
    any more; `origin` is its name in the program that it was imported from. `tokens` is what its
    text costs to read, `outside` a note on text from outside."""

    uri: str
    kind: str
    time: str
    type: str
    title: str
    files: tuple[str, ...]
    files_read: tuple[str, ...]
    session: str
    bank: str
    ended: str = ""
    knowledge: Kind | None = None
    trust: Trust | None = None
    status: Status = Status.OBSERVED
    origin: str = ""
    outside: str = ""
    tokens: int = 0
    text: str = ""


class Found(NamedTuple):
    """What was found, of `total`; `more` tells that the limit left some out."""

    bank: str
    findings: tuple[Finding, ...]
    total: int
    more: bool = False
    notes: tuple[str, ...] = ()


def _print_found(screen: Screen, found: Found, *, file: str = "", **_: object) -> None:
    everywhere = found.bank == ALL_BANKS
    if not found.findings:
        screen.line(f"Nothing in {describe_bank(found.bank)} matches these filters.")
        elsewhere = "" if everywhere else " --bank all looks in every bank."
        screen.wrap(f"Try fewer filters, or of a file the name alone.{elsewhere}")
    for finding in found.findings:
        _print_finding(screen, finding, file, finding.bank if everywhere else "")
    if found.findings:
        more = "; there are more, see --limit" if found.more else ""
        shown = f"{number(len(found.findings), 'record')} in {describe_bank(found.bank)}{more}"
        screen.line(shown, "dim")
    for note in found.notes:
        screen.wrap(note)


def _print_finding(screen: Screen, finding: Finding, wanted_file: str, bank: str) -> None:
    head = f"{minute(finding.time) or 'undated':<16}  {finding.type:<9}  "
    screen.line(screen.paint(head, "bold") + truncate(finding.title, screen.width - len(head)))
    if finding.ended:
        screen.line(f"{_INDENT}no longer valid: {finding.ended}")
    if finding.text:
        screen.item(finding.text, _INDENT)
    for verb, files in (("changed", finding.files), ("read", finding.files_read)):
        if files:
            ordered = sorted(files, key=lambda file: not matches_path(file, wanted_file))
            named = truncate(f"{verb} {', '.join(ordered)}", screen.width - len(_INDENT))
            screen.line(f"{_INDENT}{named}")
    print_reference(screen, finding.uri, _INDENT, finding.session, bank)
    screen.line()


WhatPart = Annotated[
    Part,
    Arg("work (what was asked and done, memories, facts), sessions, or prompts (what people said)"),
]
Days = Annotated[
    int,
    Arg(
        "began in the last N days, unless `since` is given; what is older is counted (0: all)",
        metavar="N",
        least=0,
        most=_MAX_DAYS,
    ),
]
InOrder = Annotated[
    Order | None,
    Arg("by relevance (default with a query), the latest first, or the oldest first"),
]
Offset = Annotated[int, Arg("how many to leave out first", metavar="N", least=0, most=_MAX_OFFSET)]
_FIND_EXAMPLES = """\
  holdfast find --file rest.js
  holdfast find --file src/ui/ --type bugfix --since 2026-03
  holdfast find --concept caching --limit 5 --json
  holdfast find retry backoff --type decision --bank all
  holdfast find --of sessions --detail full --limit 3"""


@operation("find", Level.READ, work=Work.SEARCH, text=_print_found, examples=_FIND_EXAMPLES)
def find(
    memory: Holdfast,
    query: Annotated[
        str,
        Arg(
            "about these words, also by meaning", place="QUERY", many_words=True, most=MAX_QUESTION
        ),
    ] = "",
    of: WhatPart = Part.WORK,
    file: Annotated[
        str,
        Arg("read or changed this file, or a file in this folder/", metavar="PATH", most=_MAX_PATH),
    ] = "",
    concept: Annotated[str, Arg("is about this topic", metavar="WORD", most=200)] = "",
    meaning: Annotated[
        bool, Arg("after what names the concept, also what is about it in other words")
    ] = False,
    type: Annotated[ExchangeType | None, Arg("has this type")] = None,
    kind: Annotated[Kind | None, Arg("with a query: memories and facts of this kind alone")] = None,
    since: Since = "",
    until: Until = "",
    days: Days = 0,
    order: InOrder = None,
    detail: Annotated[Detail, Arg("titles alone, or also the texts")] = Detail.INDEX,
    limit: Limit = 20,
    offset: Offset = 0,
    bank: Bank = "",
) -> Found:
    """List work, sessions or prompts by words, file, type or date

    An index: title, time, and what the text costs to read (`tokens`); with `detail` full the
    texts, too. Filters combine. Without a query the latest comes first, and a filter is needed,
    except for sessions.

    A file is a path (src/ui/rest.js), the end of one (rest.js, ui/rest.js), or a folder
    (src/ui/; the slash is optional if no file has that name); commits and pull requests that
    touch it are listed, too. A concept is one of the keywords, in any form. Dates are days,
    months or times in UTC, inclusive.

    Each finding has the files that it changed (`files`) and that it only read
    (`files_read`); `more` says that the limit left some out."""
    id = memory.context.bank_id(bank)
    search = _Search(memory, id, bank)
    filter = _Filter(
        relative_to_project(memory.context.banks, file.strip()), concept.strip(), type or ""
    )
    if query.strip():
        records = search.by_words(query, of, filter, kind)
    elif of is Part.PROMPTS:
        raise InputError("Prompts are found by words.", "Give a query.")
    elif of is Part.SESSIONS and not any(filter):
        records = search.latest_sessions(max(offset + limit + 1, _MAX_RANKED), since, until)
    else:
        records = search.by_filter(of, filter, since, until, meaning)
    first = read_iso_span(since).first if since else days_before(memory.now(), days)
    end = read_iso_span(until).end if until else ""
    inside = [one for one in records if _is_between(_start(one), first, end)]
    if order is not Order.RELEVANCE and (order or not query.strip()) and not meaning:
        inside.sort(key=_start, reverse=order is not Order.OLDEST_FIRST)
    left = len(records) - len(inside)
    note = left_out_note(left, days) if left and days and not since else ""
    page = inside[offset : offset + limit]
    names = memory.context.bank_names()
    missing = memory.context.missing_bank_hint(id)
    return Found(
        memory.context.bank_name(id),
        tuple(_finding(memory.reader, one, names, detail is Detail.FULL) for one in page),
        len(inside),
        len(inside) > offset + limit,
        tuple(one for one in (missing, note) if one),
    )


class _Filter(NamedTuple):
    """What the work must have; "" for anything."""

    file: str
    concept: str
    type: str

    def accepts(self, record: Record) -> bool:
        """Whether a record has it, as its own fields say."""
        if not any(self):
            return True
        if isinstance(record, ImportedRecord):
            touched, keywords, type = record.files, record.labels, record.type
        elif isinstance(record, Exchange):
            touched = (*record.files_modified, *record.files_read)
            keywords, type = record.keywords, record.type.value
        else:
            return False
        return (
            self.type in ("", type)
            and (not self.file or any(matches_path(path, self.file) for path in touched))
            and self.concept.lower() in " ".join(keywords).lower()
        )


class _Search:
    """The ways in which records of a bank are found."""

    def __init__(self, memory: Holdfast, id: str | None, bank: str) -> None:
        self._memory, self._reader = memory, memory.reader
        self._id, self._bank = id, bank

    def by_words(
        self, query: str, of: Part, filter: _Filter, kind: Kind | None = None
    ) -> list[Record]:
        """The relevant records, best first."""
        layers, is_wanted = _PARTS[of]
        kinds = () if kind is None else (kind,)
        plan = RecallPlan(layers, _MAX_RANKED, Budget.HIGH, tokens=_NO_LIMIT, knowledge=kinds)
        plan = plan._replace(include_repeats=True, anchors=False, raw=False)
        hits = self._memory.search.recall_with_plan(query, self._bank, plan).hits
        found = [
            record
            for hit in hits
            for record in self._reader.records.find(
                hit.bank, hit.kind, hit.uri.rpartition("/")[2], 1
            )
        ]
        return [one for one in found if is_wanted(one) and filter.accepts(one)]

    def by_filter(
        self, of: Part, filter: _Filter, since: str, until: str, meaning: bool
    ) -> list[Record]:
        """The work that matches, the latest first, or its sessions; with `meaning` after them what
        is about the concept in other words."""
        work = self._memory.browse.work(*filter, since, until, self._bank, _MAX_FILTERED)
        found: list[Record] = [*work]
        if of is Part.SESSIONS:
            sessions = dict.fromkeys((one.bank, getattr(one, "session", "")) for one in found)
            digests = [self._reader.sessions.digest(*one) for one in sessions]
            return [one for one in digests if one is not None]
        if meaning and filter.concept:
            known = {(one.bank, one.id) for one in found}
            more = self.by_words(filter.concept, of, _Filter(filter.file, "", filter.type))
            found += [one for one in more if (one.bank, one.id) not in known and _is_labelled(one)]
        return found

    def latest_sessions(self, most: int, since: str, until: str) -> list[Record]:
        """The summaries of sessions, ours and imported ones."""
        first = read_iso_span(since).first if since else ""
        end = read_iso_span(until).end if until else ""
        passages = self._reader.passages.recent(self._id, "digest", most, first, end)
        found: list[Record] = [
            one
            for place in passages
            for one in self._reader.records.find(place.bank, "digest", place.id, 1)
        ]
        return [*found, *self._reader.imports.latest(self._id, _SUMMARY, most)]


def _is_work(record: Record) -> bool:
    return not isinstance(record, ImportedRecord) or record.kind not in (_SUMMARY, _PROMPT)


def _is_labelled(record: Record) -> bool:
    return isinstance(record, Exchange | ImportedRecord)


def _is_session(record: Record) -> bool:
    is_summary = isinstance(record, ImportedRecord) and record.kind == _SUMMARY
    return isinstance(record, Digest) or is_summary


def _is_prompt(record: Record) -> bool:
    if isinstance(record, ImportedRecord):
        return record.kind == _PROMPT
    return isinstance(record, Turn) and record.role.value == "user"


_PARTS: dict[Part, tuple[tuple[Layer, ...], Callable[[Record], bool]]] = {
    Part.WORK: ((Layer.OBSERVATIONS,), _is_work),
    Part.SESSIONS: ((Layer.SUMMARIES, Layer.OBSERVATIONS), _is_session),
    Part.PROMPTS: ((Layer.TRANSCRIPTS, Layer.OBSERVATIONS), _is_prompt),
}


def _start(record: Record) -> str:
    return describe_record(record)[1]


def _is_between(time: str, first: str, end: str) -> bool:
    return first <= time and (not end or time < end)


def _finding(reader: Reader, record: Record, names: dict[str, str], full: bool) -> Finding:
    kind, (title, time) = record_kind(record), describe_record(record)
    session: str = getattr(record, "session", "")
    host = reader.sessions.get(record.bank, session) if session else None
    text, outside = record_text(reader, record), is_from_outside(record)
    if isinstance(record, Digest) and full:
        text = "\n".join((text, *_work_lines(reader, record)))
    text = defang(cut(text, MAX_RECORD_CHARS), outside)
    endings = RecordEndings(reader)
    # Of the words of the text, too, something may not hold any more.
    ended = ended_lines(time, endings.of(record, f"{title}\n\n{text}")) if full else []
    return Finding(
        uri(kind, record.id),
        kind,
        time,
        _type(record),
        truncate(one_line(title), _MAX_TITLE),
        _files(record),
        getattr(record, "files_read", ()),
        host.host if host else session,
        names.get(record.bank, record.bank),
        endings.label(record, title),
        knowledge_kind(record),
        getattr(record, "trust", None),
        getattr(record, "status", Status.OBSERVED),
        record.origin if isinstance(record, ImportedRecord) else "",
        outside_note(f"{title}\n{text}") if outside else "",
        estimate_tokens(text),
        "\n".join((*ended, text)) if full else "",
    )


def record_text(reader: Reader, record: Record) -> str:
    """What a record says, as a search quotes it, with its keywords and files."""
    passages = reader.passages.of_records(record.bank, record_kind(record), [record.id])
    labels = getattr(record, "keywords", getattr(record, "labels", ()))
    lists = {"Keywords": labels, "Files": (*_files(record), *getattr(record, "files_read", ()))}
    return "\n".join((*(one.body for one in passages), *_lists(lists)))


def _files(record: Record) -> tuple[str, ...]:
    return getattr(record, "files_modified", getattr(record, "files", ()))


def _lists(lists: Mapping[str, Sequence[str]]) -> list[str]:
    return [f"{name}: {', '.join(items)}" for name, items in lists.items() if items]


def _work_lines(reader: Reader, digest: Digest) -> list[str]:
    """What a session took: messages of each side, uses of each tool, the files it changed, and its
    latest exchanges."""
    counts = reader.turns.counts(digest.bank, digest.session)
    exchanges = reader.sessions.exchanges(digest.bank, digest.session)
    changed = dict.fromkeys(file for one in exchanges for file in one.files_modified)
    told = {
        "Messages": [f"{count} {role}" for role, tool, count in counts if not tool],
        "Tools": [f"{tool} {count}" for _, tool, count in counts if tool][:_MAX_LISTED],
        "Files changed": list(changed)[:_MAX_LISTED],
    }
    done = (
        f"- {uri('exchange', one.id)} {truncate(one.title, _MAX_TITLE)}"
        for one in exchanges[-_MAX_LISTED:]
    )
    return [*_lists(told), *done]


def _type(record: Record) -> str:
    match record:
        case Exchange():
            return record.type.value
        case Digest():
            return record.outcome.value
        case Memory():
            return record.network.value
        case Fact():
            return record.kind.value
        case Turn():
            return record.role.value
        case ImportedRecord():
            return record.type
        case _:
            state = getattr(record, "state", None)
            return str(state.value) if state is not None else record_kind(record)
