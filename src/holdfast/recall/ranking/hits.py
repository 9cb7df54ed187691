"""Hits: which candidates are returned (as many as the token budget holds, none cut, none that only
repeats a better one), with their source on disk and the reasons for their rank."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.language import words
from holdfast.lazy_dataclass import replace
from holdfast.model.imports import ImportedRecord
from holdfast.model.kinds import knowledge_kind
from holdfast.model.knowledge import Fact, Kind, Memory, Rule
from holdfast.model.query import LAYER_BY_KIND, Hit, Passage, SourceLocation
from holdfast.model.records import Digest, Exchange, Session, Turn
from holdfast.model.team import SharedRecord
from holdfast.model.trust import ENDED_STATUSES, Status
from holdfast.model.uris import parse_uri, uri
from holdfast.recall.core.candidates import Candidate
from holdfast.recall.core.correction_notes import correction_of_evidence, own_correction
from holdfast.recall.core.evidence_turns import stating_turn
from holdfast.recall.ranking.status import mark_ended, supersession_of
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Reader

# Not shown: the default agent, and imported conversations, in which no agent took part.
_UNLABELLED_AGENTS = ("claude-code", "conversation")
# The records that say something of a kind of knowledge, and their layers.
_KNOWLEDGE_RECORDS = ("memory", "fact", "rule")
# A hit of these says all that there is in its passage.
_WHOLE_PASSAGES = ("commit", "pull", "issue", "remark")
KNOWLEDGE_LAYERS = tuple(dict.fromkeys(LAYER_BY_KIND[kind] for kind in _KNOWLEDGE_RECORDS))


def make_hit(reader: Reader, candidate: Candidate, as_of: str = "") -> Hit:
    """The hit for a candidate; with `as_of`, as it was at that time."""
    if candidate.ended is None:
        mark_ended(reader, [candidate], as_of)
    passage = candidate.passage
    session = reader.sessions.get(passage.bank, passage.session) if passage.session else None
    record = None if passage.kind in _WHOLE_PASSAGES else record_of(reader, passage)
    shared, imported = _origin_notes(reader, record)
    made = Hit(
        uri=uri(passage.kind, passage.id),
        kind=passage.kind,
        layer=LAYER_BY_KIND[passage.kind],
        score=round(candidate.score, 4),
        text=passage.body,
        time=passage.time,
        session=session.host if session else passage.session,
        bank=passage.bank,
        source=source_location(reader, passage, record),
        status=passage.status,
        astray="astray" in candidate.notes,
        trust=passage.trust,
        corrected=_correction_of(reader, passage, record),
        shared=shared,
        imported=imported,
        ended=candidate.ended or (),
        agent=agent_label(session),
        knowledge=_knowledge_in(record),
        why=_why(candidate),
    )
    by, before = supersession_of(reader, made, as_of)
    if made.status is Status.SUPERSEDED:
        by = by or next((one.instead for one in made.ended if "/fact/" in one.instead), "")
    return replace(made, superseded_by=by, supersedes=before) if by or before else made


def knowledge_of(reader: Reader, passage: Passage) -> Kind | None:
    """The kind of what the record of a passage says; None if it is no knowledge of a kind."""
    if passage.kind not in _KNOWLEDGE_RECORDS:
        return None
    return _knowledge_in(record_of(reader, passage))


def _knowledge_in(record: Record | None) -> Kind | None:
    return knowledge_kind(record) if isinstance(record, Memory | Fact | Rule) else None


def record_of(reader: Reader, passage: Passage) -> Record | None:
    """The record that a passage is a text of."""
    found = reader.records.find(passage.bank, passage.kind, passage.id, 1)
    return found[0] if found else None


def agent_label(session: Session | None) -> str:
    """The name of a session's agent; "" for the default agent and for conversations."""
    return session.agent if session is not None and session.agent not in _UNLABELLED_AGENTS else ""


def _correction_of(reader: Reader, passage: Passage, record: Record | None) -> str:
    """`correction_note` of the record of a passage, which was read already."""
    bank = passage.bank
    note = correction_of_evidence(reader, bank, record) if isinstance(record, Fact) else ""
    return note or own_correction(reader, bank, passage.kind, passage.id)


def _origin_notes(reader: Reader, record: Record | None) -> tuple[str, str]:
    """Who shared a record and when, and its name in the program it was imported from. A fact
    may be in the words of whoever shared some of its evidence."""
    if isinstance(record, Fact):
        notes = (_shared_memory(reader, record.bank, name) for name in record.evidence)
        return next(filter(None, notes), ""), ""
    if isinstance(record, SharedRecord):
        return f"by {record.author} on {record.shared[:10]}", ""
    if isinstance(record, Memory):
        return _shared_note(record), ""
    return ("", record.origin) if isinstance(record, ImportedRecord) else ("", "")


def _shared_memory(reader: Reader, bank: str, name: str) -> str:
    """Who shared the memory of this URI, and when; "" for another record."""
    parsed = parse_uri(name)
    found = reader.records.find(bank, *parsed, 1) if parsed and parsed.kind == "memory" else []
    return _shared_note(found[0]) if found and isinstance(found[0], Memory) else ""


def _shared_note(memory: Memory) -> str:
    by = memory.shared_by
    return f"by {by} on {memory.validity.learned[:10]}" if by else ""


def _why(candidate: Candidate) -> dict[str, float]:
    """The rank and score of each retriever, the coverage, and what else changed the score."""
    why: dict[str, float] = dict(candidate.ranks)
    why |= {f"{name}_score": round(value, 4) for name, value in candidate.scores.items()}
    why |= {
        "coverage": round(candidate.coverage, 3),
        "coverage_alone": round(candidate.coverage_alone, 3),
    }
    return why | candidate.notes


def source_location(reader: Reader, passage: Passage, record: Record | None) -> SourceLocation:
    """The file and line of a passage's source; for a summary, the first line it sums up."""
    if passage.kind in _WHOLE_PASSAGES:
        return SourceLocation(id=passage.id)
    if isinstance(record, Rule):
        return SourceLocation(record.file, record.line)
    turn = first_turn(reader, record)
    if turn is None:
        return SourceLocation()
    source = reader.sources.get(turn.origin.source)
    return SourceLocation(source.path if source else "", turn.origin.line, turn.origin.ref)


def first_turn(reader: Reader, record: Record | None) -> Turn | None:
    """The turn of a record: itself, or the first of those it sums up."""
    if isinstance(record, Turn):
        return record
    if isinstance(record, Memory):
        return stating_turn(reader, record)
    first = record.first_seq if isinstance(record, Exchange) else 1
    if not isinstance(record, Exchange | Digest):
        return None
    turns = reader.turns.of_session(record.bank, record.session, first, first)
    return turns[0] if turns else None


# English and code come to about four characters a token.
_CHARACTERS_PER_TOKEN = 4
# What the URI, date and source of a hit add to its text.
_TOKENS_AROUND_HIT = 30
# A hit repeats another if this share of its words is in the other. Lower, and hits that add
# something are dropped; higher, and near copies are shown.
_REPEATED_SHARE = 0.85
_MAX_COMPARED = 3000


def estimate_tokens(text: str) -> int:
    """About how many tokens a text takes in a prompt."""
    return len(text) // _CHARACTERS_PER_TOKEN + 1


def hit_tokens(candidate: Candidate) -> int:
    """About how many tokens a hit takes, with what is shown around its text."""
    return estimate_tokens(candidate.passage.body) + _TOKENS_AROUND_HIT


def pack(
    ranked: Sequence[Candidate], budget: int, limit: int, include_repeats: bool = False
) -> list[Candidate]:
    """The best candidates that fit into `budget` tokens, in their order. The first is returned even
    if it alone is over the budget, and so is the first with most names of the query, which takes
    half of the budget from others at most. What holds is not left out because it repeats what
    ended."""
    chosen: list[Candidate] = []
    chosen_words: list[tuple[set[str], bool]] = []
    named = max(ranked[:limit], key=lambda c: len(c.names), default=None)
    named = named if named is not None and named.names else None
    spent = min(hit_tokens(named), budget // 2) if named is not None else 0
    for candidate in ranked:
        if len(chosen) == limit:
            break
        cost = hit_tokens(candidate) if candidate is not named else 0
        own = set(words(candidate.passage.body[:_MAX_COMPARED]))
        if spent + cost > budget and chosen and candidate is not named:
            continue
        # A step of a chain of causes is kept: without it the next step cannot be understood.
        keep = include_repeats or "link" in candidate.notes or candidate is named
        ended = candidate.passage.status in ENDED_STATUSES
        others = [other for other, other_ended in chosen_words if ended or not other_ended]
        if not keep and any(_repeats(own, other) for other in others):
            candidate.notes["repeats"] = 1.0
            continue
        chosen.append(candidate)
        chosen_words.append((own, ended))
        spent += cost
    return chosen


def _repeats(own: set[str], other: set[str]) -> bool:
    return bool(own) and len(own & other) >= _REPEATED_SHARE * len(own)
