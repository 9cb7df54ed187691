"""Deriving by many hands: a session is handed out whole, and what follows from it comes back.

What is derived depends on what was handed out alone, so who does it makes no difference. When it
is written, in one transaction, the session is looked at once more: if anything of it has changed
meanwhile, it is done anew. A session that goes on from what is derived already, one that a model
has summed up, and one too long to be sent are done here, as ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from holdfast.model.accounts import Summary
from holdfast.model.curation import Curated
from holdfast.model.records import Session, Turn
from holdfast.refine.core.executor import Executor
from holdfast.refine.core.rules_version import RULES_VERSION
from holdfast.refine.sessions.derive import derive, derive_session
from holdfast.store.protocol import Derived, Stale, Writer

# Beyond this a session is derived where it lies, as a stream.
MOST_CHARACTERS = 4_000_000
_LISTED = 500


class Handed(NamedTuple):
    """All that is derived from a session follows from this."""

    bank: str
    id: str
    known: Session | None
    read: tuple[Turn, ...]
    decided: tuple[Curated, ...]

    def session(self, bank: str, id: str) -> Session | None:
        """The session itself."""
        return self.known

    def all_turns(self, bank: str, session: str, first: int = 0) -> Iterator[Turn]:
        """Its turns, from a place on."""
        return (turn for turn in self.read if turn.seq >= first)

    def turns(self, bank: str, session: str, first: int = 0, last: int | None = None) -> list[Turn]:
        """Its turns between two places."""
        return [t for t in self.read if t.seq >= first and (last is None or t.seq <= last)]

    def curated_in(self, bank: str, session: str) -> list[Curated]:
        """What people decided about it."""
        return list(self.decided)

    def has_summaries(self, bank: str) -> bool:
        """What a model summed up is not handed out."""
        return False

    def summary(self, bank: str, hash: str) -> Summary | None:
        """The same."""
        return None


def make(handed: Handed) -> list[Derived]:
    """What follows from a session; runs in any process, and anywhere."""
    return list(derive(handed, Stale(handed.bank, handed.id, 0), handed.known, [], 0))


def derive_by(crew: Executor, writer: Writer, tick: Callable[[int], None] = lambda done: None) -> int:
    """Bring every stale session up to date; returns how many there were. `tick` is told how many
    are done."""
    done = 0
    while stale := writer.stale_sessions(limit=_LISTED):
        for handed, made in crew.map(make, _whole(writer, stale)):
            if made is None or not _put(writer, handed, made):
                derive_session(writer, Stale(handed.bank, handed.id, 0))
            done += 1
            tick(done)
        left = {(one.bank, one.session) for one in writer.stale_sessions(limit=_LISTED)}
        for one in stale:
            if (one.bank, one.session) in left:
                derive_session(writer, one)
                done += 1
                tick(done)
    return done


def _whole(writer: Writer, stale: list[Stale]) -> Iterator[Handed]:
    """Those that are to be derived as a whole, and can be handed out."""
    for one in stale:
        bank, session, first = one
        if (first and writer.exchanges(bank, session)) or writer.has_summaries(bank):
            continue
        handed = _hand_out(writer, bank, session)
        if handed is not None:
            yield handed


def _hand_out(writer: Writer, bank: str, session: str) -> Handed | None:
    turns: list[Turn] = []
    held = 0
    for turn in writer.all_turns(bank, session):
        held += len(turn.text) + (len(turn.tool.result) if turn.tool else 0)
        if held > MOST_CHARACTERS:
            return None
        turns.append(turn)
    decided = tuple(writer.curated_in(bank, session))
    return Handed(bank, session, writer.session(bank, session), tuple(turns), decided)


def _put(writer: Writer, handed: Handed, made: list[Derived]) -> bool:
    """Write what was made, unless what it was made of is not the same any more."""
    bank, session = handed.bank, handed.id
    with writer.transaction():
        if writer.has_summaries(bank) or _hand_out(writer, bank, session) != handed:
            return False
        writer.put_derived(bank, session, made, 0)
        writer.note_rules(bank, session, RULES_VERSION)
        return True
