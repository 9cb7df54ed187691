"""Quotes what came of it, for a question that asks for an explanation.

What is wrong is told in the words that a question has, by a person or by an agent that looks at it;
why, and what was done about it, is in the reply that closes the exchange, often in other words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from holdfast.language import causal_relations, content_stems, sentences, states_decision
from holdfast.lazy_dataclass import replace
from holdfast.model.query import Hit
from holdfast.model.records import Digest, Exchange
from holdfast.recall.core.candidates import Candidate
from holdfast.recall.core.statements import statements
from holdfast.recall.ranking.hits import make_hit
from holdfast.refine.core.passages import exchange_passage
from holdfast.research.answering.confidence import exchange_of, turn_of
from holdfast.research.answering.quoting import MAX_CITATIONS, Quote
from holdfast.store.protocol import Reader

# Only the first quotes are read as the answer.
_COMPLETED = 2
# A shorter item of a list may be a part of another.
_MIN_ITEM_CHARS = 20
# A reply that covers less of the question is about something else.
MIN_COVERED = 0.1


def with_replies(
    reader: Reader,
    chosen: Sequence[Quote],
    asks_why: bool,
    accepts: Callable[[Hit], bool],
    quote: Callable[[Hit], Quote],
    as_of: str = "",
) -> list[Quote]:
    """The quotes, each of the first ones that an exchange did not end with followed by what closes
    that; `quote` makes one of a record, if the question `accepts` it. Where a question `asks_why`,
    a quote that explains or decides needs no reply."""
    quoted = [exchange_of(reader, item.hit) for item in chosen]
    order: list[Quote] = []
    for place, item in enumerate(chosen):
        order.append(item)
        if place < _COMPLETED and quoted.count(quoted[place]) == 1:
            reply = _reply_to(reader, item, asks_why, as_of)
            if reply is not None and accepts(reply):
                said = quote(_without_repeats(_without_title(reply), item.sentence))
                order += [said._replace(hit=reply)] if said.covered >= MIN_COVERED else []
    return order[:MAX_CITATIONS]


def _reply_to(reader: Reader, item: Quote, asks_why: bool, as_of: str) -> Hit | None:
    """The exchange that went on after a quote which does not say what is asked, if its closing
    reply states something."""
    explains = any(relation.how == "causes" for relation in causal_relations(item.sentence))
    is_reason = asks_why and (explains or states_decision(item.sentence))
    exchange = None if is_reason else _exchange_after(reader, item)
    return closing_hit(reader, exchange, item, as_of) if exchange is not None else None


def closing_hit(reader: Reader, exchange: Exchange, item: Quote, as_of: str = "") -> Hit | None:
    """The hit of an exchange, as good as a quote's, if its closing reply states something."""
    candidate = Candidate(exchange_passage(exchange), score=item.hit.score)
    hit = replace(make_hit(reader, candidate, as_of), why=item.hit.why)
    return hit if statements(_without_title(hit)) else None


def _exchange_after(reader: Reader, item: Quote) -> Exchange | None:
    """The exchange that goes on after the turn of a quote, or that a digest quotes the title of."""
    turn = turn_of(reader, item.hit)
    if turn is not None:
        exchange = reader.sessions.exchange_at(turn.bank, turn.session, turn.seq)
        return exchange if exchange is not None and turn.seq < exchange.last_seq else None
    stems = content_stems(item.sentence)
    for digest in _digests(reader, item.hit):
        for exchange in reader.sessions.exchanges(digest.bank, digest.session):
            if stems and stems <= content_stems(exchange.title):
                return exchange
    return None


def _digests(reader: Reader, hit: Hit) -> list[Digest]:
    if hit.kind != "digest":
        return []
    found = reader.records.find(hit.bank, "digest", hit.uri.rpartition("/")[2], 1)
    return [record for record in found if isinstance(record, Digest)]


def _without_title(hit: Hit) -> Hit:
    """An exchange without what was asked in it."""
    _, blank, reply = hit.text.partition("\n\n")
    return replace(hit, text=blank + reply)


def _without_repeats(reply: Hit, quoted: str) -> Hit:
    """A reply without the sentences that were just quoted, unless it says nothing else."""
    text = reply.text
    for sentence in sentences(quoted):
        _, _, item = sentence.partition(": ")
        text = text.replace(sentence, "")
        # An item of a list is quoted with what announces the list, wherever that stands.
        text = text.replace(item, "") if len(item) >= _MIN_ITEM_CHARS else text
    return replace(reply, text=text) if text.strip() else reply
