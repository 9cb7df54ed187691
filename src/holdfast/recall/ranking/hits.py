"""A candidate as the world sees it: with its place on disk and the reasons for its rank."""

from __future__ import annotations

from dataclasses import replace

from holdfast.model.imports import ImportedRecord
from holdfast.model.knowledge import Fact, Memory, Rule
from holdfast.model.query import LAYER_BY_KIND, Hit, Passage, SourceLocation
from holdfast.model.records import Digest, Exchange, Session, Turn
from holdfast.model.team import SharedRecord
from holdfast.model.uris import parse_uri, uri
from holdfast.recall.core.candidates import Candidate
from holdfast.recall.ranking.status import supersession_of
from holdfast.store.protocol import Reader

# The agent that is meant where none is named, and what no agent had a part in.
_UNSAID = ("claude-code", "conversation")


def make_hit(reader: Reader, candidate: Candidate, as_of: str = "") -> Hit:
    """The hit that a candidate is, or was at a time."""
    passage = candidate.passage
    session = reader.session(passage.bank, passage.session) if passage.session else None
    made = Hit(
        uri=uri(passage.kind, passage.id),
        kind=passage.kind,
        layer=LAYER_BY_KIND[passage.kind],
        score=round(candidate.score, 4),
        text=passage.body,
        time=passage.time,
        session=session.host if session else passage.session,
        bank=passage.bank,
        source=source_location(reader, passage),
        status=passage.status,
        astray="astray" in candidate.notes,
        trust=passage.trust,
        corrected=correction_note(reader, passage.bank, passage.kind, passage.id),
        shared=_shared(reader, passage),
        imported=_imported(reader, passage),
        agent=agent_label(session),
        why=_why(candidate),
    )
    by, before = supersession_of(reader, made, as_of)
    return replace(made, superseded_by=by, supersedes=before) if by or before else made


def agent_label(session: Session | None) -> str:
    """The agent of a session, as far as it is worth saying."""
    return session.agent if session is not None and session.agent not in _UNSAID else ""


def correction_note(reader: Reader, bank: str, kind: str, id: str) -> str:
    """Who said a record anew, and when; "" if nobody did. A fact is corrected also where what it
    rests on was."""
    for record in reader.find(bank, "fact", id, 1) if kind == "fact" else ():
        named = [parse_uri(name) for name in record.evidence] if isinstance(record, Fact) else []
        told = [
            correction_note(reader, bank, *name) for name in named if name and name.kind != "fact"
        ]
        if found := next(filter(None, told), ""):
            return found
    known = reader.curation_state(bank, kind, id)
    return f"by {known.who} on {known.time[:10]}" if known is not None and known.text else ""


def _shared(reader: Reader, passage: Passage) -> str:
    """Who shared a record, and when."""
    found = reader.find(passage.bank, "shared", passage.id, 1) if passage.kind == "shared" else ()
    told = [f"by {s.author} on {s.shared[:10]}" for s in found if isinstance(s, SharedRecord)]
    return "".join(told)


def _imported(reader: Reader, passage: Passage) -> str:
    """What an imported record is called in the program it comes from."""
    kind = passage.kind
    found = reader.find(passage.bank, kind, passage.id, 1) if kind == "imported" else ()
    return "".join(one.origin for one in found if isinstance(one, ImportedRecord))


def _why(candidate: Candidate) -> dict[str, float]:
    """Each arm's place, then each kind of evidence, then what moved it."""
    why: dict[str, float] = dict(candidate.ranks)
    why |= {f"{arm}_score": round(value, 4) for arm, value in candidate.scores.items()}
    why |= {
        "coverage": round(candidate.coverage, 3),
        "coverage_alone": round(candidate.coverage_alone, 3),
    }
    return why | candidate.notes


def source_location(reader: Reader, passage: Passage) -> SourceLocation:
    """Where a passage's raw words lie: its own line, or the first line of what it sums up."""
    if passage.kind in ("commit", "pull", "issue", "remark"):
        return SourceLocation(id=passage.id)
    if passage.kind == "rule":
        found = reader.find(passage.bank, "rule", passage.id, limit=1)
        return next(
            (SourceLocation(r.file, r.line) for r in found if isinstance(r, Rule)), SourceLocation()
        )
    turn = first_turn(reader, passage)
    if turn is None:
        return SourceLocation()
    source = reader.source(turn.origin.source)
    return SourceLocation(source.path if source else "", turn.origin.line, turn.origin.ref)


def first_turn(reader: Reader, passage: Passage) -> Turn | None:
    """The turn that a passage is, or starts with."""
    found = reader.find(passage.bank, passage.kind, passage.id, limit=1)
    record = found[0] if found else None
    if isinstance(record, Turn):
        return record
    if isinstance(record, Memory) and passage.session:
        turns = reader.turns(passage.bank, passage.session, passage.seq, passage.seq)
        return turns[0] if turns else None
    first = record.first_seq if isinstance(record, Exchange) else 1
    if not isinstance(record, Exchange | Digest):
        return None
    turns = reader.turns(record.bank, record.session, first, first)
    return turns[0] if turns else None
