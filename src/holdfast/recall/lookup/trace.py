"""Opening a record by its URI or id, with everything around it, down to the raw line it came
from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path

from holdfast.errors import InputError, NotFoundError
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.curation import Action, Curation
from holdfast.model.fact_history import fact_as_of
from holdfast.model.forge import Issue, Pull, Remark
from holdfast.model.kinds import record_kind
from holdfast.model.knowledge import (
    Claim,
    Concept,
    EndedSentence,
    Fact,
    FactEvidence,
    Memory,
    Network,
    StatusChange,
)
from holdfast.model.opinions import OpinionRevision
from holdfast.model.records import Digest, Exchange, Session, Turn
from holdfast.model.team import Commit
from holdfast.model.uris import Uri, parse_uri, uri
from holdfast.recall.core.evidence_turns import stating_turn
from holdfast.recall.lookup.commits import (
    CommitDetails,
    SessionCommit,
    commit_details,
    commits_of,
    names_above,
    records_below,
)
from holdfast.recall.lookup.endings import RecordEndings
from holdfast.sources.source_files import has_own_lines, line_on_disk, source_snapshot
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Reader

_MAX_LINE_BYTES = 8 * 1024 * 1024


class RawState(StrEnum):
    """Whether the raw line of a turn can still be read."""

    PRESENT = "present"
    GONE = "gone"
    CHANGED = "changed"
    WITHHELD = "withheld"


class RawLine(NamedTuple):
    """The raw line of a turn, as it is on disk now. Of a document that is converted to lines,
    `line` is that of the document and `text` the converted one; of a database, `line` is 0."""

    path: str
    line: int
    state: RawState
    text: str = ""


class Trace(NamedTuple):
    """A record with everything around it.

    `above` are the URIs of what contains it, `below` what it is made of, `raw` the raw line of its
    first turn. `history` are people's decisions about it, `superseded` the text that the last
    correction replaced, `lives` the changes of its status. `bearings` are the evidence of a fact,
    `beliefs` the confidence of an opinion over time, `story` the details of a commit, and `commits`
    those that a session or an exchange made. `ended` are its sentences that do not hold any more.
    `note` tells that the record was asked for by an old
    name.
    """

    kind: str
    record: Record
    above: tuple[str, ...] = ()
    below: tuple[Record, ...] = ()
    raw: RawLine | None = None
    history: tuple[Curation, ...] = ()
    superseded: str = ""
    note: str = ""
    lives: tuple[StatusChange, ...] = ()
    bearings: tuple[FactEvidence, ...] = ()
    beliefs: tuple[OpinionRevision, ...] = ()
    story: CommitDetails | None = None
    commits: tuple[SessionCommit, ...] = ()
    ended: tuple[EndedSentence, ...] = ()


def trace(
    reader: Reader,
    bank: str | None,
    text: str,
    as_of: str = "",
    home_bank: Callable[[], str] = lambda: "",
) -> Trace:
    """Find the record that a URI or the start of an id names, with everything around it; with
    `as_of`, as it was at that time. Of several records the one of `home_bank` is taken."""
    found = _trace_record(reader, find_record(reader, bank, text, home_bank))
    record = found.record
    known = reader.curation.state(record.bank, found.kind, record.id)
    decisions = decisions_about(reader.curation.log(record.bank), uri(found.kind, record.id))
    changes = reader.facts.status_changes(record.bank, [(found.kind, record.id)])
    was = known.was if known else ""
    note = _merge_note(record, text)
    ended = RecordEndings(reader, as_of).of(record)
    found = found._replace(history=tuple(decisions), superseded=was, note=note, ended=ended)
    if isinstance(record, Fact):
        evidence = reader.facts.evidence(record.bank, record.id)
        if as_of and record.validity.learned > as_of:
            raise NotFoundError(
                f"{uri('fact', record.id)} was not known then.",
                f"It was learned on {record.validity.learned[:10]}.",
            )
        if as_of:
            record = fact_as_of(record, changes, evidence, as_of)
            evidence = [b for b in evidence if b.time <= as_of]
        found = found._replace(record=record, bearings=tuple(evidence))
    return found._replace(
        lives=tuple(change for change in changes if not as_of or change.time <= as_of)
    )


def _merge_note(record: Record, text: str) -> str:
    """What to tell if a concept was asked for by the id of one that was merged into it."""
    named = parse_uri(text)
    if not isinstance(record, Concept) or named is None or record.id.startswith(named.id):
        return ""
    return f"{uri('concept', named.id)} was merged into this one."


def decisions_about(log: Iterable[Curation], target: str) -> list[Curation]:
    """All decisions about a record, with those that were undone and merges into it."""
    log = list(log)
    own = [e for e in log if e.target == target or (e.action is Action.MERGE and e.text == target)]
    numbers = {str(entry.seq) for entry in own}
    undone = [e for e in log if e.action is Action.UNDO and e.target in numbers]
    return sorted([*own, *undone], key=lambda entry: entry.seq)


def find_record(
    reader: Reader, bank: str | None, text: str, home_bank: Callable[[], str] = lambda: ""
) -> Record:
    """The one record that a URI or the start of an id names; of several, the one of `home_bank`.
    `#12` is the pull request or the issue of that number."""
    named = parse_uri(text)
    if named is None:
        raise InputError(
            f"{text!r} is not the name of a record.",
            "Give a URI such as holdfast://turn/0123456789abcdef, or the start of an id.",
        )
    if named.kind == "provided":
        raise NotFoundError(
            "What a plugin said is not kept.",
            f"Ask it again: holdfast providers test {named.id.partition('/')[0]} QUERY",
        )
    if named.kind == "remote":
        raise NotFoundError(
            f"This record is on the server {named.id.partition('/')[0]}, and is not stored here.",
            "Ask again to see it; `holdfast remote list` lists the servers.",
        )
    found = _find(reader, bank, named)
    exact = [record for record in found if record.id == named.id]
    found = exact or found
    if not found:
        _raise_if_hidden(reader, bank, named)
        raise NotFoundError(
            f"There is no record {text}.",
            "`holdfast recall` and `holdfast ask` print the URIs of records.",
        )
    if len(found) > 1 and (here := home_bank()):
        found = [record for record in found if record.bank == here] or found
    if len(found) > 1:
        names = ", ".join(uri(record_kind(record), record.id) for record in found)
        raise NotFoundError(f"Several records start with {named.id!r}.", f"One of: {names}.")
    return found[0]


def _find(reader: Reader, bank: str | None, named: Uri) -> list[Record]:
    number = named.id.removeprefix("#")
    if named.kind or number == named.id or not number.isdigit():
        return reader.records.find(bank, named.kind, named.id)
    return [*reader.records.find(bank, "pull", number), *reader.records.find(bank, "issue", number)]


def _raise_if_hidden(reader: Reader, bank: str | None, named: Uri) -> None:
    """Raise `NotFoundError` with the reason if a record was forgotten, merged or erased."""
    hidden = reader.curation.find_hidden(bank, named.kind, named.id)
    if not hidden:
        return
    c = hidden[0]
    name = uri(c.kind, c.id)
    if not c.is_hidden:
        raise NotFoundError(
            f"{name} is forgotten as a part of something else.", "Restore that to see it again."
        )
    decisions = decisions_about(reader.curation.log(c.bank), name)
    last = [e for e in decisions if e.target == name and e.action is not Action.CORRECT][-1:]
    when = f" on {last[0].time[:10]} by {last[0].who}" if last else ""
    if any(e.target == name and e.action is Action.PURGE for e in decisions):
        raise NotFoundError(f"{name} was erased permanently{when}.", "It cannot be restored.")
    how = f"was merged into {c.into}" if c.into else "was forgotten"
    raise NotFoundError(f"{name} {how}{when}.", f"`holdfast restore {c.id}` brings it back.")


def _trace_record(reader: Reader, record: Record) -> Trace:
    kind = record_kind(record)
    if isinstance(record, Turn):
        above = [
            x
            for x in reader.sessions.exchanges(record.bank, record.session)
            if x.first_seq <= record.seq <= x.last_seq
        ]
        names = [uri("exchange", x.id) for x in above] + [uri("session", record.session)]
        return Trace(kind, record, tuple(names), raw=raw_line(reader, record))
    if isinstance(record, Exchange):
        turns = reader.turns.of_session(
            record.bank, record.session, record.first_seq, record.last_seq
        )
        above = (*_concept(reader, record), uri("session", record.session))
        made, raw = commits_of(reader, record), _first_raw_line(reader, turns)
        return Trace(kind, record, above, tuple(turns), raw, commits=made)
    if isinstance(record, Digest | Session):
        session = record.session if isinstance(record, Digest) else record.id
        exchanges = reader.sessions.exchanges(record.bank, session)
        above = (uri("session", session),) if isinstance(record, Digest) else ()
        turns = reader.turns.of_session(record.bank, session, 1, 1)
        made, raw = commits_of(reader, record), _first_raw_line(reader, turns)
        return Trace(kind, record, above, tuple(exchanges), raw, commits=made)
    if isinstance(record, Claim):
        names = [uri("turn", record.turn)] * bool(record.turn) + [uri("exchange", record.exchange)]
        return Trace(kind, record, tuple(names))
    if isinstance(record, Concept):
        members = records_named(reader, record.bank, record.members)
        return Trace(kind, record, (), tuple(members))
    if isinstance(record, Memory):
        return _trace_memory(reader, record)
    if isinstance(record, Commit):
        return Trace(
            kind, record, names_above(reader, record), story=commit_details(reader, record)
        )
    if isinstance(record, Pull | Issue | Remark):
        below = () if isinstance(record, Remark) else records_below(reader, record)
        return Trace(kind, record, names_above(reader, record), tuple(below))
    return Trace(kind, record)


def _concept(reader: Reader, record: Exchange | Memory) -> tuple[str, ...]:
    concept = reader.concepts.of_record(record.bank, record_kind(record), record.id)
    return (uri("concept", concept.id),) if concept is not None else ()


def records_named(reader: Reader, bank: str, uris: Iterable[str]) -> Iterator[Record]:
    """The records of some URIs; those that do not exist are left out."""
    for one in uris:
        named = parse_uri(one)
        found = reader.records.find(bank, named.kind, named.id, 1) if named else []
        yield from (record for record in found if named and record.id == named.id)


def _trace_memory(reader: Reader, memory: Memory) -> Trace:
    """A memory with the evidence for and against it."""
    named = [parse_uri(name) for name in (*memory.evidence_for, *memory.evidence_against)]
    found = [reader.records.find(memory.bank, n.kind, n.id, 1) for n in named if n]
    below = tuple(records[0] for records in found if records)
    is_opinion = memory.network is Network.OPINION
    beliefs = reader.opinions.history(memory.bank, memory.id) if is_opinion else ()
    turn = stating_turn(reader, memory)
    raw = raw_line(reader, turn) if turn else None
    return Trace("memory", memory, _concept(reader, memory), below, raw, beliefs=tuple(beliefs))


def _first_raw_line(reader: Reader, turns: Sequence[Turn]) -> RawLine | None:
    return raw_line(reader, turns[0]) if turns else None


def _first_words(turn: Turn) -> str:
    """The turn's first words, by which a raw line without an id is recognised."""
    return turn.text.split("\n", 1)[0][:30].partition("[redacted:")[0]


def raw_line(reader: Reader, turn: Turn) -> RawLine | None:
    """The raw line of a turn, with its state if the file or the line is no longer there; None if
    the source is unknown."""
    source = reader.sources.get(turn.origin.source)
    if source is None:
        return None
    at = turn.origin
    line = at.line if has_own_lines(source.agent) else 0
    if reader.curation.is_raw_line_withheld(turn.bank, turn.id):
        return RawLine(source.path, line, RawState.WITHHELD)
    try:
        with source_snapshot(Path(source.path), source.agent).file.open("rb") as file:
            file.seek(at.offset)
            data = file.readline(_MAX_LINE_BYTES)
    except OSError:
        return RawLine(source.path, line, RawState.GONE)
    text = data.decode("utf-8", "replace").rstrip("\n")
    mark = at.ref or (turn.tool.call if turn.tool else "") or _first_words(turn)
    if not (at.line and text and mark in text.replace('\\"', '"')):
        return RawLine(source.path, line, RawState.CHANGED)
    line = line_on_disk(Path(source.path), source.agent, at.line, turn.text, at.ref)
    return RawLine(source.path, line, RawState.PRESENT, text)
