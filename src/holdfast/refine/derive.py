"""From turns to everything above them, for each session whose turns have changed.

The work list is the store's: a session is stale until its derived rows are written, in one
transaction. Killed at any point, the work is simply still there.
"""

from __future__ import annotations

from collections.abc import Callable

from holdfast.refine.digests import make_digest
from holdfast.refine.exchanges import make_exchanges
from holdfast.refine.passages import digest_passage, exchange_passage, turn_passages
from holdfast.store.protocol import Writer


def derive_stale(writer: Writer, tick: Callable[[], None] = lambda: None) -> int:
    """Bring every stale session up to date; returns how many there were."""
    done = 0
    while stale := writer.stale_sessions(limit=50):
        for bank, session in stale:
            derive_session(writer, bank, session)
            done += 1
            tick()
    return done


def derive_session(writer: Writer, bank: str, session: str) -> None:
    """Replace all that is derived from one session."""
    with writer.transaction():
        turns = writer.turns(bank, session)
        exchanges = make_exchanges(turns)
        known = writer.session(bank, session)
        digest = make_digest(known, exchanges, turns) if known else None
        passages = turn_passages(turns) + [exchange_passage(x) for x in exchanges]
        if digest is not None:
            passages.append(digest_passage(digest))
        writer.put_derived(bank, session, exchanges, digest, passages)
