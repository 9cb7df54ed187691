"""What of a session only passes on what memory says: the calls of memory, what an agent says right
after them, and answers that somebody quotes. None is new knowledge, however often it is said."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.lazy_dataclass import replace
from holdfast.model.records import Role, Turn
from holdfast.sources.own_calls import is_memory_call, is_memory_lookup, without_own_lines


def without_memory_calls(turns: Iterable[Turn]) -> list[Turn]:
    """The turns that are not calls of memory."""
    return [turn for turn in turns if turn.tool is None or not is_memory_call(turn.tool)]


def without_retold(turns: Iterable[Turn]) -> list[Turn]:
    """The turns without calls of memory, without the agent's words between such a call and the next
    thing that anybody does or says, and without quotes of answers."""
    kept: list[Turn] = []
    retells = False
    for turn in turns:
        if turn.tool is not None:
            retells = is_memory_lookup(turn.tool)
        elif turn.role is Role.USER:
            retells = False
        is_call = turn.tool is not None and is_memory_call(turn.tool)
        if not is_call and not (retells and turn.role is Role.ASSISTANT):
            kept.append(_without_quotes(turn))
    return kept


def _without_quotes(turn: Turn) -> Turn:
    text = without_own_lines(turn.text) if turn.tool is None else turn.text
    return turn if text == turn.text else replace(turn, text=text.strip())
