"""The rules' version of what a model summed up: made again from the turns, so it is never lost."""

from __future__ import annotations

from holdfast.model.records import Digest, Exchange
from holdfast.refine.sessions.derive import last_said
from holdfast.refine.sessions.digests import make_digest
from holdfast.refine.sessions.exchanges import make_exchange
from holdfast.store.protocol import Reader, Record


def by_rules(reader: Reader, record: Record) -> Exchange | Digest | None:
    """What rules make of it; None for a record that is not a summary."""
    if isinstance(record, Exchange):
        return _exchange(reader, record)
    if isinstance(record, Digest):
        session = reader.session(record.bank, record.session)
        exchanges = reader.exchanges(record.bank, record.session)
        made = [_exchange(reader, exchange) for exchange in exchanges]
        return make_digest(session, made, last_said(reader, exchanges)) if session else None
    return None


def _exchange(reader: Reader, exchange: Exchange) -> Exchange:
    x = exchange
    return make_exchange(reader.turns(x.bank, x.session, x.first_seq, x.last_seq))
