"""Records to rows and back. A table has the columns of its dataclass, in any order; tuples are JSON
arrays. A function names the constant whose columns it takes or returns."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from holdfast.model.bank import Bank, Disposition
from holdfast.model.curation import Action, Curation, CurationState
from holdfast.model.graph import Entity, EntityKind
from holdfast.model.knowledge import Concept, ConceptEvent, Memory, Network, Validity
from holdfast.model.ledgers.lines import FailedLine, Source, SourceState
from holdfast.model.opinions import MemoryOccurrence, Opinion, Stance, Trend
from holdfast.model.query import LAYER_BY_KIND, Passage
from holdfast.model.records import (
    Digest,
    Exchange,
    ExchangeType,
    Origin,
    Outcome,
    Role,
    Session,
    ToolCall,
    Turn,
)
from holdfast.model.team import Commit
from holdfast.model.trust import Status, Trust

Row = tuple[Any, ...]

BANK = "id, name, created, background, skepticism, literalism, empathy, retention"
SOURCE = (
    'id, path, agent, bank, "offset", lines, '
    "prefix, stamp, l1_bytes, rewrites, state, problem, "
    "read_at"
)
SESSION = (
    "bank, id, host, agent, parent, subagent, title, cwd, branch, version, started, ended, source"
)
TURN = (
    "bank, id, session, seq, time, role, trust, text, speaker, branch, "
    "tool, target, lines, action, result, ok, duration_ms, call, source, line, "
    '"offset", ref'
)
EXCHANGE = (
    "bank, id, session, first_seq, last_seq, started, ended, type, title, summary, details, "
    "outcome, trust, facts, keywords, files_read, files_modified, branch, status, author"
)
DIGEST = (
    "bank, id, session, started, ended, request, outcome, trust, investigated, learned, "
    "completed, next_steps, topics, exchanges, author"
)
COMMIT = "bank, id, time, author, email, subject, body, files, parents, trust"
PASSAGE = "bank, kind, id, session, time, body, context, trust, status, role, seq, hash"
FAILED_LINE = 'source, line, "offset", reason, excerpt, reader'
CURATION_STATE = 'bank, kind, id, session, forgotten, "into", text, time, who, was'
REMEMBERED = "bank, id, time, who, text, trust"
MEMORY = (
    "bank, id, time, who, text, network, place, why, confidence, trust, status, favour, against, "
    "seen"
)
OCCURRENCE = (
    "key, seq, time, network, what, trust, place, who, why, context, evidence, needs, confidence"
)
STANCE = "uri, session, seq, time, target, aspect, name, word, positive, weight, who, trust, text"
RETAINED = "bank, id, key, time, network, what, trust, place, who, why, evidence, seen, confidence"
OPINION = (
    "bank, id, target, aspect, positive, what, why, confidence, trend, status, trust, formed, "
    "updated, latest, sessions, favour, against, tension, settled, author"
)
CONCEPT = "bank, id, name, summary, founded, updated, trust, files, keywords, history"
ENTITY = "bank, id, kind, name, aliases, mentions"


def _list(values: Iterable[str]) -> str:
    return json.dumps(list(values), ensure_ascii=False, separators=(",", ":"))


def _tuple(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def listed(text: str) -> tuple[str, ...]:
    """A JSON array of texts."""
    return _tuple(text)


def _fields(columns: str, row: Row) -> dict[str, Any]:
    return dict(zip(columns.replace('"', "").split(", "), row, strict=True))


def _with_enums(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields with trust and status as enums."""
    fields["trust"] = Trust(fields["trust"])
    if "status" in fields:
        fields["status"] = Status(fields["status"])
    return fields


def bank_of(row: Row, aliases: Iterable[str]) -> Bank:
    """`id, name, created, background, skepticism, literalism, empathy, retention`."""
    return Bank(row[0], row[1], row[2], row[3], Disposition(*row[4:7]), tuple(aliases), row[7])


def source_of(row: Row) -> Source:
    """`SOURCE`."""
    fields = _fields(SOURCE, row)
    fields["state"] = SourceState(fields["state"])
    return Source(**fields)


def session_of(row: Row) -> Session:
    """`SESSION`."""
    return Session(*row)


def session_row(session: Session) -> Row:
    """`SESSION`."""
    return (
        session.bank, session.id, session.host, session.agent, session.parent, session.subagent,
        session.title, session.cwd, session.branch, session.version, session.started,
        session.ended, session.source,
    )  # fmt: skip


def turn_of(row: Row) -> Turn:
    """`TURN`."""
    tool = None
    if row[10] is not None:
        ok = None if row[15] is None else bool(row[15])
        tool = ToolCall(row[10], row[11], row[12], row[13], row[14], ok, row[16], row[17])
    return Turn(
        row[0], row[1], row[2], row[3], row[4], Role(row[5]), Trust(row[6]), row[7], row[8],
        row[9], tool, Origin(*row[18:22]),
    )  # fmt: skip


def turn_row(turn: Turn) -> Row:
    """`TURN`."""
    tool = turn.tool
    done: Row = (None,) * 8
    if tool is not None:
        ok = None if tool.ok is None else int(tool.ok)
        done = (
            tool.name, tool.target, tool.lines, tool.action, tool.result, ok, tool.duration_ms,
            tool.call,
        )  # fmt: skip
    at = turn.origin
    return (
        turn.bank, turn.id, turn.session, turn.seq, turn.time, turn.role.value, turn.trust.value,
        turn.text, turn.speaker, turn.branch, *done, at.source, at.line, at.offset, at.ref,
    )  # fmt: skip


def exchange_of(row: Row) -> Exchange:
    """`EXCHANGE`."""
    fields = _fields(EXCHANGE, row)
    for name in ("facts", "keywords", "files_read", "files_modified"):
        fields[name] = _tuple(fields[name])
    fields["type"] = ExchangeType(fields["type"])
    fields["outcome"] = Outcome(fields["outcome"])
    return Exchange(**_with_enums(fields))


def exchange_row(exchange: Exchange) -> Row:
    """`EXCHANGE`."""
    x = exchange
    return (
        x.bank, x.id, x.session, x.first_seq, x.last_seq, x.started, x.ended, x.type.value,
        x.title, x.summary, x.details, x.outcome.value, x.trust.value, _list(x.facts),
        _list(x.keywords), _list(x.files_read), _list(x.files_modified), x.branch, x.status.value,
        x.author,
    )  # fmt: skip


def digest_of(row: Row) -> Digest:
    """`DIGEST`."""
    fields = _fields(DIGEST, row)
    for name in ("investigated", "learned", "completed", "next_steps", "topics"):
        fields[name] = _tuple(fields[name])
    fields["outcome"] = Outcome(fields["outcome"])
    return Digest(**_with_enums(fields))


def digest_row(digest: Digest) -> Row:
    """`DIGEST`."""
    d = digest
    return (
        d.bank, d.id, d.session, d.started, d.ended, d.request, d.outcome.value, d.trust.value,
        _list(d.investigated), _list(d.learned), _list(d.completed), _list(d.next_steps),
        _list(d.topics), d.exchanges, d.author,
    )  # fmt: skip


def commit_of(row: Row) -> Commit:
    """`COMMIT`."""
    fields = _fields(COMMIT, row)
    fields["files"], fields["parents"] = _tuple(fields["files"]), _tuple(fields["parents"])
    return Commit(**_with_enums(fields))


def commit_row(commit: Commit) -> Row:
    """`COMMIT`."""
    c = commit
    return (
        c.bank, c.id, c.time, c.author, c.email, c.subject, c.body, _list(c.files),
        _list(c.parents), c.trust.value,
    )  # fmt: skip


def passage_of(row: Row) -> Passage:
    """`PASSAGE`."""
    return Passage(**_with_enums(_fields(PASSAGE, row)))


def passage_row(passage: Passage) -> Row:
    """`PASSAGE`, then `scope`."""
    p = passage
    return (
        p.bank, p.kind, p.id, p.session, p.time, p.body, p.context, p.trust.value,
        p.status.value, p.role, p.seq, p.hash,
        f"{bank_word(p.bank)} {layer_word(LAYER_BY_KIND[p.kind])}",
    )  # fmt: skip


def bank_word(bank: str) -> str:
    """The word for a bank in the full-text index: no text contains it, and neither stemming nor
    folding makes it equal to another one."""
    return f"zzbank{bank.encode('utf-8', 'surrogatepass').hex()}0"


def layer_word(layer: str) -> str:
    """The word for a layer in the full-text index."""
    return f"zzlayer{layer.encode('utf-8', 'surrogatepass').hex()}0"


def failed_line_of(row: Row) -> FailedLine:
    """`FAILED_LINE`."""
    return FailedLine(*row)


def curation_of(row: Row) -> Curation:
    """`seq, bank, time, action, target, text, who`."""
    fields = _fields("seq, bank, time, action, target, text, who", row)
    fields["action"] = Action(fields["action"])
    return Curation(**fields)


def curation_state_of(row: Row) -> CurationState:
    """`CURATION_STATE`."""
    bank, kind, id, session, forgotten, *rest = row
    return CurationState(bank, kind, id, session, bool(forgotten), *rest)


def memory_of(row: Row) -> Memory:
    """`MEMORY`. It is valid from its time on."""
    bank, id, time, who, text, network, place, why, confidence, trust, status, *rest = row
    favour, against, seen = rest
    return Memory(
        bank, id, Network(network), text, Trust(trust), when=time, where=place, who=who, why=why,
        confidence=confidence, status=Status(status),
        validity=Validity(since=time, learned=time), evidence_for=_tuple(favour),
        evidence_against=_tuple(against), seen=seen,
    )  # fmt: skip


def remembered_row(memory: Memory) -> Row:
    """`REMEMBERED`."""
    return memory.bank, memory.id, memory.when, memory.who, memory.what, memory.trust.value


def concept_of(row: Row, members: Iterable[str] = ()) -> Concept:
    """`CONCEPT`; its members are in a table of their own."""
    fields = _fields(CONCEPT, row)
    fields["files"], fields["keywords"] = _tuple(fields["files"]), _tuple(fields["keywords"])
    fields["history"] = tuple(ConceptEvent(*event) for event in json.loads(fields["history"]))
    return Concept(**_with_enums(fields), members=tuple(members))


def concept_row(concept: Concept) -> Row:
    """`CONCEPT`."""
    c = concept
    history = json.dumps(c.history, ensure_ascii=False, separators=(",", ":"))
    return (
        c.bank, c.id, text(c.name), text(c.summary), c.founded, c.updated, c.trust.value,
        _list(c.files), _list(c.keywords), history,
    )  # fmt: skip


def entity_of(row: Row) -> Entity:
    """`ENTITY`."""
    return Entity(row[0], row[1], EntityKind(row[2]), row[3], _tuple(row[4]), row[5])


def entity_row(entity: Entity) -> Row:
    """`ENTITY`."""
    e = entity
    return e.bank, e.id, e.kind.value, e.name, _list(e.aliases), e.mentions


def occurrence_of(row: Row) -> MemoryOccurrence:
    """`OCCURRENCE`."""
    key, seq, time, network, what, trust, place, who, why, context, evidence, *rest = row
    return MemoryOccurrence(
        key, seq, time, Network(network), what, Trust(trust), place, who, why, context,
        _tuple(evidence), *rest,
    )  # fmt: skip


def occurrence_row(s: MemoryOccurrence) -> Row:
    """`OCCURRENCE`."""
    return (
        s.key, s.seq, s.time, s.network.value, s.what, s.trust.value, s.where, s.who, s.why,
        s.context, _list(s.evidence), s.needs, s.confidence,
    )  # fmt: skip


def retained_row(key: str, m: Memory) -> Row:
    """`RETAINED`."""
    return (
        m.bank, m.id, key, m.when, m.network.value, m.what, m.trust.value, m.where, m.who, m.why,
        _list(m.evidence_for), m.seen, m.confidence,
    )  # fmt: skip


def stance_of(row: Row) -> Stance:
    """`STANCE`."""
    judged = bool(row[8]), row[9], row[10], Trust(row[11]), row[12]
    return Stance._make((*row[:8], *judged))


def stance_row(stance: Stance) -> Row:
    """`STANCE`."""
    return (*stance[:8], int(stance.positive), stance.weight, stance.who, stance.trust.value,
        stance.text)  # fmt: skip


def opinion_of(row: Row) -> Opinion:
    """`OPINION`."""
    fields = _fields(OPINION, row)
    fields["positive"] = bool(fields["positive"])
    fields["trend"] = Trend(fields["trend"])
    fields["evidence_for"] = _tuple(fields.pop("favour"))
    fields["evidence_against"] = _tuple(fields.pop("against"))
    return Opinion(**_with_enums(fields))


def opinion_row(o: Opinion) -> Row:
    """`OPINION`."""
    return (
        o.bank, o.id, o.target, o.aspect, int(o.positive), o.what, o.why, o.confidence,
        o.trend.value, o.status.value, o.trust.value, o.formed, o.updated, o.latest, o.sessions,
        _list(o.evidence_for), _list(o.evidence_against), o.tension, o.settled, o.author,
    )  # fmt: skip


def text(given: str) -> str:
    """A text that can be stored, without halves of surrogate pairs."""
    return given.encode("utf-8", "replace").decode("utf-8")
