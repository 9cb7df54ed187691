"""The tasks of a session's lists that were still open when it ended.

An agent that has done everything often forgets to tick the last box, one that leads others lists
what they do, and many go on to other work without a look at their list. So a task counts as open
only where the list was kept to the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from holdfast.model.records import Role, ToolCall, Turn
from holdfast.refine.core import signals
from holdfast.regex import regex

_LIST_TOOL = "TodoWrite"
_CREATE_TOOL = "TaskCreate"
_UPDATE_TOOL = "TaskUpdate"
# Tools that give work to other agents.
_DELEGATES = frozenset(("Agent", "Task", "SendMessage", "TeamCreate"))
_NUMBER = regex(r"#(\d+)")
_ITEM = regex(r"^- \[([ >])\] (.+)$")
_STARTED = "in_progress"
# So many calls may follow the last change of a list: tests of what was done, a commit. Whoever does
# more has given the list up.
_MAX_CALLS_AFTER = 4
_ENDED = frozenset(("completed", "deleted", "cancelled"))


class OpenTask(NamedTuple):
    """A task that is not done, and the turn that lists it."""

    turn: Turn
    text: str
    is_started: bool = False


def find_open_tasks(turns: Sequence[Turn]) -> list[OpenTask]:
    """The tasks that were open after the last of these turns, in the order of their list."""
    if _is_given_up(turns):
        return []
    found = _of_whole_list(turns)
    if found is None:
        found = _of_single_tasks(turns)
    replied = turns and turns[-1].role is Role.ASSISTANT
    # A list with one started task at its end, and then a reply: the work was done.
    return [] if replied and len(found) == 1 and found[0].is_started else found


def _is_given_up(turns: Sequence[Turn]) -> bool:
    """Whether work went on, or another request came, after the last change of a list."""
    calls = 0
    for turn in reversed(turns):
        if turn.tool is not None and turn.tool.name in (_LIST_TOOL, _CREATE_TOOL, _UPDATE_TOOL):
            return False
        calls += turn.tool is not None
        is_request = turn.role is Role.USER and not signals.is_interruption(turn)
        if is_request or calls > _MAX_CALLS_AFTER:
            return True
    return False


def _of_whole_list(turns: Sequence[Turn]) -> list[OpenTask] | None:
    """The open tasks of the last list that was written as a whole; None if there is none."""
    for turn in reversed(turns):
        if turn.tool is not None and turn.tool.name == _LIST_TOOL:
            items = (_ITEM.match(line) for line in turn.tool.action.split("\n")[1:])
            return [OpenTask(turn, item[2], item[1] == ">") for item in items if item]
    return None


def _of_single_tasks(turns: Sequence[Turn]) -> list[OpenTask]:
    """The open tasks of a list whose tasks are created and changed one by one."""
    created: dict[str, tuple[Turn, str]] = {}
    state: dict[str, str] = {}
    for turn, tool in _calls(turns):
        if tool.name == _CREATE_TOOL and (number := _NUMBER.search(tool.result)):
            created[number[1]] = turn, tool.action
        elif tool.name == _UPDATE_TOOL and tool.target in created:
            # An update of something else has no status.
            state[tool.target] = tool.action or state.get(tool.target, "")
    ended = [n for n, name in enumerate(created) if state.get(name) in _ENDED]
    if not ended and any(tool.name in _DELEGATES for _, tool in _calls(turns)):
        return []
    # What stands before a task that is done was done, too, as a rule.
    left = list(created)[ended[-1] + 1 if ended else 0 :]
    return [OpenTask(*created[name], state.get(name) == _STARTED) for name in left]


def _calls(turns: Sequence[Turn]) -> Iterator[tuple[Turn, ToolCall]]:
    return ((turn, turn.tool) for turn in turns if turn.tool is not None and turn.tool.ok)
