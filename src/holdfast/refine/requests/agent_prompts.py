"""Prompts that programs write for the agents that they start, such as those of a loop or a team."""

from __future__ import annotations

import re

from holdfast.regex import regex

# Who the reader is, as such prompts begin, perhaps below a heading or in tags.
_ROLE = regex(
    r"\A\s*(?:#[^\n]*\n+|<[\w-]+>\s*)?"
    r"(?:your name is\b|you are (?:now |currently )?(?:(?:performing|executing|operating|acting)\b|"
    r"(?:an? |the |\*\*)[^.\n]{0,80}\b(?:agent|assistant|subagent|reviewer|expert|engineer|"
    r"developer|architect|analyst|specialist|planner|orchestrator|model|bot)\b))",
    re.IGNORECASE,
)
# Shorter ones are typed: "You are the expert. Never use mocks."
_MIN_CHARS = 400
# A heading that tells nothing of the task, and the role below it: a program fills in the rest.
_TEMPLATE = regex(
    r"\A\s*#+ *(?:[\w-]+ ){0,2}(?:context|instructions?|prompt|role|persona|identity|background)"
    r"\W*\n\s*(?:your name is|you are)\b",
    re.IGNORECASE,
)


def gives_role(text: str) -> bool:
    """Whether a message is the prompt with which a program starts an agent."""
    return len(text) >= _MIN_CHARS and _ROLE.match(text) is not None


def is_template(text: str) -> bool:
    """Whether such a prompt begins in the same words whatever is to be done."""
    return len(text) >= _MIN_CHARS and _TEMPLATE.match(text) is not None
