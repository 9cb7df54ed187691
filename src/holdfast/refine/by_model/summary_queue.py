"""What a model is to sum up of a session: which exchanges, which of them in one call, and whether
its digest. Nothing is asked here, so that a price can be told before anything is.

A session is looked at in one of two ways: for what no model has looked at, or `again`, for what
one was asked in an older way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from holdfast.model.records import Digest, Exchange, Session, Turn
from holdfast.model.trust import Status
from holdfast.refine.model_output import prompts
from holdfast.refine.sessions.derive import last_assistant_text
from holdfast.refine.sessions.summaries import digest_hash, exchange_hash
from holdfast.store.protocol import Writer

# Less than this is said as well by rules.
MIN_SUMMARY_BYTES = 200
_MAX_BATCH = 6


class PendingExchange(NamedTuple):
    """An exchange, and what a model would be shown of it, in as many parts as it takes."""

    exchange: Exchange
    turns: Sequence[Turn]
    hash: str
    parts: Sequence[str]

    @property
    def size(self) -> int:
        return sum(len(part.encode("utf-8", "replace")) for part in self.parts)


class PendingDigest(NamedTuple):
    """A digest, and what a model would be shown of its session; "" where there is nothing that
    it would know better than rules over rules."""

    digest: Digest
    last: Exchange
    hash: str
    text: str


def pending_exchanges(
    store: Writer, session: Session, over: bool, tokens: int, again: bool = False
) -> Iterator[PendingExchange]:
    """The exchanges that are whole, and that nobody has tried by the present prompts. What a
    person said anew needs no model's words."""
    exchanges = store.exchanges(session.bank, session.id)
    for x in exchanges if over or again else exchanges[:-1]:
        if bool(x.author) is not again or x.status is Status.VERIFIED:
            continue
        turns = store.turns(x.bank, x.session, x.first_seq, x.last_seq)
        hash = exchange_hash(turns)
        if not store.summary_attempted(x.bank, hash, prompts.PROMPT_VERSION):
            yield PendingExchange(x, turns, hash, prompts.split_exchange(turns, tokens))


def pending_digest(
    store: Writer, session: Session, tokens: int, again: bool = False
) -> PendingDigest | None:
    """The digest of a session that is over, if it was not tried."""
    digest = store.digest_of(session.bank, session.id)
    exchanges = store.exchanges(session.bank, session.id)
    if digest is None or not exchanges or (digest.author and not again):
        return None
    closing = last_assistant_text(store, exchanges)
    hash = digest_hash(exchanges, closing)
    if store.summary_attempted(session.bank, hash, prompts.PROMPT_VERSION):
        return None
    text = ""
    if any(x.author for x in exchanges):
        text = prompts.format_session(digest, exchanges, closing, tokens)
    return PendingDigest(digest, exchanges[-1], hash, text)


def batch_exchanges(waiting: Sequence[PendingExchange], tokens: int) -> Iterator[list[PendingExchange]]:
    """Several short exchanges at once; one that needs parts comes alone."""
    most = tokens * prompts.BYTES_PER_TOKEN
    batch: list[PendingExchange] = []
    size = 0
    for one in waiting:
        length = len(one.parts[0].encode("utf-8", "replace"))
        if batch and (len(one.parts) > 1 or len(batch) == _MAX_BATCH or size + length > most):
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += length
        if len(one.parts) > 1:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
