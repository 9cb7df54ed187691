"""What happened around something: the timeline, the history of a team, and the people who know."""

from __future__ import annotations

import shlex
from enum import StrEnum
from typing import Annotated

from holdfast.app.core.context import ALL_BANKS, describe_bank
from holdfast.app.memory import Holdfast
from holdfast.app.search.hit_view import endings
from holdfast.errors import InputError
from holdfast.language import truncate
from holdfast.lazy_dataclass import replace
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.query import Answer, Citation, Confidence, Hit, Layer, ModelCost
from holdfast.operations.operation import OWNER, Arg, Call, Work, operation
from holdfast.operations.output.answer import print_answer
from holdfast.operations.output.records import print_reference
from holdfast.operations.parameters import MAX_NAME, MAX_QUESTION, Bank, Limit, Question
from holdfast.operations.screen import Screen, day, minute, number, short
from holdfast.principal import Level
from holdfast.recall.lookup.timeline import MAX_UNDATED, Event, EventKind, Timeline
from holdfast.research.history.expertise import Expert

# Around an anchor there are at most this many records on each side.
_MAX_BESIDE = 200
# The most days that a query looks back, and matches to choose an anchor from.
_MAX_DAYS, _MAX_CHOICE = 100_000, 20
# The width of a mark, a time and a kind: the URI of a record stands below its title.
_EVENT_INDENT = " " * 19


class TimelineMode(StrEnum):
    """Around the best match of a query, or the best matches alone, to choose one of them."""

    AUTO = "auto"
    INTERACTIVE = "interactive"


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
    around = "the latest" if not timeline.query else "the best matches"
    around = f"around {timeline.anchor}" if timeline.anchor else around
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
    days: Annotated[
        int,
        Arg(
            "a query looks at the last N days, and counts what is older (0: all)",
            metavar="N",
            least=0,
            most=_MAX_DAYS,
        ),
    ] = 0,
    mode: Annotated[
        TimelineMode,
        Arg("with a query: around the best match, or the best matches, to choose an anchor"),
    ] = TimelineMode.AUTO,
    limit: Annotated[
        int, Arg("how many matches to choose from", metavar="N", least=1, most=_MAX_CHOICE)
    ] = 5,
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
        choice = limit if mode is TimelineMode.INTERACTIVE else 0
        found = memory.browse.timeline(anchor, query, bank, kinds, before, after, days, choice)
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
