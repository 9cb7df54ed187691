"""A session as a conversation: turns in order, exchanges as its headings, and subagents nested
where they were sent off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from holdfast.model.records import Digest, Exchange, Role, Session, Turn


class Nested(NamedTuple):
    """A subagent's session, and what came of it."""

    session: Session
    digest: Digest | None


class ShownTurn(NamedTuple):
    """One turn; the exchange that begins with it, and the subagents that set off at it."""

    turn: Turn
    begins: Exchange | None
    nested: tuple[Nested, ...]
    who: str
    # Whether it is the one that was asked for: what is folded is opened then.
    wanted: bool


_SUBAGENT_TOOLS = ("Agent", "Task")
_NAMES = {Role.USER: "You", Role.ASSISTANT: "Agent", Role.TOOL: "Tool"}


def conversation(
    turns: Sequence[Turn], exchanges: Sequence[Exchange], subagents: Sequence[Nested], at: int = 0
) -> list[ShownTurn]:
    """The turns of a window as they are told."""
    begins = {exchange.first_seq: exchange for exchange in exchanges}
    by_turn = _turns_of_subagents(turns, subagents)
    return [
        ShownTurn(
            turn,
            begins.get(turn.seq),
            tuple(by_turn.get(turn.seq, ())),
            turn.speaker or _NAMES[turn.role],
            turn.seq == at,
        )
        for turn in turns
    ]


def _turns_of_subagents(
    turns: Sequence[Turn], subagents: Sequence[Nested]
) -> dict[int, list[Nested]]:
    """Where each subagent was sent off: the last call before it began, else the last turn. One that
    began outside of these turns is nowhere."""
    found: dict[int, list[Nested]] = {}
    dated = [turn for turn in turns if turn.time]
    for nested in subagents:
        began = nested.session.started
        before = [turn for turn in dated if turn.time <= began]
        if before and began <= dated[-1].time:
            calls = [turn for turn in before if turn.tool and turn.tool.name in _SUBAGENT_TOOLS]
            found.setdefault((calls or before)[-1].seq, []).append(nested)
    return found
