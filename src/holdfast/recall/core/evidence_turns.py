"""The turn that states a memory."""

from __future__ import annotations

from holdfast.model.knowledge import Memory
from holdfast.model.records import Exchange, Turn
from holdfast.model.uris import parse_uri
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
