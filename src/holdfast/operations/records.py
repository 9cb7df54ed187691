"""Opening a record: what it says, what it was made from, and what was decided about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, cast

from holdfast.app.core.context import ALL_BANKS
from holdfast.app.memory import Holdfast, open_memory
from holdfast.app.search.code_freshness import confirmations, whole_anchor
from holdfast.app.search.hit_view import ended_lines
from holdfast.errors import HoldfastError
from holdfast.framed_text import defang, one_line, quote
from holdfast.language import cut, truncate
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.anchors import CodeAnchor, FileFreshness
from holdfast.model.curation import Action, Curation, Judgement
from holdfast.model.forge import Issue, Pull, Remark
from holdfast.model.graph import LinkedRecord
from holdfast.model.kinds import is_from_outside, knowledge_kind, record_kind
from holdfast.model.knowledge import EndedSentence, EvidenceKind, Fact, Kind, Rule
from holdfast.model.opinions import OpinionRevision
from holdfast.model.records import Turn
from holdfast.model.to_json import to_jsonable
from holdfast.model.trust import Freshness, Status
from holdfast.model.uris import uri
from holdfast.operations.operation import Arg, operation
from holdfast.operations.output.history import (
    print_commits,
    print_details,
    print_remark,
    print_remarks,
    print_thread,
)
from holdfast.operations.parameters import AnyBank, AsOf, RecordId
from holdfast.operations.screen import Screen, day, minute, number, short
from holdfast.operations.shapes import record_from
from holdfast.principal import Level
from holdfast.recall.lookup.commits import CommitDetails, SessionCommit
from holdfast.recall.lookup.path import Path, PathStep, describe_record, path_through
from holdfast.recall.lookup.trace import RawLine, RawState
from holdfast.refine.core.passages import turn_text


class RecordStatus(NamedTuple):
    """The status of a record from a time on, and the URI of what caused the change."""

    time: str
    status: Status
    because: str


class RecordEvidence(NamedTuple):
    """A record that speaks `for` a fact or `against` it, and how."""

    time: str
    side: str
    how: EvidenceKind
    uri: str


class RecordAnchor(NamedTuple):
    """The branch and commit on which a record was made, its files, and what became of them."""

    freshness: Freshness
    branch: str
    commit: str
    files: tuple[FileFreshness, ...]


class ShownRecord(NamedTuple):
    """A record, and the chain from it down to its raw line.

    `knowledge` is the kind of what it says, `by_rules` the version made without a model, `above`
    what contains it, `below` what it is made of, `raw` the line of its first turn. `superseded` is
    the text before the last correction, `note` tells that it was asked for by an old name, and
    `ended` are its sentences that do not hold any more. `history` are decisions about it, `life`
    the changes of its status, `bearings` the evidence of a fact, `beliefs` the confidence of an
    opinion over time; `commit` are the details of a commit, `commits` those that a session made,
    `anchor` its place in the code, and `links` the records that it is linked to, if asked for.
    `verdict` says whether briefs should tell it, `confirmed` that it still holds although its code
    changed."""

    uri: str
    kind: str
    knowledge: Kind | None
    record: Any
    by_rules: Any
    above: tuple[str, ...]
    below: tuple[Any, ...]
    raw: RawLine | None
    superseded: str
    note: str
    ended: tuple[EndedSentence, ...]
    history: tuple[Curation, ...]
    life: tuple[RecordStatus, ...]
    bearings: tuple[RecordEvidence, ...]
    beliefs: tuple[OpinionRevision, ...]
    commit: CommitDetails | None
    commits: tuple[SessionCommit, ...]
    anchor: RecordAnchor | None
    links: tuple[LinkedRecord, ...] | None
    verdict: Judgement | None
    confirmed: Curation | None


# The start of a text, in characters: of superseded words and of a raw line about six lines, of a
# decision two, of a part below the record one.
_MAX_TEXT, _MAX_DECISION, _MAX_PART = 600, 200, 90
# At a terminal they are cut to its width, but not to less than this.
_MIN_PART = 20
# How deep a step of a path is indented: facts least, raw lines most.
_INDENT_BY_LEVEL = {"L4": 0, "L3": 1, "L2": 2, "L1": 3, "raw": 4}
# Links of each kind that are printed; JSON has all.
_MAX_LINKS = 5
_RAW_STATES = {
    RawState.PRESENT: "{where}",
    RawState.WITHHELD: "{where} is not shown, because something was scrubbed from it",
    RawState.GONE: "gone ({where} is no longer on disk); what is above was kept from it",
    RawState.CHANGED: "{where} has changed since it was read; what is above was kept from it",
}


def _print_shown(
    screen: Screen,
    found: ShownRecord,
    *,
    id: str,
    as_of: str = "",
    bank: str = ALL_BANKS,
    full: bool = False,
    raw: bool = False,
    **_: object,
) -> None:
    """Print a record; with `full` all files and lines of a commit, with `raw` only its raw line,
    as it is on disk."""
    if raw:
        return _print_raw_line(screen, id, bank, as_of)
    _print_record(screen, found, full)
    print_commits(screen, found.commits)
    screen.section(
        "confidence over time:",
        (
            f"{minute(one.time)} {one.confidence:.2f} {one.note} "
            f"({one.favour} for, {one.against} against)"
            for one in found.beliefs
        ),
    )
    _print_history(screen, found)
    _print_status_changes(screen, found)
    if found.above:
        screen.title(f"in: {', '.join(found.above)}")
    _print_below(screen, found.below)
    if found.raw is not None or found.kind in ("turn", "exchange", "digest", "session"):
        screen.title(_describe_raw_line(found.raw))
    if found.raw is not None and found.raw.text:
        screen.line(cut(found.raw.text, _MAX_TEXT), "dim")
    if found.anchor is not None:
        _print_anchor(screen, found.anchor)
    if found.by_rules is not None:
        screen.title("by rules alone:")
        _print_fields(screen, to_jsonable(found.by_rules), is_from_outside(found.by_rules))
    if found.links is not None:
        _print_links(screen, found.links)
    return None


def _print_raw_line(screen: Screen, id: str, bank: str, as_of: str) -> None:
    """Print the raw line with its secrets, which no result of an operation has: the file is the
    user's own."""
    with open_memory(create=False) as memory:
        raw = memory.search.show(id, bank, as_of).raw
    if raw is None or raw.state is not RawState.PRESENT:
        raise HoldfastError(f"There is no line to print; {_describe_raw_line(raw)}")
    screen.line(raw.text)


def _print_record(screen: Screen, found: ShownRecord, full: bool) -> None:
    record = found.record
    screen.line(found.uri, "bold", "cyan")
    if found.note:
        screen.wrap(found.note)
    for line in ended_lines(describe_record(record)[1], found.ended):
        screen.wrap(line)
    if isinstance(record, Turn):
        screen.line(f"{record.role.value} turn {record.seq} · {record.time} · {record.trust.value}")
        screen.line()
        screen.wrap(defang(turn_text(record), is_from_outside(record)), "  ")
    elif found.commit is not None:
        # The files are among the details.
        _print_fields(screen, to_jsonable(record) | {"files": []}, is_from_outside(record))
        print_details(screen, found.commit, full)
    elif isinstance(record, Pull | Issue):
        print_thread(screen, record)
    elif isinstance(record, Remark):
        print_remark(screen, record)
    else:
        is_said = found.knowledge and isinstance(record, Fact | Rule)
        says = {"knowledge": found.knowledge.value} if found.knowledge and is_said else {}
        _print_fields(screen, to_jsonable(record) | says, is_from_outside(record))


def _print_below(screen: Screen, below: Sequence[Any]) -> None:
    """What it is made of; what was said under a pull or an issue, in full."""
    print_remarks(screen, (one for one in below if isinstance(one, Remark)))
    parts = [one for one in below if not isinstance(one, Remark)]
    if parts:
        screen.title(f"made of {len(parts)}:")
    for part in parts:
        text = turn_text(part) if isinstance(part, Turn) else describe_record(part)[0]
        name = uri(record_kind(part), part.id)
        room = max(_MIN_PART, screen.width - len(name) - 4) if screen.is_terminal else _MAX_PART
        title = truncate(text, min(room, _MAX_PART))
        screen.line(f"  {screen.paint(name, 'cyan')}  {title}")


def _print_history(screen: Screen, found: ShownRecord) -> None:
    """The words that were superseded, and the decisions of people about the record."""
    if found.superseded:
        screen.line()
        screen.item(f"superseded: {truncate(found.superseded, _MAX_TEXT)}", "  ")
    if found.history:
        screen.title("decisions:")
    for entry in found.history:
        text = f": {quote(truncate(entry.text, _MAX_DECISION))}" if entry.text else ""
        which = f" of {entry.target}" if entry.action is Action.UNDO else ""
        line = f"{entry.seq}. {minute(entry.time)} {one_line(entry.who)}: "
        screen.item(f"{line}{entry.action.value}{which}{text}", "  ")


def _print_status_changes(screen: Screen, found: ShownRecord) -> None:
    """The changes of its status, and the evidence for it and against it."""
    periods = (
        f"{minute(period.time)} {period.status.value}"
        + (f", because of {period.because}" if period.because else "")
        for period in found.life
    )
    screen.section("history:", periods)
    for side in ("for", "against"):
        evidence = [one for one in found.bearings if one.side == side]
        lines = (f"{minute(one.time)} {one.how.value}: {one.uri}" for one in evidence)
        screen.section(f"evidence {side}:", lines)


def _print_fields(screen: Screen, fields: dict[str, object], outside: bool) -> None:
    for name, value in fields.items():
        if value in ("", [], None) or name in ("bank", "id", "source"):
            continue
        if isinstance(value, list):
            screen.line(f"  {name}:")
            for item in cast(list[object], value):
                screen.item(f"- {defang(_describe_item(item), outside)}", "    ")
        else:
            words = defang(_describe_value(value), outside)
            first, _, more = f"{name}: {words}".partition("\n")
            screen.item(first, "  ")
            if more:
                screen.item(more, "    ")


def _describe_value(value: object) -> str:
    """A value as text; of a record within a record, the fields that are not empty."""
    if not isinstance(value, dict):
        return str(value)
    parts = cast(dict[str, object], value)
    return ", ".join(f"{name} {part}" for name, part in parts.items() if part not in ("", None))


def _describe_item(value: object) -> str:
    """An item of a list as text; of a record, the values of its fields that are not empty."""
    if isinstance(value, dict):
        return " · ".join(str(part) for part in cast(dict[str, object], value).values() if part)
    return str(value)


def _describe_raw_line(raw: RawLine | None) -> str:
    if raw is None:
        return "raw line: none is known"
    return f"raw line: {_RAW_STATES[raw.state].format(where=_location(raw.path, raw.line))}"


def _location(path: str, line: int) -> str:
    """A line of a file; a database has none."""
    return f"{path}:{line}" if line else path


def _print_anchor(screen: Screen, anchor: RecordAnchor) -> None:
    """The commit and branch that a record belongs to, and what became of its files since."""
    at = f" at {anchor.commit[:12]}" if anchor.commit else ""
    branch = f" on {anchor.branch}" if anchor.branch else ""
    screen.title(f"code: {anchor.freshness.value} (as of then{at}{branch})")
    for file in anchor.files:
        blob = f"  [{file.blob[:12]}]" if file.blob else ""
        text = file.description or f"{file.path}: {file.freshness.value}"
        screen.line(f"  {text}{blob}")


def _print_links(screen: Screen, links: Sequence[LinkedRecord]) -> None:
    if not links:
        screen.line()
        screen.line("It has no links.")
    for kind in dict.fromkeys(link.kind for link in links):
        of_kind = [link for link in links if link.kind is kind]
        screen.title(f"{kind.value.replace('_', ' ')}:")
        for link in of_kind[:_MAX_LINKS]:
            via = f"  by {link.via}" if link.via else ""
            screen.line(f"  {day(link.time)}  {screen.paint(short(link.uri), 'cyan')}{via}")
            screen.wrap(link.title, "      ")
        if len(of_kind) > _MAX_LINKS:
            screen.line(f"  … and {len(of_kind) - _MAX_LINKS} more, see --json")


_EXAMPLES = """\
  holdfast show holdfast://exchange/5c1f0a9be2d47c33
  holdfast show 5c1f0a
  holdfast show 5c1f0a --raw
  holdfast show 5c1f0a --links
  holdfast show commit/1f0c9d2 --full"""


@operation("show", Level.READ, rest="GET /records/{id:path}", text=_print_shown, examples=_EXAMPLES)
def show(
    memory: Holdfast,
    id: RecordId,
    rules: Annotated[
        bool, Arg("if a model wrote the summary, also the one made by rules alone")
    ] = False,
    links: Annotated[
        bool, Arg("also linked records, and how they are linked (docs/entities.md)")
    ] = False,
    full: Annotated[bool, Arg("all stored files and hunks of a commit", on_screen=True)] = False,
    raw: Annotated[
        bool, Arg("only the whole raw line as it is on disk, secrets included", on_screen=True)
    ] = False,
    as_of: AsOf = "",
    bank: AnyBank = ALL_BANKS,
) -> ShownRecord:
    """Open a record, down to the transcript line it came from

    With what it was made from: digest, exchanges, turns, the raw line (without secrets). A
    commit comes with its tags, reverts, files, hunks, and the sessions that made it.

    If the transcript was deleted since, that is said; the record itself is still shown."""
    found = memory.search.show(id, bank, as_of)
    record, line = found.record, found.raw
    if line is not None:
        # The file is the user's own, but an agent may ask, and pass on what it gets.
        line = line._replace(text=memory.context.redact(line.text))
    name = uri(found.kind, record.id)
    return record_from(
        ShownRecord,
        found,
        uri=name,
        knowledge=knowledge_kind(record),
        by_rules=memory.inventory.without_model(record) if rules else None,
        raw=line,
        life=tuple(RecordStatus(one.time, one.status, one.because) for one in found.lives),
        bearings=tuple(
            RecordEvidence(one.time, "against" if one.against else "for", one.how, one.uri)
            for one in found.bearings
        ),
        commit=found.story,
        anchor=_anchor(whole_anchor(memory.reader, record)),
        links=_links(memory, record) if links else None,
        verdict=memory.reader.curation.judgements(record.bank).get(name),
        confirmed=confirmations(memory.reader, record.bank).get(name),
    )


def _anchor(anchor: CodeAnchor) -> RecordAnchor | None:
    if not anchor.is_known:
        return None
    return RecordAnchor(anchor.freshness, anchor.branch, anchor.commit, anchor.files)


def _links(memory: Holdfast, record: Any) -> tuple[LinkedRecord, ...]:
    from holdfast.recall.links.linked_records import linked_records

    return tuple(linked_records(memory.reader, record, memory.settings.vectors))


def _print_path(screen: Screen, found: Path, **_: object) -> None:
    for step in found.up:
        _print_step(screen, step)
    _print_step(screen, found.here, "bold")
    for step in found.down:
        _print_step(screen, step)
    for kind, count in found.left_out.items():
        screen.line(f"and {number(count, kind)} more", "dim")


def _print_step(screen: Screen, step: PathStep, *styles: str) -> None:
    indent = "  " * _INDENT_BY_LEVEL.get(step.level, 0)
    if step.kind == "line":
        state = "" if step.state == "present" else f" ({step.state})"
        screen.line(f"{indent}{_location(step.path, step.line)}{state}")
        return
    name = screen.paint(step.uri, "cyan")
    head = f"{indent}{step.level:<3} {day(step.time)} "
    title = truncate(step.title, max(20, screen.width - len(head) - len(step.uri) - 2))
    screen.line(f"{head}{screen.paint(title, *styles) if styles else title}  {name}")


@operation(
    "path",
    Level.READ,
    rest="GET /records/{id:path}/path",
    text=_print_path,
    examples="  holdfast path 5c1f0a",
)
def path(memory: Holdfast, id: RecordId, bank: AnyBank = ALL_BANKS) -> Path:
    """Show what rests on a record, and what it rests on

    From the facts and concepts that were made from it, through exchanges and turns, down to the
    raw transcript lines; each step names the one above it."""
    return path_through(memory.reader, memory.context.bank_id(bank), id)
