"""A session as a conversation: turns in order, exchanges as headings, and subagents at the turn
that started them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from holdfast.model.records import Digest, Exchange, Role, Session, Turn


class Nested(NamedTuple):
    """The session of a subagent, and its digest."""

    session: Session
    digest: Digest | None


class ShownTurn(NamedTuple):
    """One turn, the exchange that begins with it, and the subagents that it started."""

    turn: Turn
    begins: Exchange | None
    nested: tuple[Nested, ...]
    who: str
    # Whether the URL names this turn, or a search found it; a folded one is then open.
    wanted: bool


_SUBAGENT_TOOLS = ("Agent", "Task")
_NAMES = {
    Role.USER: "You",
    Role.ASSISTANT: "Agent",
    Role.TOOL: "Tool",
    Role.SUMMARY: "Agent's summary of the session so far",
}


def conversation(
    turns: Sequence[Turn],
    exchanges: Sequence[Exchange],
    subagents: Sequence[Nested],
    wanted: Collection[int] = (),
) -> list[ShownTurn]:
    """The turns of a page as the template shows them; `wanted` are the places of those that the URL
    names or a search found."""
    begins = {exchange.first_seq: exchange for exchange in exchanges}
    by_turn = _turns_of_subagents(turns, subagents)
    return [
        ShownTurn(
            turn,
            begins.get(turn.seq),
            tuple(by_turn.get(turn.seq, ())),
            turn.speaker or _NAMES[turn.role],
            turn.seq in wanted,
        )
        for turn in turns
    ]


def _turns_of_subagents(
    turns: Sequence[Turn], subagents: Sequence[Nested]
) -> dict[int, list[Nested]]:
    """The subagents by the turn that started them: the last call before a subagent began, else the
    last turn before it. Subagents that began outside of these turns are left out."""
    found: dict[int, list[Nested]] = {}
    dated = [turn for turn in turns if turn.time]
    for nested in subagents:
        began = nested.session.started
        before = [turn for turn in dated if turn.time <= began]
        if before and began <= dated[-1].time:
            calls = [turn for turn in before if turn.tool and turn.tool.name in _SUBAGENT_TOOLS]
            found.setdefault((calls or before)[-1].seq, []).append(nested)
    return found
