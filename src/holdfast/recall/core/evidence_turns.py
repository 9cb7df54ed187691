"""Where a memory was stated, or a commit was made."""

from __future__ import annotations

from holdfast.model.knowledge import EndedSentence, Memory
from holdfast.model.records import Exchange, Turn
from holdfast.model.team import Commit
from holdfast.model.uris import parse_uri
from holdfast.recall.core.ended_words import EndedWords
from holdfast.store.protocol import Reader


def stating_turn(reader: Reader, memory: Memory) -> Turn | None:
    """The first turn among the evidence of a memory, else the first of an exchange; None if
    neither is known."""
    exchange: Exchange | None = None
    for name in memory.evidence_for:
        named = parse_uri(name)
        found = reader.records.find(memory.bank, named.kind, named.id, 1) if named else []
        for record in found:
            if isinstance(record, Turn):
                return record
            if exchange is None and isinstance(record, Exchange):
                exchange = record
    if exchange is None:
        return None
    first = exchange.first_seq
    return next(iter(reader.turns.of_session(memory.bank, exchange.session, first, first)), None)


def place_of(reader: Reader, record: Memory | Commit) -> tuple[str, int]:
    """The session and the turn in which a memory was stated or a commit made; ("", 0) if neither is
    known."""
    if isinstance(record, Memory):
        turn = stating_turn(reader, record)
        return (turn.session, turn.seq) if turn is not None else ("", 0)
    for made in reader.git.authorship(record.bank, commit=record.id)[:1]:
        for exchange in reader.records.find(record.bank, "exchange", made.exchange, 1):
            if isinstance(exchange, Exchange):
                return exchange.session, exchange.first_seq
    return "", 0


def find_ended(
    reader: Reader, words: EndedWords, record: Memory | Commit, text: str
) -> tuple[EndedSentence, ...]:
    """The sentences in the text of a memory or a commit that no longer hold. In the exchange of an
    ended decision fewer words carry it out than elsewhere."""
    place = place_of(reader, record) if words.mentions(text) else ("", 0)
    return words.find(text, record.when if isinstance(record, Memory) else record.time, *place)
