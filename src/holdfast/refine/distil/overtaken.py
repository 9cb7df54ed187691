"""Tells which statements of an agent were no longer true at the end of their session.

What an agent says on its way is overtaken by its work: a problem that it describes is fixed, what
it finds missing is added, what it proposes is done or left, what it calls open is closed, and who
it reports to says that it still fails. The evidence is what happened later in the session: the
files and names that were changed, the next prompt, and what was said of the same matter. What a
person said is not judged, nor what was written to last: commit messages, answers, and notes whose
lines stayed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from posixpath import basename
from typing import NamedTuple

from holdfast.language import (
    code_names,
    collapse_spaces,
    content_stems,
    describes_failure,
    plain,
    sentences,
)
from holdfast.model.records import Role, ToolCall, Turn
from holdfast.refine.core import signals
from holdfast.refine.core.idea_requests import asks_for_ideas
from holdfast.refine.core.problem_states import describes_gap, describes_problem
from holdfast.refine.core.shell_changes import changed_files
from holdfast.refine.distil.kinds import (
    claims_done,
    explains,
    is_left_open,
    is_order,
    names_cause_or_fix,
)
from holdfast.refine.distil.statements import Statement
from holdfast.refine.distil.utterances import PLANNED, Place, Utterance
from holdfast.refine.facts import hypotheses
from holdfast.regex import regex


class OvertakenLimits(NamedTuple):
    """When later work or a later prompt is about a statement."""

    # Share of the statement's stems in what is said of the work, if it names no file or symbol.
    same_matter: float = 0.4
    # Share of stems of two causes that are one.
    same_cause: float = 0.5
    # Stems that a complaint shares with what it complains about.
    complaint_stems: int = 2
    # A prompt complains first; the rest may be pasted.
    opening_chars: int = 400
    # A shorter name is found in other words.
    min_name_chars: int = 4
    most_names: int = 20


_LIMITS = OvertakenLimits()
# Written to last, or the words of a person.
_LASTING = frozenset((Place.COMMIT, Place.ANSWER, Place.TASK, Place.REFUSAL))
_SAID = frozenset((Place.REPLY, Place.CLOSING))
_CODE = regex(r"`([^`\s]+)`")
_LINES = regex(r":[\d:,-]+$")
_FILE = regex(r"[^*<>|]*[^/*<>|]\.[a-zA-Z]\w{0,7}")
# What an agent would do, or advises to do.
_PROPOSES = regex(
    r"\b(?:should|could|would)\b(?! (?:\w+ )?have\b)|\b(?:recommend|suggest|propose)\b|"
    r"\b(?:needs?|has|have) to\b|\bwe can\b|\boption [a-d1-4]\b|"
    r"\b(?:cleanest|simplest|best|right|real|safest) (?:fix|way|approach|solution|option) is\b|"
    r"^\W*(?:proposed|suggested|recommended)\b",
    re.I,
)
_WOULD_FIX = regex(r"\bthe (?:\w+ )?fix is to\b", re.I)
# How far some work is: "2/7", "18 of 19 done", "only the importer remains", "importer — running".
_PROGRESS = regex(
    r"(?<![\w/.])\d+ ?/ ?\d+(?![\w/.])|\b\d+ of (?:the )?\d+\b|\b[1-9]\d* (?:\w+ )?remain|"
    r"\bonly\b.{1,60}\bremains?\b|"
    r"[—–|:] \W*(?:running|working|pending|waiting|blocked|in progress)\b",
    re.I,
)
_QUOTED = regex(r"[\"“][^\"”]*[\"”]|`[^`]*`")


class _Change(NamedTuple):
    """A change of files: when, the names of the files, and the changed lines."""

    seq: int
    files: frozenset[str]
    lines: str


class _Cause(NamedTuple):
    """What a sentence that names a cause is about: its words, and the files and symbols in it."""

    topic: frozenset[str]
    names: frozenset[str]

    @classmethod
    def of(cls, sentence: str) -> _Cause:
        files, symbols = _names(sentence)
        return cls(hypotheses.topic_stems(sentence), files | symbols)

    def is_told_in(self, other: _Cause) -> bool:
        """Whether another sentence names the same cause."""
        if self.names and other.names and self.names.isdisjoint(other.names):
            return False
        return hypotheses.same_cause(self.topic, other.topic, _LIMITS.same_cause)


class _Reaction(NamedTuple):
    """What a prompt says of the work before it: that it was wrong, or that something fails, with
    the stems of its opening; and whether it asks for ideas."""

    disagrees: bool
    describes_failure: bool
    stems: frozenset[str]
    asks_for_ideas: bool

    @classmethod
    def of(cls, prompt: str) -> _Reaction:
        opening = prompt[: _LIMITS.opening_chars]
        return cls(
            hypotheses.disagrees(prompt),
            describes_failure(opening),
            content_stems(opening),
            asks_for_ideas(prompt),
        )


class LaterWork:
    """What happened in a session after each of its turns."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        """`turns` are all turns of the session in order."""
        self._changes = [change for turn in turns if (change := _change_of(turn))]
        self._changed_at = [change.seq for change in self._changes]
        asked = [t for t in turns if t.role is Role.USER and t.tool is None]
        self._prompts = [turn for turn in asked if not signals.is_interruption(turn)]
        self._prompted_at = [turn.seq for turn in self._prompts]
        self._called_at = [turn.seq for turn in turns if turn.tool is not None]
        self._replies = [t for t in turns if t.role is Role.ASSISTANT and t.tool is None and t.text]
        self._causes: dict[str, list[_Cause]] = {}
        self._stems: dict[str, frozenset[str]] = {}
        self._reactions: dict[str, _Reaction] = {}

    def overtakes(self, statement: Statement, utterance: Utterance) -> bool:
        """Whether a statement was no longer true, or was never a result, when the session ended."""
        if utterance.is_person or utterance.place in _LASTING:
            return False
        if utterance.place is Place.NOTE:
            return self._is_removed(statement, utterance.turn)
        if statement.lead == PLANNED:
            # What came of a plan is told where it was carried out.
            return bisect_right(self._changed_at, utterance.turn.seq) < len(self._changes)
        return self._was_no_result(statement, utterance) or self._is_over(statement, utterance)

    def _was_no_result(self, statement: Statement, utterance: Utterance) -> bool:
        """Whether a statement was one of many ideas, or the next prompt says that it is not so."""
        if self._is_one_of_ideas(statement, utterance):
            return True
        is_plan = utterance.place is Place.PLAN
        return not is_plan and self._is_refuted(statement, utterance.turn.seq)

    def _is_over(self, statement: Statement, utterance: Utterance) -> bool:
        """Whether work went on after a statement and ended what it says, or did it."""
        seq = utterance.turn.seq
        if is_left_open(statement) or _PROGRESS.search(_QUOTED.sub("", statement.text)):
            return self._goes_on(statement, seq)
        if self._is_order_of_the_moment(statement, utterance):
            return True
        if claims_done(statement) and not _WOULD_FIX.search(statement.text):
            return False
        if self._is_explained_later(statement, utterance):
            return True
        if explains(statement):
            return False
        if is_order(statement) and not _PROPOSES.match(statement.lead):
            return False
        if utterance.place is not Place.PLAN and _proposes(statement):
            return self._next_prompt(seq) is not None or self._is_changed(statement, seq)
        text = statement.text
        return (describes_problem(text) or describes_gap(text)) and self._is_changed(statement, seq)

    def _is_removed(self, statement: Statement, written: Turn) -> bool:
        """Whether a later change of the file took the lines of a note out again."""
        file = basename(written.tool.target).lower() if written.tool else ""
        later = self._changes[bisect_right(self._changed_at, written.seq) :]
        text = collapse_spaces(statement.text)
        return any(file in change.files and text in _removed(change) for change in later)

    def _is_one_of_ideas(self, statement: Statement, utterance: Utterance) -> bool:
        """Whether an agent only lists what it was asked to think of. What it says beside its list
        is more if it looked something up for that."""
        seq = utterance.turn.seq
        asked = bisect_right(self._prompted_at, seq) - 1
        if utterance.place not in _SAID or asked < 0:
            return False
        prompt = self._prompts[asked]
        wants_ideas = self._reaction_of(prompt).asks_for_ideas
        if not wants_ideas or self._changes_in_exchange(prompt.seq):
            return False
        first = bisect_right(self._called_at, prompt.seq)
        looked_up = first < len(self._called_at) and self._called_at[first] < seq
        return statement.is_item or not looked_up

    def _next_prompt(self, seq: int) -> Turn | None:
        number = bisect_right(self._prompted_at, seq)
        return self._prompts[number] if number < len(self._prompts) else None

    def _is_refuted(self, statement: Statement, seq: int) -> bool:
        """Whether the next prompt says that what was reported as done or found is not so."""
        prompt = self._next_prompt(seq)
        if prompt is None or not (claims_done(statement) or explains(statement)):
            return False
        reaction = self._reaction_of(prompt)
        if reaction.disagrees or not reaction.describes_failure:
            return reaction.disagrees
        shared = content_stems(statement.text) & reaction.stems
        return len(shared) >= _LIMITS.complaint_stems

    def _reaction_of(self, prompt: Turn) -> _Reaction:
        if prompt.id not in self._reactions:
            self._reactions[prompt.id] = _Reaction.of(prompt.text)
        return self._reactions[prompt.id]

    def _is_order_of_the_moment(self, statement: Statement, utterance: Utterance) -> bool:
        """Whether an agent tells itself what to do, and then does it."""
        is_step = utterance.place is Place.REPLY and is_order(statement)
        return is_step and self._changes_in_exchange(utterance.turn.seq)

    def _is_explained_later(self, statement: Statement, utterance: Utterance) -> bool:
        """Whether a cause that was named on the way is named again before the exchange ends, or
        why something is so that was only claimed."""
        if utterance.place is not Place.REPLY:
            return False
        end = self._end_of_exchange(utterance.turn.seq)
        later = (t for t in self._replies if utterance.turn.seq < t.seq < end)
        causes = [other for turn in later for other in self._causes_in(turn)]
        if not causes:
            return False
        told = _Cause.of(statement.text)
        if explains(statement):
            return any(told.is_told_in(other) for other in causes)
        names = {name for name in told.names if name[0].isalpha()}
        return bool(names) and any(names <= other.names for other in causes)

    def _causes_in(self, turn: Turn) -> list[_Cause]:
        """The causes and fixes that a reply names."""
        if turn.id not in self._causes:
            told = [s for s in sentences(turn.text) if names_cause_or_fix(s)]
            self._causes[turn.id] = [_Cause.of(sentence) for sentence in told]
        return self._causes[turn.id]

    def _end_of_exchange(self, seq: int) -> float:
        prompt = self._next_prompt(seq)
        return prompt.seq if prompt is not None else float("inf")

    def _changes_in_exchange(self, seq: int) -> bool:
        number = bisect_right(self._changed_at, seq)
        return number < len(self._changes) and self._changed_at[number] < self._end_of_exchange(seq)

    def _goes_on(self, statement: Statement, seq: int) -> bool:
        """Whether the work went on after something was called open: files were changed, or an
        agent reported again about the same."""
        if self._is_changed(statement, seq):
            return True
        return self._is_said_again(content_stems(statement.text), seq)

    def _is_changed(self, statement: Statement, seq: int) -> bool:
        """Whether what a statement is about was changed after it. One that names no file and no
        symbol is about the work of its exchange, or of a later one that speaks of the same."""
        later = self._changes[bisect_right(self._changed_at, seq) :]
        if not later:
            return False
        files, symbols = _names(f"{statement.lead} {statement.text}")
        if files or symbols:
            return any(_is_of(change, files, symbols) for change in later)
        if self._changes_in_exchange(seq):
            return True
        return self._is_said_again(content_stems(statement.text), seq)

    def _is_said_again(self, stems: frozenset[str], seq: int) -> bool:
        later = (self._stems_of(turn) for turn in self._replies if turn.seq > seq)
        return any(len(stems & said) >= _LIMITS.same_matter * len(stems) for said in later)

    def _stems_of(self, turn: Turn) -> frozenset[str]:
        if turn.id not in self._stems:
            self._stems[turn.id] = content_stems(turn.text)
        return self._stems[turn.id]


def _proposes(statement: Statement) -> bool:
    text = plain(statement.text)
    found = _PROPOSES.match(statement.lead) or _PROPOSES.search(text) or _WOULD_FIX.search(text)
    return found is not None


def _change_of(turn: Turn) -> _Change | None:
    tool = turn.tool
    if tool is None or tool.ok is False:
        return None
    files = frozenset(basename(path).lower() for path in changed_files(tool))
    return _Change(turn.seq, files, _changed_lines(tool)) if files else None


def _changed_lines(tool: ToolCall) -> str:
    return tool.action if tool.name in signals.EDIT_TOOLS else ""


def _removed(change: _Change) -> str:
    """The lines that a change took out, as one."""
    lines = (line[1:] for line in change.lines.split("\n") if line.startswith("-"))
    return collapse_spaces(" ".join(lines))


def _names(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The files that a text names, without their folders, and the symbols."""
    found = {
        _LINES.sub("", name)
        for name in (*code_names(text, _LIMITS.most_names), *_CODE.findall(text))
    }
    files = frozenset(basename(name).lower() for name in found if _FILE.fullmatch(name))
    symbols = frozenset(name.rstrip("()") for name in found if basename(name).lower() not in files)
    return files, frozenset(name for name in symbols if len(name) >= _LIMITS.min_name_chars)


def _is_of(change: _Change, files: frozenset[str], symbols: frozenset[str]) -> bool:
    """Whether a change is of one of these files, of one that is called as a symbol, or of lines
    with a symbol."""
    stems = {name.partition(".")[0] for name in change.files}
    return bool(files & change.files) or any(
        symbol in change.lines or symbol.lower() in stems for symbol in symbols
    )
