"""From any record down to the raw line it came from, which may be gone by now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from holdfast.errors import InputError, NotFoundError
from holdfast.model.curation import Action, Curation
from holdfast.model.fact_history import fact_as_of
from holdfast.model.forge import Issue, Pull, Remark
from holdfast.model.knowledge import (
    Claim,
    Concept,
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
from holdfast.recall.lookup.commit_links import names_above, records_below
from holdfast.recall.lookup.commits import CommitDetails, SessionCommit, commit_details, commits_of
from holdfast.sources.source_files import source_snapshot
from holdfast.store.protocol import Reader, Record

_RAW_LIMIT = 8 * 1024 * 1024


class RawState(StrEnum):
    """Whether the raw line can still be opened."""

    PRESENT = "present"
    GONE = "gone"
    CHANGED = "changed"
    WITHHELD = "withheld"


class RawLine(NamedTuple):
    """The line under a turn, as it is on disk now."""

    path: str
    line: int
    state: RawState
    text: str = ""


class Trace(NamedTuple):
    """A record, what it stands in (`above`), what it is made of (`below`), the raw line of its
    first turn, what people decided about it, and the words that its last correction replaced; the
    changes of its status, what bears on a fact, and how firmly an opinion was believed over time;
    the story of a commit, and the `commits` that a session or an exchange made. `note` says so
    where another name was asked for than the record has now."""

    word: str
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


def kind_of(record: Record) -> str:
    """The word in a record's URI."""
    return type(record).__name__.lower()


def trace(
    reader: Reader,
    bank: str | None,
    text: str,
    as_of: str = "",
    near: Callable[[], str] = lambda: "",
) -> Trace:
    """Find the record that a URI, or the start of an id, names, and walk down from it; as it
    stood at a time, if one is given. Of several, that of the bank that is `near`."""
    found = _walk(reader, find_record(reader, bank, text, near))
    record = found.record
    known = reader.curation_state(record.bank, found.word, record.id)
    told = decisions_about(reader.curations(record.bank), uri(found.word, record.id))
    lives = reader.status_changes(record.bank, [(found.word, record.id)])
    was = known.was if known else ""
    found = found._replace(history=tuple(told), superseded=was, note=_went_into(record, text))
    if isinstance(record, Fact):
        bearings = reader.fact_evidence(record.bank, record.id)
        if as_of and record.validity.learned > as_of:
            raise NotFoundError(
                f"{uri('fact', record.id)} was not known then.",
                f"It was learned on {record.validity.learned[:10]}.",
            )
        if as_of:
            record = fact_as_of(record, lives, bearings, as_of)
            bearings = [b for b in bearings if b.time <= as_of]
        found = found._replace(record=record, bearings=tuple(bearings))
    return found._replace(lives=tuple(life for life in lives if not as_of or life.time <= as_of))


def _went_into(record: Record, text: str) -> str:
    """Concepts merge as evidence grows; the old name leads to what holds it now."""
    named = parse_uri(text)
    if not isinstance(record, Concept) or named is None or record.id.startswith(named.id):
        return ""
    return f"{uri('concept', named.id)} went into this one."


def decisions_about(log: Iterable[Curation], target: str) -> list[Curation]:
    """Everything that was decided about a record, what was undone and what went into it
    included."""
    log = list(log)
    own = [e for e in log if e.target == target or (e.action is Action.MERGE and e.text == target)]
    numbers = {str(entry.seq) for entry in own}
    undone = [e for e in log if e.action is Action.UNDO and e.target in numbers]
    return sorted([*own, *undone], key=lambda entry: entry.seq)


def find_record(
    reader: Reader, bank: str | None, text: str, near: Callable[[], str] = lambda: ""
) -> Record:
    """The one record that a URI, or the start of an id, names; of several, that of the bank that is
    `near`. `#12` is the pull or the issue of that number."""
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
            f"This record lies on the server {named.id.partition('/')[0]}, and is not kept here.",
            "Ask again to see it; `holdfast remote list` tells where it is.",
        )
    found = _found(reader, bank, named)
    exact = [record for record in found if record.id == named.id]
    found = exact or found
    if not found:
        _tell_if_put_away(reader, bank, named)
        raise NotFoundError(
            f"There is no record {text}.",
            "Names come from `holdfast recall` and `holdfast ask`; add --bank all to look "
            "in every bank.",
        )
    if len(found) > 1 and (here := near()):
        found = [record for record in found if record.bank == here] or found
    if len(found) > 1:
        names = ", ".join(uri(kind_of(record), record.id) for record in found)
        raise NotFoundError(f"Several records start with {named.id!r}.", f"One of: {names}.")
    return found[0]


def _found(reader: Reader, bank: str | None, named: Uri) -> list[Record]:
    number = named.id.removeprefix("#")
    if named.kind or number == named.id or not number.isdigit():
        return reader.find(bank, named.kind, named.id)
    return [*reader.find(bank, "pull", number), *reader.find(bank, "issue", number)]


def _tell_if_put_away(reader: Reader, bank: str | None, named: Uri) -> None:
    away = reader.find_hidden(bank, named.kind, named.id)
    if not away:
        return
    c = away[0]
    name = uri(c.kind, c.id)
    if not c.is_hidden:
        raise NotFoundError(
            f"{name} is forgotten as a part of something else.", "Restore that to see it again."
        )
    told = decisions_about(reader.curations(c.bank), name)
    last = [e for e in told if e.target == name and e.action is not Action.CORRECT][-1:]
    when = f" on {last[0].time[:10]} by {last[0].who}" if last else ""
    if any(e.target == name and e.action is Action.PURGE for e in told):
        raise NotFoundError(f"{name} was erased for good{when}.", "Nothing can bring it back.")
    how = f"went into {c.into}" if c.into else "was forgotten"
    raise NotFoundError(f"{name} {how}{when}.", f"`holdfast restore {c.id}` brings it back.")


def _walk(reader: Reader, record: Record) -> Trace:
    word = kind_of(record)
    if isinstance(record, Turn):
        above = [x for x in reader.exchanges(record.bank, record.session) if _holds(x, record)]
        names = [uri("exchange", x.id) for x in above] + [uri("session", record.session)]
        return Trace(word, record, tuple(names), raw=raw_line(reader, record))
    if isinstance(record, Exchange):
        turns = reader.turns(record.bank, record.session, record.first_seq, record.last_seq)
        above = (*_concept(reader, record), uri("session", record.session))
        made, raw = commits_of(reader, record), _first_raw(reader, turns)
        return Trace(word, record, above, tuple(turns), raw, commits=made)
    if isinstance(record, Digest | Session):
        session = record.session if isinstance(record, Digest) else record.id
        exchanges = reader.exchanges(record.bank, session)
        above = (uri("session", session),) if isinstance(record, Digest) else ()
        turns = reader.turns(record.bank, session, 1, 1)
        made, raw = commits_of(reader, record), _first_raw(reader, turns)
        return Trace(word, record, above, tuple(exchanges), raw, commits=made)
    if isinstance(record, Claim):
        names = [uri("turn", record.turn)] * bool(record.turn) + [uri("exchange", record.exchange)]
        return Trace(word, record, tuple(names))
    if isinstance(record, Concept):
        return Trace(word, record, (), tuple(_members(reader, record)))
    if isinstance(record, Memory):
        return _of_memory(reader, record)
    if isinstance(record, Commit):
        return Trace(
            word, record, names_above(reader, record), story=commit_details(reader, record)
        )
    if isinstance(record, Pull | Issue | Remark):
        below = () if isinstance(record, Remark) else records_below(reader, record)
        return Trace(word, record, names_above(reader, record), tuple(below))
    return Trace(word, record)


def _concept(reader: Reader, record: Exchange | Memory) -> tuple[str, ...]:
    concept = reader.concept_of(record.bank, kind_of(record), record.id)
    return (uri("concept", concept.id),) if concept is not None else ()


def _members(reader: Reader, concept: Concept) -> Iterable[Record]:
    for member in concept.members:
        named = parse_uri(member)
        found = reader.find(concept.bank, named.kind, named.id, 1) if named else []
        yield from (record for record in found if named and record.id == named.id)


def _of_memory(reader: Reader, memory: Memory) -> Trace:
    """A memory is made of what speaks for and against it."""
    named = [parse_uri(name) for name in (*memory.evidence_for, *memory.evidence_against)]
    found = [reader.find(memory.bank, n.kind, n.id, 1) for n in named if n]
    below = tuple(records[0] for records in found if records)
    told = (
        reader.opinion_history(memory.bank, memory.id) if memory.network is Network.OPINION else ()
    )
    return Trace("memory", memory, _concept(reader, memory), below, beliefs=tuple(told))


def _holds(exchange: Exchange, turn: Turn) -> bool:
    return exchange.first_seq <= turn.seq <= exchange.last_seq


def _first_raw(reader: Reader, turns: Sequence[Turn]) -> RawLine | None:
    return raw_line(reader, turns[0]) if turns else None


def _words(turn: Turn) -> str:
    """What must stand on a line that has no id: the turn's first words."""
    return turn.text.split("\n", 1)[0][:30].partition("[redacted:")[0]


def raw_line(reader: Reader, turn: Turn) -> RawLine | None:
    """Open the line under a turn; says so when the file or the line is no longer there."""
    source = reader.source(turn.origin.source)
    if source is None:
        return None
    if reader.is_raw_line_withheld(turn.bank, turn.id):
        return RawLine(source.path, turn.origin.line, RawState.WITHHELD)
    try:
        with source_snapshot(Path(source.path), source.agent).file.open("rb") as file:
            file.seek(turn.origin.offset)
            data = file.readline(_RAW_LIMIT)
    except OSError:
        return RawLine(source.path, turn.origin.line, RawState.GONE)
    text = data.decode("utf-8", "replace").rstrip("\n")
    known = turn.origin.ref or (turn.tool.call if turn.tool else "") or _words(turn)
    there = bool(turn.origin.line and text and known in text.replace('\\"', '"'))
    state = RawState.PRESENT if there else RawState.CHANGED
    return RawLine(source.path, turn.origin.line, state, text if state == "present" else "")
