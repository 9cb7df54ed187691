"""What was said in a session, in order: messages, plans, answers to questions, refusals, reports.

Each utterance has its place in the session, because that tells how much it is worth: the message
that closes an exchange sums up, what comes before it narrates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from holdfast.model.records import Role, Turn
from holdfast.model.trust import Trust
from holdfast.refine.core import signals
from holdfast.regex import regex


class Place(StrEnum):
    """Where something was said."""

    PROMPT = "prompt"
    REPLY = "reply"  # while the agent works
    CLOSING = "closing"  # the agent's last message before the next prompt
    PLAN = "plan"
    ANSWER = "answer"  # a person's answer to a question that the agent put
    REFUSAL = "refusal"  # why a person refused a tool
    REPORT = "report"  # from one agent to another


class Utterance(NamedTuple):
    """A text and the turn that it is from. `is_person`: said by whoever the agent works for."""

    turn: Turn
    text: str
    place: Place
    is_person: bool


_PLAN_TOOLS = frozenset(("ExitPlanMode", "exit_plan_mode"))
_ANSWERED = regex(r"\"([^\"]{5,}?)\"=\"([^\"]+)\"")
_REFUSED = "rejected by the user: "
_MIN_CHARS = 8


def find_utterances(turns: Sequence[Turn]) -> list[Utterance]:
    """What was said in these turns. Text from outside the project is left out."""
    found = [u for turn in turns if turn.trust is not Trust.EXTERNAL for u in _of_turn(turn)]
    return list(_with_closings(found))


def _of_turn(turn: Turn) -> Iterator[Utterance]:
    tool = turn.tool
    if tool is None:
        if len(turn.text) >= _MIN_CHARS and not signals.is_interruption(turn):
            is_person = turn.role is Role.USER
            yield Utterance(turn, turn.text, Place.PROMPT if is_person else Place.REPLY, is_person)
    elif tool.name in _PLAN_TOOLS:
        yield Utterance(turn, tool.action, Place.PLAN, False)
    elif tool.name == "AskUserQuestion":
        for question, answer in _ANSWERED.findall(tool.result):
            yield Utterance(turn, f"{question} {answer}", Place.ANSWER, True)
    elif tool.name == "SendMessage":
        yield Utterance(turn, tool.action, Place.REPORT, False)
    if tool is not None and tool.result.startswith(_REFUSED):
        yield Utterance(turn, tool.result.removeprefix(_REFUSED), Place.REFUSAL, True)


def _with_closings(found: Sequence[Utterance]) -> Iterator[Utterance]:
    """The last reply before each prompt, and before the end, closes an exchange."""
    closing: set[int] = set()
    last: int | None = None
    for number, utterance in enumerate(found):
        if utterance.place is Place.REPLY:
            last = number
        elif utterance.place is Place.PROMPT and last is not None:
            closing.add(last)
            last = None
    closing |= {last} if last is not None else set()
    for number, utterance in enumerate(found):
        yield utterance._replace(place=Place.CLOSING) if number in closing else utterance
