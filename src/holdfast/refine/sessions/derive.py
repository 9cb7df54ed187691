"""From turns to everything above them, for each session whose turns have changed.

The work list is the store's: a session is stale until its derived rows are written, in one
transaction. Killed at any point, the work is simply still there. A session is read as a stream
and only from the exchange that changed, so neither its length nor its age costs memory. It is
always of one version of the rules: what older ones made is made again as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from holdfast.model.records import Exchange, Role, Session, Turn
from holdfast.refine.core.passages import TurnPassageBuilder
from holdfast.refine.core.rules_version import RULES_VERSION
from holdfast.refine.sessions.digests import make_digest
from holdfast.refine.sessions.exchanges import Grouping
from holdfast.refine.sessions.overlay import Overlay, Sight
from holdfast.store.protocol import Derived, Stale, Writer
from holdfast.store.protocol.curation import HiddenTurn


class Turns(Protocol):
    """Where turns lie."""

    def turns(self, bank: str, session: str, first: int = 0, last: int | None = None) -> list[Turn]:
        """The turns of a session between two places."""
        ...


def derive_stale(writer: Writer, tick: Callable[[], None] = lambda: None) -> int:
    """Bring every stale session up to date; returns how many there were."""
    done = 0
    while stale := writer.stale_sessions(limit=50):
        for one in stale:
            derive_session(writer, one)
            done += 1
            tick()
    return done


def derive_outdated(
    writer: Writer, tick: Callable[[int, int], None] = lambda done, total: None
) -> int:
    """Make again what older rules made; returns how many sessions it was. `tick` is told how many
    are done, and how many there are."""
    done, total = 0, writer.count_outdated(RULES_VERSION)
    while outdated := writer.outdated(RULES_VERSION, limit=50):
        for bank, session in outdated:
            derive_session(writer, Stale(bank, session, 0))
            done += 1
            tick(done, max(done, total))
    return done


def derive_session(writer: Writer, stale: Stale) -> None:
    """Replace what is derived from the changed part of one session."""
    bank, session, _ = stale
    with writer.transaction():
        if writer.rules_of(bank, session) != RULES_VERSION:
            stale = stale._replace(first=0)
        kept = _unchanged(writer, stale)
        first = kept[-1].last_seq + 1 if kept else 0
        known = writer.session(bank, session)
        writer.put_derived(bank, session, derive(writer, stale, known, kept, first), first)
        writer.note_rules(bank, session, RULES_VERSION)


def _unchanged(writer: Writer, stale: Stale) -> list[Exchange]:
    """The exchanges that stay: all before the one that the first changed turn is in, or that
    it may continue."""
    bank, session, first = stale
    before = [x for x in writer.exchanges(bank, session) if x.first_seq <= first][:-1]
    if not before or _has_answers(writer, bank, session, last=first - 1):
        return before
    # People among themselves are grouped in another way than a person and an agent.
    return [] if _has_answers(writer, bank, session) else before


def _has_answers(writer: Sight, bank: str, session: str, last: int | None = None) -> bool:
    """Whether anyone but people speaks in a session, up to a place."""
    for turn in writer.all_turns(bank, session):
        if last is not None and turn.seq > last:
            return False
        if turn.role is not Role.USER:
            return True
    return False


def derive(
    writer: Sight, stale: Stale, session: Session | None, kept: list[Exchange], first: int
) -> Iterator[Derived]:
    """What follows from a session, from a place on; the exchanges before it are `kept`."""
    exchanges = list(kept)
    said = ""
    overlay = Overlay(writer, stale.bank, stale.session)
    passages = TurnPassageBuilder(_words_before(writer, kept))
    grouping = Grouping(dialogue=not _has_answers(writer, stale.bank, stale.session))

    def close(group: list[Turn]) -> Iterator[Derived]:
        exchange, derived = overlay.exchange(group)
        exchanges.extend([exchange] if exchange else [])
        yield from derived

    for read in writer.all_turns(stale.bank, stale.session, first):
        turn, replaced = overlay.say(read)
        yield from replaced
        if group := grouping.add(turn):
            yield from close(group)
        if overlay.hides(turn, grouping.exchange):
            yield HiddenTurn(turn.id)
            continue
        yield overlay.place(passages.build(turn), turn, grouping.exchange)
        if turn.role is Role.ASSISTANT:
            said = turn.text
    if group := grouping.finish():
        yield from close(group)
    closing = said or last_said(writer, kept)
    digest = make_digest(session, exchanges, closing) if session else None
    yield from overlay.digest(digest, stale.session, exchanges, closing)


def _turns_back(writer: Turns, kept: Sequence[Exchange]) -> Iterator[list[Turn]]:
    """The turns of the exchanges that stay, the last exchange first."""
    for x in reversed(kept):
        yield writer.turns(x.bank, x.session, x.first_seq, x.last_seq)


def _words_before(writer: Sight, kept: Sequence[Exchange]) -> str:
    """What the first turn that is derived anew follows upon."""
    passages = TurnPassageBuilder()
    for turns in _turns_back(writer, kept):
        passages = TurnPassageBuilder()
        for turn in turns:
            passages.build(turn)
        if any(turn.role is not Role.TOOL for turn in turns):
            break
    return passages.previous


def last_said(writer: Turns, kept: Sequence[Exchange]) -> str:
    """The assistant's last words in these exchanges."""
    for turns in _turns_back(writer, kept):
        for turn in reversed(turns):
            if turn.role is Role.ASSISTANT:
                return turn.text
    return ""
