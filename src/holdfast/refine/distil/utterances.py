"""What was said or written down in a session, in order: messages, plans, answers to questions,
refusals, reports, commit messages, notes, open tasks, the agent's own summaries.

Each utterance has its place in the session, because that tells how much it is worth: the message
that closes an exchange sums up, what comes before it narrates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from holdfast.language import headings
from holdfast.model.records import Role, ToolCall, Turn
from holdfast.model.trust import Trust
from holdfast.refine.core import signals
from holdfast.refine.core.written_messages import written_messages, written_note
from holdfast.refine.distil.open_tasks import find_open_tasks
from holdfast.refine.distil.people_replies import PLAN_TOOLS, answers, refusal
from holdfast.refine.distil.statements import Statement
from holdfast.refine.distil.summary_sections import Section, read_sections
from holdfast.refine.facts.typed_text import ACCEPTED_PLAN, own_lines
from holdfast.refine.requests.agent_prompts import gives_role
from holdfast.regex import regex


class Place(StrEnum):
    """Where something was said."""

    PROMPT = "prompt"
    CORRECTION = "correction"  # the prompt after a person interrupted the agent
    REPLY = "reply"  # while the agent works
    CLOSING = "closing"  # the agent's last message before the next prompt
    PLAN = "plan"
    ANSWER = "answer"  # a person's answer to a question that the agent put
    REFUSAL = "refusal"  # why a person refused a tool
    REPORT = "report"  # from one agent to another
    COMMIT = "commit"  # the message of a commit, or the description of a pull request
    NOTE = "note"  # what was added to a file that later sessions read
    TASK = "task"  # still open at the end of the session
    SUMMARY = "summary"  # the agent's own, from when its context was compacted
    FIX = "fix"  # of such a summary: an error, and what mended it


class Utterance(NamedTuple):
    """A text and the turn that it is from. `is_person`: said by whoever the agent works for."""

    turn: Turn
    text: str
    place: Place
    is_person: bool


_ASK_TOOL = "AskUserQuestion"
_MIN_CHARS = 8
# A plan that is called "Implementation plan" has no title.
_MIN_TITLE_WORDS = 3


# What a person pastes of what the agent said has at least so many letters; fewer are the same by
# chance.
_MIN_QUOTED_LETTERS = 40
_NO_LETTER = regex(r"[\W_]+")
# What stands above the title of a plan, to say what it is.
PLANNED = "Planned"
_PROMPTS = frozenset((Place.PROMPT, Place.CORRECTION))


def find_utterances(turns: Sequence[Turn], whole: Sequence[Turn] = ()) -> list[Utterance]:
    """What was said in these turns. Text from outside the project is left out. `whole` are all
    turns of the session where these are a part: what became of its tasks may be in the others."""
    turns = [turn for turn in turns if turn.trust is not Trust.EXTERNAL]
    whole = whole or turns
    read = {turn.id for turn in turns}
    refused = _refused_plans(whole)
    said = (u for turn in turns for u in _of_turn(turn))
    found = [u for u in said if u.place is not Place.PLAN or u.turn.id not in refused]
    tasks = (task for task in find_open_tasks(whole) if task.turn.id in read)
    found += [Utterance(task.turn, task.text, Place.TASK, False) for task in tasks]
    found += (pending for pending in _pending_tasks(whole) if pending.turn.id in read)
    found.sort(key=lambda utterance: utterance.turn.seq)
    return list(_with_closings(_with_corrections(found, turns)))


def is_accepted_plan(turn: Turn) -> bool:
    """Whether a prompt is a plan of the session before, to be carried out."""
    return turn.role is Role.USER and ACCEPTED_PLAN.match(turn.text) is not None


def is_answer(turn: Turn) -> bool:
    """Whether a turn is a question that the agent put, with a person's answer."""
    return turn.tool is not None and turn.tool.name == _ASK_TOOL


def _refused_plans(turns: Sequence[Turn]) -> set[str]:
    """The turns whose plan was refused. One that ends its session was not: Claude Code refuses it
    there to carry it out in a new session."""
    said = [turn for turn in turns if not signals.is_interruption(turn)]
    refused = {
        turn.id
        for turn in said
        if turn.tool is not None and turn.tool.name in PLAN_TOOLS and turn.tool.ok is False
    }
    last = said[-1] if said else None
    if last is not None and last.tool is not None and not refusal(last.tool):
        refused.discard(last.id)
    return refused


def _of_turn(turn: Turn) -> Iterator[Utterance]:
    tool = turn.tool
    if turn.role is Role.SUMMARY:
        for section, text in read_sections(turn.text):
            if section is not Section.PENDING:
                place = Place.FIX if section is Section.FIXES else Place.SUMMARY
                yield Utterance(turn, text, place, False)
    elif tool is None:
        is_person = turn.role is Role.USER
        if is_person and (plan := ACCEPTED_PLAN.match(turn.text)):
            yield from (Utterance(turn, text, Place.PLAN, False) for text in _of_plan(plan[1]))
        elif len(turn.text) >= _MIN_CHARS and not signals.is_interruption(turn):
            yield Utterance(turn, turn.text, Place.PROMPT if is_person else Place.REPLY, is_person)
    else:
        for text, place, is_person in _of_call(tool):
            yield Utterance(turn, text, place, is_person)


def _of_plan(plan: str) -> Iterator[str]:
    """A plan that was accepted, and its title as what is planned."""
    yield plan
    title = next(iter(headings(plan)), "").removeprefix("Plan: ")
    if len(title.split()) >= _MIN_TITLE_WORDS:
        yield f"{PLANNED}:\n\n{title}"


def _of_call(tool: ToolCall) -> Iterator[tuple[str, Place, bool]]:
    if tool.name in PLAN_TOOLS:
        for text in _of_plan(tool.action):
            yield text, Place.PLAN, False
    elif tool.name == _ASK_TOOL:
        for answer in answers(tool):
            yield answer, Place.ANSWER, True
    elif tool.name == "SendMessage":
        yield tool.action, Place.REPORT, False
    for message in written_messages(tool):
        yield message, Place.COMMIT, False
    if note := written_note(tool):
        yield note, Place.NOTE, False
    if reason := refusal(tool):
        yield reason, Place.REFUSAL, True


def _pending_tasks(turns: Sequence[Turn]) -> Iterator[Utterance]:
    """What the last summary names as pending, if the agent said nothing after it: else that is
    done, or it says itself what is left."""
    for turn in reversed(turns):
        if turn.role is Role.ASSISTANT:
            return
        if turn.role is Role.SUMMARY:
            for section, text in read_sections(turn.text):
                if section is Section.PENDING:
                    yield Utterance(turn, text, Place.TASK, False)
            return


def _with_corrections(found: Sequence[Utterance], turns: Sequence[Turn]) -> Iterator[Utterance]:
    """The prompt after an interruption corrects the agent, unless it only tells it to go on."""
    interrupted = False
    after: set[str] = set()
    for turn in turns:
        if signals.is_interruption(turn):
            interrupted = True
        elif turn.role is Role.USER:
            after |= {turn.id} if interrupted and not signals.is_go_ahead(turn.text) else set()
            interrupted = False
    for utterance in found:
        is_correction = utterance.place is Place.PROMPT and utterance.turn.id in after
        yield utterance._replace(place=Place.CORRECTION) if is_correction else utterance


def _with_closings(utterances: Iterable[Utterance]) -> Iterator[Utterance]:
    """The last reply before each prompt, and before the end, closes an exchange."""
    found = list(utterances)
    closing: set[int] = set()
    last: int | None = None
    for number, utterance in enumerate(found):
        if utterance.place is Place.REPLY:
            last = number
        elif utterance.place in _PROMPTS and last is not None:
            closing.add(last)
            last = None
    closing |= {last} if last is not None else set()
    for number, utterance in enumerate(found):
        yield utterance._replace(place=Place.CLOSING) if number in closing else utterance


class Quotes:
    """Finds the statements in people's prompts that are not theirs: what they quote, what a program
    printed, and what their agent had said before in the same session, as a finding that they paste
    into the next prompt ("Address this: …"). What they said before themselves is theirs."""

    def __init__(self, utterances: Sequence[Utterance]) -> None:
        self._utterances = utterances
        # What was said, in letters, read as far as it is needed.
        self._said: list[str] = []
        self._own: dict[int, str] = {}

    def has(self, number: int, statement: Statement) -> bool:
        """Whether somebody else said or printed a statement of a person."""
        utterance = self._utterances[number]
        if not utterance.is_person or utterance.place not in _PROMPTS:
            return False
        letters = _letters(statement.text)
        if letters not in self._typed(number):
            return not self._is_said(letters, number, by_person=True)
        is_long = len(letters) >= _MIN_QUOTED_LETTERS
        return is_long and self._is_said(letters, number, by_person=False)

    def _typed(self, number: int) -> str:
        if number not in self._own:
            text = self._utterances[number].text
            self._own[number] = "" if gives_role(text) else _letters(own_lines(text))
        return self._own[number]

    def _is_said(self, letters: str, number: int, by_person: bool) -> bool:
        """Whether people or their agent said something before a message."""
        while len(self._said) < number:
            before = len(self._said)
            is_person = self._utterances[before].is_person
            self._said.append(
                self._typed(before) if is_person else _letters(self._utterances[before].text)
            )
        return any(
            letters in said
            for one, said in zip(self._utterances, self._said[:number], strict=False)
            if one.is_person is by_person
        )


def _letters(text: str) -> str:
    return _NO_LETTER.sub("", text).lower()
