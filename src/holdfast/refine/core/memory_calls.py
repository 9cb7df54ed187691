"""What of a session only passes on what memory says: the calls of memory, and what an agent says
right after them. Neither is new knowledge, however often it is said."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.model.records import Role, Turn
from holdfast.sources.own_calls import is_memory_call, is_memory_lookup


def without_memory_calls(turns: Iterable[Turn]) -> list[Turn]:
    """The turns that are not calls of memory."""
    return [turn for turn in turns if turn.tool is None or not is_memory_call(turn.tool)]


def without_retold(turns: Iterable[Turn]) -> list[Turn]:
    """The turns without calls of memory and without the agent's words between such a call and the
    next thing that anybody does or says."""
    kept: list[Turn] = []
    retells = False
    for turn in turns:
        if turn.tool is not None:
            retells = is_memory_lookup(turn.tool)
        elif turn.role is Role.USER:
            retells = False
        is_call = turn.tool is not None and is_memory_call(turn.tool)
        if not is_call and not (retells and turn.role is Role.ASSISTANT):
            kept.append(turn)
    return kept
