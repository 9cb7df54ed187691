"""Questions out of a person's own history: requests whose answer lies in earlier sessions.

No model says which sessions those are. The request that opens a session is held out when few
earlier sessions had changed a file that it led to: these are its gold. Later requests lean on
what was said in their own session, so they are not asked. The memory is only read.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from holdfast.language import STOPWORDS, collapse_spaces, stem, words
from holdfast.model.records import Exchange, Role, Session
from holdfast.model.trust import Trust
from holdfast.store.protocol import Reader

LEAST_WORDS = 5
LEAST_EARLIER = 8
MOST_GOLD = 3
# A file that more than this share of the earlier sessions changed tells nothing apart.
RARE_SHARE = 0.2
# What is longer is pasted, not typed.
MOST_CHARACTERS = 1500
SHARED_READS = 2
_EVERY = 1 << 40


class OwnQuestion(NamedTuple):
    """A request as a person typed it at a time, and the earlier sessions that it goes back to,
    out of how many. Sessions are named as the host names them."""

    id: str
    bank: str
    session: str
    time: str
    text: str
    gold_sessions: frozenset[str]
    earlier: int


class History(NamedTuple):
    """How many sessions were looked through, how many of them a typed request opens, and the
    questions that came of it, each bank's oldest first."""

    sessions: int
    openings: int
    questions: list[OwnQuestion]


@dataclass(slots=True)
class _Past:
    """What is known of a bank before a moment; filled in the order of time."""

    began: set[str] = field(default_factory=set[str])
    # For each file: when a session first had changed it.
    changed: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    typed: set[str] = field(default_factory=set[str])

    def add(self, host: str, exchange: Exchange) -> None:
        self.began.add(host)
        for path in exchange.files_modified:
            self.changed.setdefault(path, {}).setdefault(host, exchange.ended)

    def gold(self, exchange: Exchange) -> frozenset[str]:
        """The sessions that had changed a rare file which this exchange changes, or two that it
        reads; none if they are too many to tell anything."""
        most = max(1, min(MOST_GOLD, math.floor(RARE_SHARE * len(self.began))))
        shared: defaultdict[str, float] = defaultdict(float)
        files = [(path, 1.0) for path in exchange.files_modified]
        files += [(path, 1 / SHARED_READS) for path in exchange.files_read]
        for path, weight in files:
            changed = self.changed.get(path, {})
            before = [host for host, ended in changed.items() if ended < exchange.started]
            if len(before) <= most:
                for host in before:
                    shared[host] += weight
        found = frozenset(host for host, weight in shared.items() if weight >= 1)
        return found if len(found) <= MOST_GOLD else frozenset()


def find_questions(reader: Reader, bank: str | None) -> History:
    """The questions that a bank's history holds, or that of all banks."""
    banks = [one.id for one in reader.banks()] if bank is None else [bank]
    found = [_of_bank(reader, one) for one in banks]
    return History(
        sum(one.sessions for one in found),
        sum(one.openings for one in found),
        [question for one in found for question in one.questions],
    )


def _of_bank(reader: Reader, bank: str) -> History:
    sessions = reader.sessions(bank, _EVERY)
    past = _Past()
    openings = 0
    questions: list[OwnQuestion] = []
    for session, exchange in _in_time(reader, sessions):
        text = "" if session.parent else typed_request(reader, exchange)
        if text and session.host not in past.began:
            openings += 1
            question = _question(past, session, exchange, text)
            questions += [question] if question else []
        past.typed.add(collapse_spaces(text).lower())
        past.add(session.host, exchange)
    return History(len({session.host for session in sessions}), openings, questions)


def _in_time(reader: Reader, sessions: Iterable[Session]) -> Iterator[tuple[Session, Exchange]]:
    pairs = [(s, x) for s in sessions for x in reader.exchanges(s.bank, s.id) if x.started]
    yield from sorted(pairs, key=lambda pair: (pair[1].started, pair[1].id))


def typed_request(reader: Reader, exchange: Exchange) -> str:
    """The words that a person typed to open an exchange; "" if it was no person, or a command."""
    turns = reader.turns(exchange.bank, exchange.session, exchange.first_seq, exchange.first_seq)
    if not turns or turns[0].role is not Role.USER or turns[0].trust is not Trust.USER:
        return ""
    text = turns[0].text.strip()
    return "" if turns[0].speaker or text.startswith(("/", "!", "[")) else text


def distinctive_stems(text: str) -> set[str]:
    """The stems of the words that could tell a request from another."""
    return {stem(word) for word in words(text) if len(word) > 2 and word not in STOPWORDS}


def _question(past: _Past, session: Session, exchange: Exchange, text: str) -> OwnQuestion | None:
    earlier = len(past.began)
    if earlier < LEAST_EARLIER or len(text) > MOST_CHARACTERS:
        return None
    # Typed word for word before, it would be found by its own copy.
    if len(distinctive_stems(text)) < LEAST_WORDS or collapse_spaces(text).lower() in past.typed:
        return None
    gold = past.gold(exchange)
    if not gold:
        return None
    return OwnQuestion(
        exchange.id, exchange.bank, session.host, exchange.started, text, gold, earlier
    )


def chance_of_hit(count: int, gold: int, among: int) -> float:
    """How often sessions in random order would show one of the gold among the first `count`."""
    return 1 - math.comb(among - gold, count) / math.comb(among, min(count, among))


def too_little_history(history: History) -> str:
    """What is missing where no question came of a history."""
    return (
        f"There is too little history: {history.sessions:,} sessions, {history.openings:,} of them "
        "opened by a typed request, gave no question. It takes more than "
        f"{LEAST_EARLIER} sessions in one bank, and later ones that change files which few of the "
        "earlier ones have changed. `holdfast ingest` reads your sessions."
    )


def mean_chance(questions: Sequence[OwnQuestion], count: int) -> float | None:
    """The chance of a hit, over all questions."""
    chances = [chance_of_hit(count, len(q.gold_sessions), q.earlier) for q in questions]
    return math.fsum(chances) / len(chances) if chances else None
