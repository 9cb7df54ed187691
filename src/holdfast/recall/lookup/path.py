"""The path through a record: fact, concept, exchange, turn, raw line.

Upwards it lists what rests on the record, downwards what the record rests on, each step with the
URI of the one above it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from holdfast.language import truncate
from holdfast.model.forge import Issue, Pull, Remark
from holdfast.model.graph import Entity
from holdfast.model.imports import ImportedRecord
from holdfast.model.kinds import record_kind
from holdfast.model.knowledge import Claim, Concept, Fact, Memory, Pattern, Rule
from holdfast.model.records import Digest, Exchange, Session, Turn
from holdfast.model.team import Commit, SharedRecord
from holdfast.model.uris import uri
from holdfast.recall.lookup.commits import records_below
from holdfast.recall.lookup.trace import find_record, raw_line, records_named
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Reader

LEVELS: Mapping[str, str] = {
    "rule": "L4",
    "fact": "L4",
    "memory": "L4",
    "concept": "L3",
    "session": "L2",
    "digest": "L2",
    "exchange": "L2",
    "turn": "L1",
    "line": "raw",
}
_MAX_TITLE = 120
# The records of each kind on the way down; more are counted in `Path.left_out`.
_MAX_PER_KIND = {"exchange": 50, "turn": 200}
_MAX_OF_OTHER_KINDS = 50


class PathStep(NamedTuple):
    """One record on a path; `under` is the URI of the record above it. `path`, `line` and `state`
    are those of a raw line."""

    level: str
    kind: str
    uri: str
    title: str
    time: str
    under: str = ""
    path: str = ""
    line: int = 0
    state: str = ""


class Path(NamedTuple):
    """What rests on a record, the record, and what it rests on, down to the raw lines. `left_out`
    counts by kind what did not fit."""

    uri: str
    kind: str
    up: tuple[PathStep, ...]
    here: PathStep
    down: tuple[PathStep, ...]
    left_out: dict[str, int]


def path_through(reader: Reader, bank: str | None, text: str) -> Path:
    """The path through the record that a URI, or the start of an id, names."""
    record = find_record(reader, bank, text)
    return _PathBuilder(reader).path(record)


class _PathBuilder:
    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._seen: set[str] = set()
        self._counted: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()

    def path(self, record: Record) -> Path:
        up = list(self._up(record))
        here = _step(record, "")
        self._seen.add(here.uri)
        down = tuple(self._down(record))
        order = {level: n for n, level in enumerate(("L4", "L3", "L2", "L1"))}
        up.sort(key=lambda step: order.get(step.level, 0))
        return Path(here.uri, here.kind, tuple(up), here, down, dict(self._left_out))

    def _up(self, record: Record) -> Iterator[PathStep]:
        """What rests on a record, and what rests on that."""
        below = [record]
        while below:
            found: dict[str, Record] = {}
            for one in below:
                for above in self._above(one):
                    found[_uri(above)] = above
            new = {name: above for name, above in found.items() if name not in self._seen}
            self._seen |= new.keys()
            yield from (_step(above, "") for above in new.values())
            below = list(new.values())

    def _above(self, record: Record) -> Iterator[Record]:
        if isinstance(record, Turn):
            for exchange in self._reader.sessions.exchanges(record.bank, record.session):
                if exchange.first_seq <= record.seq <= exchange.last_seq:
                    yield exchange
        yield from self._reader.facts.stated_in(record.bank, _uri(record))
        concept = self._reader.concepts.of_record(record.bank, record_kind(record), record.id)
        if concept is not None:
            yield concept

    def _down(self, record: Record) -> Iterator[PathStep]:
        """What a record rests on, depth first."""
        own = _uri(record)
        if isinstance(record, Turn):
            yield from self._raw_step(record)
            return
        if isinstance(record, Fact):
            yield from self._down_from_fact(record)
            return
        for below in self._below(record):
            name = _uri(below)
            if name in self._seen:
                continue
            self._seen.add(name)
            kind = record_kind(below)
            if self._counted[kind] >= _MAX_PER_KIND.get(kind, _MAX_OF_OTHER_KINDS):
                self._left_out[kind] += 1
                continue
            self._counted[kind] += 1
            yield _step(below, own)
            yield from self._down(below)

    def _down_from_fact(self, fact: Fact) -> Iterator[PathStep]:
        """Each piece of evidence under the exchange it was said in, and that under its concept."""
        for evidence in records_named(self._reader, fact.bank, fact.evidence):
            chain = [*reversed(list(self._containers(evidence))), evidence]
            under = _uri(fact)
            for record in chain:
                if _uri(record) not in self._seen:
                    self._seen.add(_uri(record))
                    yield _step(record, under)
                under = _uri(record)
            yield from self._down(evidence)

    def _containers(self, record: Record) -> Iterator[Record]:
        """The exchange of a turn, and the concept of either."""
        while True:
            above = [one for one in self._above(record) if isinstance(one, Exchange | Concept)]
            if not above:
                return
            record = above[0]
            yield record

    def _below(self, record: Record) -> Iterable[Record]:
        reader = self._reader
        if isinstance(record, Exchange):
            return reader.turns.of_session(
                record.bank, record.session, record.first_seq, record.last_seq
            )
        if isinstance(record, Digest | Session):
            session = record.session if isinstance(record, Digest) else record.id
            return reader.sessions.exchanges(record.bank, session)
        if isinstance(record, Pull | Issue):
            return records_below(reader, record)
        return records_named(reader, record.bank, _evidence(record))

    def _raw_step(self, turn: Turn) -> Iterator[PathStep]:
        raw = raw_line(self._reader, turn)
        if raw is not None:
            yield PathStep(
                LEVELS["line"], "line", "", "", turn.time, uri("turn", turn.id), raw.path, raw.line,
                raw.state.value,
            )  # fmt: skip


def _evidence(record: Any) -> tuple[str, ...]:
    """The URIs of a record's members or evidence."""
    for name in ("members", "evidence", "evidence_for"):
        uris: tuple[str, ...] = getattr(record, name, ())
        if uris:
            return uris
    return ()


def _uri(record: Record) -> str:
    return uri(record_kind(record), record.id)


def _step(record: Record, under: str) -> PathStep:
    kind = record_kind(record)
    title, time = describe_record(record)
    return PathStep(
        LEVELS.get(kind, ""), kind, _uri(record), truncate(title, _MAX_TITLE), time, under
    )


def describe_record(record: Record) -> tuple[str, str]:
    """A record's title and time."""
    match record:
        case Turn():
            tool = record.tool
            said = f"{tool.name} {tool.target or tool.action}" if tool else record.text
            return said, record.time
        case Exchange():
            return record.title, record.started
        case Digest():
            return record.request, record.started
        case Session():
            return record.title or record.host, record.started
        case Commit():
            return record.subject, record.time
        case Pull() | Issue():
            return f"#{record.number} {record.title}", record.time
        case Claim() | Remark() | SharedRecord():
            return record.text, record.time
        case ImportedRecord():
            return record.title or record.text, record.time
        case _:
            return _describe_known(record)


def _describe_known(
    record: Memory | Concept | Fact | Entity | Rule | Pattern,
) -> tuple[str, str]:
    match record:
        case Memory():
            return record.what, record.when
        case Concept():
            return record.name, record.updated
        case Fact():
            return record.content, record.validity.learned
        case Entity():
            return record.name, ""
        case Rule():
            return record.heading or record.text, record.updated
        case Pattern():
            return record.content, record.last
