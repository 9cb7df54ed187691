"""Rebuilds what the rules make of an exchange or a digest that a model has summarised."""

from __future__ import annotations

from holdfast.model.records import Digest, Exchange
from holdfast.refine.sessions.derive import last_assistant_text
from holdfast.refine.sessions.digests import build_digest
from holdfast.refine.sessions.exchanges import build_exchange
from holdfast.store.protocol import Reader, Record


def rebuild_by_rules(reader: Reader, record: Record) -> Exchange | Digest | None:
    """The record as the rules build it from its turns; None for any other kind of record."""
    if isinstance(record, Exchange):
        return _exchange(reader, record)
    if isinstance(record, Digest):
        session = reader.session(record.bank, record.session)
        exchanges = reader.exchanges(record.bank, record.session)
        made = [_exchange(reader, exchange) for exchange in exchanges]
        return (
            build_digest(session, made, last_assistant_text(reader, exchanges)) if session else None
        )
    return None


def _exchange(reader: Reader, exchange: Exchange) -> Exchange:
    x = exchange
    return build_exchange(reader.turns(x.bank, x.session, x.first_seq, x.last_seq))
