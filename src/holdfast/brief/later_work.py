"""What became of the matter of a statement: whether a later request dealt with it again, so that it
tells an older state, and whether its session changed something after a fault was found.

Words are compared, no more: a request is about a matter if much of it is in the statement, without
the words that requests of the project use all the time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

from holdfast.brief.known_statements import KnownStatement
from holdfast.language import code_names, content_stems, describes_failure
from holdfast.model.records import Exchange, Outcome
from holdfast.model.uris import uri
from holdfast.refine.core.statement_similarity import own_words
from holdfast.refine.facts.closed_tasks import Deed, Task, find_closings
from holdfast.store.protocol import Reader


class LaterWorkLimits(NamedTuple):
    """When a request deals with the matter of a statement. Chosen by reading what they end in ten
    projects."""

    # The latest sessions whose requests are compared: it bounds the time.
    sessions: int = 40
    # Content words of both, at least; with a code name that both have, so many.
    words: int = 3
    words_with_name: int = 2
    # The share of the content words of the request.
    share: float = 0.4
    # A word of more than this share of the requests, and of more than so many, says nothing.
    common: float = 0.1
    common_requests: int = 3
    # Names of a request and its answer that are compared.
    names: int = 40


_LIMITS = LaterWorkLimits()


class _Request(NamedTuple):
    """A request that was worked on, or that says that something still fails."""

    exchange: Exchange
    words: frozenset[str]
    names: frozenset[str]


class LaterWork:
    """What was asked for and done in the sessions of a bank."""

    def __init__(
        self, reader: Reader, bank: str, exchanges_of: Callable[[str], Sequence[Exchange]]
    ) -> None:
        """`exchanges_of` gives the exchanges of a session."""
        self._reader = reader
        self._bank = bank
        self._exchanges_of = exchanges_of

    def deals_again_with(self, one: KnownStatement) -> bool:
        """Whether a later request is about the matter of a statement, and changed something or
        says that it fails."""
        turn = one.turn
        return self.takes_up(own_words(one.memory.what), turn.session, turn.seq, turn.time)

    def takes_up(self, text: str, session: str, seq: int, time: str) -> bool:
        """Whether a request after a place of a session and a time is about the matter of a text."""
        own, names = content_stems(text), _names(text)
        for request in self._requests:
            if not _is_after(request.exchange, session, seq, time):
                continue
            shared = len(own & request.words)
            named = not names.isdisjoint(request.names)
            enough = _LIMITS.words_with_name if named else _LIMITS.words
            if shared >= max(enough, _LIMITS.share * len(request.words)):
                return True
        return False

    def did(self, text: str, session: str, seq: int, time: str) -> bool:
        """Whether a task that was open at a place of a session and a time was done since: a later
        request took it up, or a later reply or commit reports it."""
        if self.takes_up(text, session, seq, time):
            return True
        deeds = [
            Deed(uri("exchange", x.id), said, x.ended)
            for x in self._latest
            if _is_after(x, session, seq, time)
            for said in (x.summary, *x.facts)
        ]
        return bool(find_closings([Task("", text, time)], deeds, lambda _: ""))

    def is_mended(self, one: KnownStatement) -> bool:
        """Whether the session of a statement changed something in the exchange that states it, or
        later."""
        return any(
            exchange.last_seq >= one.turn.seq and _changes(exchange)
            for exchange in self._exchanges_of(one.turn.session)
        )

    def is_before_changes(self, one: KnownStatement) -> bool:
        """Whether a statement was made on the way and not at the end of its exchange, in which, or
        after which, its session changed files."""
        exchanges = self._exchanges_of(one.turn.session)
        return any(it.first_seq <= one.turn.seq < it.last_seq for it in exchanges) and any(
            it.last_seq > one.turn.seq and it.files_modified for it in exchanges
        )

    @cached_property
    def _latest(self) -> list[Exchange]:
        return [
            exchange
            for session in self._reader.sessions.latest(self._bank, _LIMITS.sessions)
            if not session.parent
            for exchange in self._exchanges_of(session.id)
        ]

    @cached_property
    def _requests(self) -> list[_Request]:
        found = self._latest
        stems = {exchange.id: content_stems(exchange.title) for exchange in found}
        counts = Counter(word for words in stems.values() for word in words)
        most = max(_LIMITS.common_requests, _LIMITS.common * len(found))
        return [
            _Request(
                exchange,
                frozenset(word for word in stems[exchange.id] if counts[word] <= most),
                _names(f"{exchange.title} {exchange.summary}"),
            )
            for exchange in found
            if _changes(exchange) or describes_failure(exchange.title)
        ]


def _changes(exchange: Exchange) -> bool:
    return bool(exchange.files_modified) or exchange.outcome is Outcome.DONE


def _is_after(exchange: Exchange, session: str, seq: int, time: str) -> bool:
    if exchange.session == session:
        return exchange.first_seq > seq
    return exchange.started > time


def _names(text: str) -> frozenset[str]:
    return frozenset(name.lower() for name in code_names(text, _LIMITS.names))
