"""Finding records by what they are about: by filters, by time, and in the history of a team, with
the people who know."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Annotated

from holdfast.app.core.context import ALL_BANKS, describe_bank
from holdfast.app.memory import Holdfast
from holdfast.app.search.hit_view import endings
from holdfast.errors import InputError
from holdfast.language import truncate
from holdfast.lazy_dataclass import replace
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.query import (
    Answer,
    Citation,
    Confidence,
    Hit,
    Layer,
    ModelCost,
    RecordFilter,
    matches_path,
)
from holdfast.model.records import ExchangeType
from holdfast.operations.operation import OWNER, Arg, Call, Work, operation
from holdfast.operations.output.answer import print_answer
from holdfast.operations.output.records import print_reference
from holdfast.operations.parameters import (
    MAX_NAME,
    MAX_QUESTION,
    Bank,
    Limit,
    Question,
    Since,
    Until,
)
from holdfast.operations.screen import Screen, day, minute, number, short
from holdfast.principal import Level
from holdfast.recall.lookup.filters import Finding, Found
from holdfast.recall.lookup.timeline import MAX_UNDATED, Event, EventKind, Timeline
from holdfast.research.history.expertise import Expert

_MAX_PATH = 1_000
# Around an anchor there are at most this many records on each side.
_MAX_BESIDE = 200
# The width of a time (16 characters) and two spaces: what follows is aligned with the type.
_FOUND_INDENT = " " * 18
# The width of a mark, a time and a kind: the URI of a record stands below its title.
_EVENT_INDENT = " " * 19


def _print_found(screen: Screen, found: Found, **_: object) -> None:
    if not found.findings:
        screen.line(f"Nothing in {describe_bank(found.bank)} matches these filters.")
        screen.wrap(_other_filters(found.filter, found.bank == ALL_BANKS))
        return
    for finding in found.findings:
        bank = finding.bank if found.bank == ALL_BANKS else ""
        _print_finding(screen, finding, found.filter.file, bank)
    more = "; there are more, see --limit" if found.more else ""
    shown = f"{number(len(found.findings), 'record')} in {describe_bank(found.bank)}{more}"
    screen.line(shown, "dim")


def _other_filters(filter: RecordFilter, everywhere: bool) -> str:
    """What to try where nothing passes the filter."""
    advice: list[str] = []
    file = filter.file.rstrip("/")
    name = file.rpartition("/")[2]
    if name != file:
        advice.append(f"Try the name alone ({name}).")
    if sum(map(bool, filter)) > 1:
        advice.append("Try fewer filters.")
    if not everywhere:
        advice.append("--bank all looks in every bank.")
    if words := filter.concept or file:
        advice.append(f"`holdfast recall {words}` searches all that was said.")
    return " ".join(advice) or "Try another type, or other dates."


def _print_finding(screen: Screen, finding: Finding, wanted_file: str, bank: str) -> None:
    head = f"{minute(finding.time) or 'undated':<16}  {finding.type:<9}  "
    screen.line(screen.paint(head, "bold") + truncate(finding.title, screen.width - len(head)))
    if finding.ended:
        screen.line(f"{_FOUND_INDENT}no longer valid: {finding.ended}")
    width = screen.width - len(_FOUND_INDENT)
    for verb, files in (("changed", finding.files), ("read", finding.files_read)):
        if files:
            ordered = sorted(files, key=lambda file: not matches_path(file, wanted_file))
            screen.line(_FOUND_INDENT + _list_files(verb, ordered, width))
    print_reference(screen, finding.uri, _FOUND_INDENT, finding.session, bank)
    screen.line()


def _list_files(verb: str, files: Sequence[str], width: int) -> str:
    """As many files as fit in a line, and the number of the others."""
    text = f"{verb} {files[0]}"
    for listed, file in enumerate(files[1:], start=1):
        rest = f", and {len(files) - listed} more"
        if len(text) + len(file) + len(rest) + len(", ") > width:
            return text + rest
        text += f", {file}"
    return text


_FIND_EXAMPLES = """\
  holdfast find --file rest.js
  holdfast find --file src/ui/ --type bugfix --since 2026-03
  holdfast find --concept caching --limit 5 --json
  holdfast find --type decision --bank all"""


@operation("find", Level.READ, text=_print_found, examples=_FIND_EXAMPLES)
def find(
    memory: Holdfast,
    file: Annotated[
        str,
        Arg("read or changed this file, or a file in this folder/", metavar="PATH", most=_MAX_PATH),
    ] = "",
    concept: Annotated[str, Arg("is about this topic", metavar="WORD", most=200)] = "",
    type: Annotated[ExchangeType | None, Arg("has this type")] = None,
    since: Since = "",
    until: Until = "",
    limit: Limit = 20,
    bank: Bank = "",
) -> Found:
    """List work by file, concept, type or date

    Exchanges and imported records; with a file also commits and pull requests. Filters
    combine; the latest comes first. At least one filter is needed.

    A file is a path (src/ui/rest.js), the end of one (rest.js, ui/rest.js), or a folder
    (src/ui/; the slash is optional if no file has that name). A concept is one of the
    keywords, in any form. Dates are days, months or times in UTC, inclusive.

    Each finding has the files that it changed (`files`) and that it only read
    (`files_read`); `more` says that the limit left some out."""
    names = memory.context.bank_names()
    found = memory.browse.find(file, concept, type.value if type else "", since, until, bank, limit)
    return replace(
        found,
        findings=tuple(replace(one, bank=names.get(one.bank, one.bank)) for one in found.findings),
    )


def _print_timeline(screen: Screen, timeline: Timeline, **_: object) -> None:
    if timeline.events:
        _print_events(screen, timeline)
    for note in timeline.notes:
        screen.wrap(note)
    if not timeline.events:
        screen.wrap(_other_anchor(timeline))
    if timeline.undated:
        least = "at least " if timeline.undated == MAX_UNDATED else ""
        without = number(timeline.undated, "record")
        screen.line(f"{least}{without} without a time left out", "dim")


def _other_anchor(timeline: Timeline) -> str:
    """What to try where there are no events."""
    wider = "" if timeline.bank == ALL_BANKS else " --bank all looks in every bank."
    if timeline.query:
        return f"Try other words, or `holdfast recall` for what is loosely related.{wider}"
    return f"No records of these kinds there. Try another --kind, or a larger --before.{wider}"


def _print_events(screen: Screen, timeline: Timeline) -> None:
    """The events by day, with a mark at the anchor: at its event, or between two events."""
    around = f"around {timeline.anchor}" if timeline.anchor else "the latest"
    screen.line(f"{describe_bank(timeline.bank)}, {around}", "dim")
    current_day = ""
    marked = not timeline.anchor or any(event.anchor for event in timeline.events)
    for event in timeline.events:
        if not marked and event.time >= timeline.anchor:
            marked = True
            _print_mark(screen, timeline.anchor)
        if day(event.time) != current_day:
            current_day = day(event.time)
            screen.title(current_day, "bold")
        _print_event(screen, event, event.bank if timeline.bank == ALL_BANKS else "")
    if not marked:
        _print_mark(screen, timeline.anchor)
    screen.line()


def _print_mark(screen: Screen, time: str) -> None:
    screen.title(f"▶ {minute(time)}", "bold", "yellow")


def _print_event(screen: Screen, event: Event, bank: str) -> None:
    mark = "▶" if event.anchor else " "
    head = f"{mark} {event.time[11:16]}  {event.kind:<8}  "
    lead = f"{event.note}: " if event.kind in ("exchange", "turn") else ""
    end = f" ({event.note})" if event.kind in ("commit", "pull", "issue", "remark") else ""
    title = truncate(event.title, screen.width - len(head + lead + end))
    styles = ("bold", "yellow") if event.anchor else ("bold",)
    screen.line(f"{screen.paint(head, *styles)}{lead}{title}{end}")
    if event.ended:
        screen.line(f"{_EVENT_INDENT}no longer valid: {event.ended}")
    print_reference(screen, event.uri, _EVENT_INDENT, event.session, bank)


_TIMELINE_EXAMPLES = """\
  holdfast timeline
  holdfast timeline holdfast://exchange/5c1f0a9be2d47c33 --before 3 --after 10
  holdfast timeline 2026-03-01 --kind commit
  holdfast timeline --query "retry wrapper" --json"""


@operation(
    "timeline",
    Level.READ,
    work=Work.SEARCH,
    text=_print_timeline,
    examples=_TIMELINE_EXAMPLES,
)
def timeline(
    memory: Holdfast,
    anchor: Annotated[
        str, Arg("a URI, the start of an id, a date", place="ANCHOR", most=MAX_NAME)
    ] = "",
    query: Annotated[
        str, Arg("around the best match for these words", metavar="Q", most=MAX_QUESTION)
    ] = "",
    before: Annotated[
        int, Arg("how many earlier records", metavar="N", least=0, most=_MAX_BESIDE)
    ] = 5,
    after: Annotated[
        int, Arg("how many later records", metavar="N", least=0, most=_MAX_BESIDE)
    ] = 5,
    kind: Annotated[
        tuple[EventKind, ...],
        Arg("only this kind; repeatable (default: all but turns, facts and remarks)", most=10),
    ] = (),
    bank: Bank = "",
) -> Timeline:
    """List records before and after a record, date or topic

    Digests, exchanges, commits, memories, pull requests and issues, in the order of time.

    The anchor is a URI, the start of an id, or a date; or, with `query`, the best match of a
    search. Without either, the latest records are shown. Turns are shown only if `kind` asks
    for them, or if the anchor is a turn: then those of its session. Times are in UTC. Records
    without a time are left out and counted.

    The `note` of an event is its type, outcome, author or speaker. An anchor that is not in
    the bank is looked for in all of them, and shown in its own."""
    if anchor and query:
        raise InputError("An anchor and a query cannot be combined.", "Give one of them.")
    kinds = tuple(one.value for one in kind)
    try:
        found = memory.browse.timeline(anchor, query, bank, kinds, before, after)
    except InputError as error:
        # Words are no anchor, but may be meant as a query.
        if anchor not in error.message or not anchor.replace(" ", "").isalpha():
            raise
        command = f"holdfast timeline --query {shlex.quote(anchor)}"
        raise InputError(error.message, f"To search for it: {command}") from error
    names = memory.context.bank_names()
    events = tuple(replace(one, bank=names.get(one.bank, one.bank)) for one in found.events)
    return replace(found, events=events)


class Experts(NamedTuple):
    """Who knows about something, best first."""

    bank: str
    about: str
    experts: tuple[Expert, ...]
    notes: tuple[str, ...] = ()


def _print_experts(screen: Screen, found: Experts, **_: object) -> None:
    for expert in found.experts:
        _print_expert(screen, expert)
    for note in found.notes:
        screen.wrap(note)


def _print_expert(screen: Screen, expert: Expert) -> None:
    e = expert
    share = "a program" if e.is_bot else f"{e.share:.0%} of the contributions by people"
    what = number(e.commits, "commit")
    what += f", {number(e.reviews, 'review')}" if e.reviews else ""
    screen.line(screen.paint(e.name, "bold") + f"  {share}")
    screen.line(f"  {what}, {e.first[:10]} to {e.last[:10]}; most in {', '.join(e.areas)}")
    screen.line("  " + screen.paint("  ".join(short(uri) for uri in e.evidence), "cyan"))
    screen.line()


_WHO_EXAMPLES = """\
  holdfast who payments
  holdfast who src/billing/
  holdfast who "retry logic of the importer" --limit 3 --json"""


@operation("who", Level.READ, text=_print_experts, examples=_WHO_EXAMPLES)
def who(
    memory: Holdfast,
    about: Annotated[
        str,
        Arg(
            "a path, a folder/, or words",
            place="TOPIC",
            many_words=True,
            most=MAX_QUESTION,
            example="src/billing/",
        ),
    ],
    limit: Limit = 5,
    bank: Bank = "",
) -> Experts:
    """List who knows about a file or topic, by their commits

    Their reviews count, too. The weight of a commit halves every year, and large changes
    count a little more. Bots are listed after people.

    Names follow the repository's mailmap. Each person is listed with the commits as
    `evidence`, and their `share` of all people's contributions. The history must have been
    read: `holdfast ingest REPOSITORY`."""
    id = memory.context.bank_id(bank)
    name = memory.context.bank_name(id)
    found = memory.browse.who_knows(about, bank, limit)
    notes = () if found else _why_nobody(memory, id, name, about)
    return Experts(name, about, tuple(found), notes)


def _why_nobody(memory: Holdfast, id: str | None, name: str, about: str) -> tuple[str, ...]:
    if memory.reader.records.counts(id).commits:
        return (
            f"No commit in {describe_bank(name)} is about {about!r}.",
            "Try other words, a path, or a folder with a slash at its end.",
        )
    into = "" if id is None else f" into {describe_bank(name)}"
    return (
        f"No git history was read{into}.",
        "`holdfast ingest REPOSITORY` reads one.",
    )


class TeamReport(NamedTuple):
    """An answer from the history of a team: the fields of an answer, the best records of
    `evidence`, and the `people` to ask."""

    question: str
    answer: str
    confidence: Confidence
    abstained: bool
    source: str
    citations: tuple[Citation, ...]
    layers_searched: tuple[Layer, ...]
    caveats: tuple[str, ...]
    session_id: str
    cost: ModelCost
    weak: bool
    evidence: tuple[Hit, ...]
    people: tuple[Expert, ...]

    @property
    def whole_answer(self) -> Answer:
        """The answer alone."""
        return Answer(*self[:-2])


def _print_team(screen: Screen, found: TeamReport, **_: object) -> None:
    print_answer(screen, found.whole_answer)
    if found.evidence:
        screen.line()
    for hit in found.evidence:
        head = screen.paint(short(hit.uri), "cyan")
        screen.item(f"{day(hit.time)}  {head}  {truncate(hit.text, 120)}")
        for line in endings(hit):
            screen.item(f"  {line}")
    if found.people:
        screen.line()
        names = ", ".join(f"{p.name} ({p.share:.0%})" for p in found.people)
        screen.item(f"ask: {names}")


_TEAM_EXAMPLES = """\
  holdfast team "was the tide cache ever reverted"
  holdfast team what changed in src/billing/ since March --limit 20
  holdfast team "who knows about payments" --json"""


@operation("team", Level.READ, work=Work.SEARCH, text=_print_team, examples=_TEAM_EXAMPLES)
def team(
    memory: Holdfast,
    question: Question,
    limit: Limit = 10,
    bank: Bank = "",
    call: Call = OWNER,
) -> TeamReport:
    """Answer from commits, pull requests and issues; who to ask

    Also from session digests and rules. Lists the supporting records and the people to ask.

    Some questions are answered from git directly: who knows or reviewed X, who decided on X,
    when X was introduced or last changed, what changed in FILE since DATE, whether X was
    ever reverted, and why. `ask` does this too."""
    call.progress("Asking the team's history")
    found = memory.answers.team_query(question, bank, limit)
    names = memory.context.bank_names()
    answer = found.answer
    return TeamReport(
        answer.question,
        answer.answer,
        answer.confidence,
        answer.abstained,
        answer.source,
        answer.citations,
        answer.layers_searched,
        answer.caveats,
        answer.session_id,
        answer.cost,
        answer.weak,
        tuple(replace(hit, bank=names.get(hit.bank, hit.bank)) for hit in found.evidence),
        found.people,
    )
