"""Decides what a model is to summarise of a session: which exchanges, in which batches, and whether
the digest. Calls no model, so that the cost can be estimated first.

With `again`, what older prompts summarised is selected, otherwise what no model has summarised.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from holdfast.model.records import Digest, Exchange, Session, Turn
from holdfast.model.trust import Status
from holdfast.refine.model_output import prompts
from holdfast.refine.sessions.derive import last_assistant_text
from holdfast.refine.sessions.model_summaries import digest_hash, exchange_hash
from holdfast.store.protocol import Writer

# A shorter exchange is not worth a call: rules quote most of it.
MIN_SUMMARY_BYTES = 200
# Exchanges in one call. More share the cost of the prompt, and leave less room for each answer.
_MAX_BATCH = 6


class PendingExchange(NamedTuple):
    """An exchange, the hash of its turns, its text in parts that fit a prompt, and the exchange
    before it, as context."""

    exchange: Exchange
    turns: Sequence[Turn]
    hash: str
    parts: Sequence[str]
    before: str = ""

    @property
    def size(self) -> int:
        return sum(map(prompts.size_in_bytes, self.parts))


class PendingDigest(NamedTuple):
    """A digest, its last exchange, and the text of its session for a prompt; "" if all exchanges
    are by rules, because a model would add nothing to the digest by rules."""

    digest: Digest
    last: Exchange
    hash: str
    text: str


def project_name(store: Writer, session: Session) -> str:
    """The name of the project that a session belongs to."""
    bank = store.banks.get(session.bank)
    return bank.name if bank else ""


def pending_exchanges(
    store: Writer, session: Session, over: bool, tokens: int, again: bool = False
) -> Iterator[PendingExchange]:
    """The complete exchanges not tried with the current prompts, nor corrected by a person."""
    exchanges = store.sessions.exchanges(session.bank, session.id)
    complete = exchanges if over or again else exchanges[:-1]
    for before, x in zip([None, *complete], complete, strict=False):
        if bool(x.author) is not again or x.status is Status.VERIFIED:
            continue
        turns = store.turns.of_session(x.bank, x.session, x.first_seq, x.last_seq)
        hash = exchange_hash(turns)
        if not store.summaries.was_attempted(x.bank, hash, prompts.PROMPT_VERSION):
            parts = prompts.split_exchange(turns, tokens)
            yield PendingExchange(x, turns, hash, parts, prompts.format_before(before))


def pending_digest(
    store: Writer, session: Session, tokens: int, again: bool = False
) -> PendingDigest | None:
    """The digest of a session that is over, if it was not tried with the current prompts."""
    digest = store.sessions.digest(session.bank, session.id)
    exchanges = store.sessions.exchanges(session.bank, session.id)
    if digest is None or not exchanges or (digest.author and not again):
        return None
    closing = last_assistant_text(store.turns.of_session, exchanges)
    hash = digest_hash(exchanges, closing)
    if store.summaries.was_attempted(session.bank, hash, prompts.PROMPT_VERSION):
        return None
    text = ""
    if any(x.author for x in exchanges):
        text = prompts.format_session(digest, exchanges, closing, tokens)
    return PendingDigest(digest, exchanges[-1], hash, text)


def batch_exchanges(
    pending: Sequence[PendingExchange], tokens: int
) -> Iterator[list[PendingExchange]]:
    """Batches that fit into one prompt; an exchange with several parts is one of its own."""
    max_bytes = tokens * prompts.BYTES_PER_TOKEN
    batch: list[PendingExchange] = []
    size = 0
    for one in pending:
        length = prompts.size_in_bytes(one.parts[0])
        if batch and (len(one.parts) > 1 or len(batch) == _MAX_BATCH or size + length > max_bytes):
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += length
        if len(one.parts) > 1:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
