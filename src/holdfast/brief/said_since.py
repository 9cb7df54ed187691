"""What people laid down since the brief was prepared: their rules and firm decisions, quoted from
prompts that the worker has not read yet.

A session that starts seconds after another one has them in its brief. A minute later the worker has
distilled them, and the brief tells them with their records.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from holdfast.brief.frame import Brief, brief_head, format_minute, wrap_brief
from holdfast.framed_text import quote
from holdfast.language import sentences
from holdfast.refine.distil.statements import find_statements
from holdfast.refine.facts.decision_sentences import FIRM_STRENGTH, find_decision_sentences
from holdfast.refine.facts.directives import is_directive
from holdfast.refine.facts.momentary_orders import is_for_the_moment
from holdfast.refine.hooks.unread_prompts import UnreadPrompt

HEADING = "Said here just now, in another session (quoted; not looked into yet)"
_MAX_SENTENCES = 12
# The latest count: more than this in a minute is a conversation, which its session will sum up.
_MAX_RULES = 6


class SaidRule(NamedTuple):
    """What a person laid down: its words in quotation marks, and the line of a brief."""

    words: str
    line: str


def said_rules(prompts: Sequence[UnreadPrompt]) -> list[SaidRule]:
    """What some prompts lay down, each once, in the order of time."""
    found: dict[str, SaidRule] = {}
    for prompt in prompts:
        for sentence in laid_down(prompt.text):
            words = quote(sentence)
            found[words] = SaidRule(words, f"- {format_minute(prompt.time)} user: {words}")
    return list(found.values())[-_MAX_RULES:]


def laid_down(text: str) -> list[str]:
    """The sentences of a prompt that say how something must be from now on."""
    if len(sentences(text)) > _MAX_SENTENCES:  # a specification, or composed by a program
        return []
    single = [one for one in find_statements(text) if one.length == 1]
    rules = {one.text for one in single if is_directive(one.text)}
    firm = {
        one.sentence
        for statement in single
        for one in find_decision_sentences(statement.text, by_person=True)
        if one.strength >= FIRM_STRENGTH and one.explicit and not is_for_the_moment(one.sentence)
    }
    said = [one.text for one in single if one.text in rules | firm]
    return [sentence for sentence in said if not sentence.endswith("?")]


def brief_of_rules(name: str, rules: Sequence[SaidRule]) -> Brief:
    """A brief for a project of which nothing else is known."""
    return wrap_brief("start", [*brief_head(name), "", HEADING, *(rule.line for rule in rules)], ())
