"""What people said through a tool: the answer to a question that the agent put, and why they
refused what it was about to do. Both are completed with what they reply to, without which "the
second" or "use tabs" says nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.language import collapse_spaces, headings, sentences, truncate
from holdfast.model.records import ToolCall
from holdfast.refine.core import signals
from holdfast.refine.distil.statements import LIMITS
from holdfast.regex import regex
from holdfast.sources.claude_code.tools import MEANS, REFUSED, refused_result
from holdfast.sources.question_forms import is_foreign_question

PLAN_TOOLS = frozenset(("ExitPlanMode", "exit_plan_mode"))
_ANSWERED = regex(r"\"([^\"]{5,}?)\"=\"([^\"]+)\"")
# An answer that puts the decision off, or asks for more before it.
_DEFERS = regex(
    r"^\W*(?:(?:i['’]?ll |we['’]?ll |let['’]?s |let me |we can )?(?:decide|discuss|revisit|see|"
    r"think|defer|postpone|look)\b(?: \w+){0,3} (?:later|first|about (?:it|this|that))\b|"
    r"(?:i['’]?m )?(?:not (?:sure|yet|now)|undecided|unsure)\b|"
    r"(?:i )?(?:don['’]?t know|no idea)\b|"
    r"(?:other|cancel|maybe|later|chat about this|type something)\W*$|"
    r"(?:(?:please|can you|could you|first) )*(?:(?:explain|tell me|show me|describe|clarify|"
    r"elaborate|help me|give me)\b|"
    r"(?:compare|what|why|how|which|where|who|when|whats|is|are|does|do)\b(?=.*\?\s*$))"
    r"(?!.*\. \w))",
    re.IGNORECASE,
)
_ASKS = regex(r"\?\s*$")
# Beside a question, what somebody wants.
_STATES = regex(
    r"\b(?:should(?:n['’]t)?|must|want|need|prefer|let['’]?s|don['’]?t|we['’]ll|i think|use|"
    r"keep)\b",
    re.IGNORECASE,
)
_REASON = f"{REFUSED}: "
# Of what was refused so much is named.
_MAX_REFUSED_CHARS = 60


def answers(tool: ToolCall) -> Iterator[str]:
    """Each question that the agent put, with its answer and what the chosen option means. The
    meaning is left out where all that is too much for one statement. An answer that decides nothing
    is left out."""
    for question, answer in _ANSWERED.findall(_result(tool)):
        if not _decides(answer.partition(MEANS)[0]):
            continue
        text = f"{question} {answer}"
        yield text if len(text) <= LIMITS.max_joined_chars else text.partition(MEANS)[0]


def _decides(answer: str) -> bool:
    """Whether an answer is more than "later" and more than a question."""
    if _DEFERS.match(answer) or is_foreign_question(answer):
        return False
    return any(not _ASKS.search(one) or _STATES.search(one) for one in sentences(answer))


def refusal(tool: ToolCall) -> str:
    """Why a person refused a tool, and which; "" without a reason, or where they only say to go
    on."""
    result = _result(tool)
    reason = collapse_spaces(result.removeprefix(_REASON))
    if not result.startswith(_REASON) or signals.is_go_ahead(reason):
        return ""
    refused = _name(tool)
    is_short = len(sentences(reason)) <= 1 and len(reason) < LIMITS.max_lead_chars
    return f"{reason.rstrip('.!')} ({refused} was refused)" if is_short and refused else reason


def _result(tool: ToolCall) -> str:
    """The result of a call. An older version kept the words of Claude Code as a person's reason."""
    if not tool.result.startswith(_REASON):
        return tool.result
    return refused_result(tool.result.removeprefix(_REASON))


def _name(tool: ToolCall) -> str:
    """What was refused, in a few words."""
    if tool.name in PLAN_TOOLS:
        title = next(iter(headings(tool.action)), "").removeprefix("Plan: ")
        return f"the plan “{title}”" if title else "a plan"
    if tool.name in signals.SHELL_TOOLS:
        command = tool.action.strip().split("\n", 1)[0]
        return f"`{truncate(command, _MAX_REFUSED_CHARS)}`" if command else ""
    if tool.name in signals.EDIT_TOOLS and tool.target:
        return f"a change of `{tool.target}`"
    return ""
