"""Finding messages within one session: by words, or the next of a kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from holdfast.model.knowledge import ClaimKind
from holdfast.model.records import ExchangeType, Session, Turn
from holdfast.refine.core.signals import EDIT_TOOLS
from holdfast.store.protocol import Reader

DECISION, ERROR, EDIT = "decision", "error", "edit"
KINDS = (DECISION, ERROR, EDIT)
# Messages that a search lists; whoever needs more narrows it down.
MAX_FOUND = 500


class FoundMessages(NamedTuple):
    """The places of messages that have all words of a search."""

    words: tuple[str, ...]
    places: tuple[int, ...] = ()

    def around(self, place: int) -> tuple[int, int]:
        """The places of the message before and after one; 0 if there is none."""
        before = [one for one in self.places if one < place]
        after = [one for one in self.places if one > place]
        return (before[-1] if before else 0), (after[0] if after else 0)


def find_messages(reader: Reader, session: Session, words: str) -> FoundMessages:
    """The messages of a session that have all words, wherever in a session of any length."""
    wanted = tuple(dict.fromkeys(words.casefold().split()))
    if not wanted:
        return FoundMessages(())
    places: list[int] = []
    for turn in reader.turns.stream(session.bank, session.id):
        text = text_of(turn).casefold()
        if all(word in text for word in wanted):
            places.append(turn.seq)
            if len(places) == MAX_FOUND:
                break
    return FoundMessages(wanted, tuple(places))


def text_of(turn: Turn) -> str:
    """All that a message says: its words, or what a tool was asked and answered."""
    tool = turn.tool
    return "\n".join((tool.name, tool.target, tool.action, tool.result)) if tool else turn.text


def next_message(reader: Reader, session: Session, kind: str, after: int) -> int | None:
    """The place of the next decision, error or edit after a place, from the start again after the
    last; None if the session has none."""
    is_one = _matcher(reader, session, kind)
    for first in (after + 1, 0):
        found = next(_places(reader, session, is_one, first), None)
        if found is not None:
            return found
    return None


def _places(
    reader: Reader, session: Session, is_one: Callable[[Turn], bool], first: int
) -> Iterator[int]:
    return (t.seq for t in reader.turns.stream(session.bank, session.id, first) if is_one(t))


def _matcher(reader: Reader, session: Session, kind: str) -> Callable[[Turn], bool]:
    match kind:
        case "error":
            return lambda turn: turn.tool is not None and turn.tool.ok is False
        case "edit":
            return lambda turn: turn.tool is not None and turn.tool.name in EDIT_TOOLS
        case _:
            places = _decisions(reader, session)
            return lambda turn: turn.seq in places


def _decisions(reader: Reader, session: Session) -> set[int]:
    """Where somebody decided something; an exchange about a decision counts where it begins."""
    bank, id = session.bank, session.id
    claims = reader.facts.claims(bank, id)
    kinds = (ClaimKind.DECISION, ClaimKind.RULING)
    stated = {claim.seq for claim in claims if claim.kind in kinds}
    exchanges = [e for e in reader.sessions.exchanges(bank, id) if e.type is ExchangeType.DECISION]
    begun = {e.first_seq for e in exchanges if not stated & {*range(e.first_seq, e.last_seq + 1)}}
    return stated | begun
