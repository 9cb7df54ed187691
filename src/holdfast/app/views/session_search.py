"""Finding messages within one session by their words."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.model.records import Session, Turn
from holdfast.store.protocol import Reader

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
        text = _text_of(turn).casefold()
        if all(word in text for word in wanted):
            places.append(turn.seq)
            if len(places) == MAX_FOUND:
                break
    return FoundMessages(wanted, tuple(places))


def _text_of(turn: Turn) -> str:
    """All that a message says: its words, or what a tool was asked and answered."""
    tool = turn.tool
    return "\n".join((tool.name, tool.target, tool.action, tool.result)) if tool else turn.text
