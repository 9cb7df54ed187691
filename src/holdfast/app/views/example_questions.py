"""Questions that a memory can answer, made of its own records, for people who do not know yet what
to ask. No model is used and nothing is searched: statements and names are read from the store."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from holdfast.language import words
from holdfast.model.graph import EntityKind
from holdfast.model.knowledge import Kind, Memory
from holdfast.regex import regex
from holdfast.store.protocol import Reader

# Statements of each kind, names and banks that are read; these bound the time.
_STATEMENTS = 40
_NAMES = 30
_BANKS = 3
# A name that a bank mentions once may have nothing said about it.
_MIN_MENTIONS = 2
# Names that one form asks for: of many memories the first have no good answer.
_NAMES_OF_A_FORM = 4
# Shorter ones are about "it", longer ones are not read at a glance.
_MIN_TOPIC, _MAX_TOPIC = 8, 80

# Statements that answer a question which they name themselves.
_CAUSE = regex(r"\b(?:root )?cause of (the [^.:;,()“”]+?)(?: is\b| was\b|:)", re.IGNORECASE)
_CHOSE = regex(r"\bwe chose ([^.:;,()“”]+?),? because\b", re.IGNORECASE)
_STOPPED = regex(r"\bwe no longer ([^.:;,()“”]+?)(?=[.:;,]|$)", re.IGNORECASE)
_FAILED = regex(r"^`[^`]+` failed with “([^”…]+)”; it passed after")
_STATED: tuple[tuple[re.Pattern[str], str], ...] = (
    (_CAUSE, "What was the cause of {}?"),
    (_CHOSE, "Why did we choose {}?"),
    (_STOPPED, "Do we still {}?"),
    (_FAILED, "What fixed “{}”?"),
)
# Questions about a name that a statement of some kind mentions.
_NAMED = (
    (Kind.DECISION, "What was decided about {}?"),
    (Kind.LESSON, "What was the problem with {}?"),
)
# One or two words without figures; not `#9` or `DOM-3`, which only their authors ask for.
_ASKABLE = regex(r"[^\W\d_](?:[^\W\d]|[.-])*[^\W\d_](?: [^\W\d_]{3,})?")


class ExampleQuestion(NamedTuple):
    """A question, its form, and what the statements say that it is made of: one of them is a good
    answer. There are none for a time."""

    question: str
    form: str
    answers: tuple[str, ...] = ()


def all_examples(reader: Reader, now: str) -> Iterator[ExampleQuestion]:
    """All questions, several of the same form, the last one for a time."""
    yield from _about_statements(reader)
    yield from _about_time(reader, now)


def _about_statements(reader: Reader) -> Iterator[ExampleQuestion]:
    banks = list(dict.fromkeys(s.bank for s in reader.sessions.latest(None, 200)))[:_BANKS]
    said = {
        (bank, kind): reader.memories.retained(bank, "", _STATEMENTS, kind.value)
        for kind in (Kind.DECISION, Kind.LESSON, Kind.FACT)
        for bank in banks
    }
    every = [memory for memories in said.values() for memory in memories]
    yield from _stated(every)
    yield from _named(reader, banks, lambda b, k: said[b, k])


def _stated(said: Sequence[Memory]) -> Iterator[ExampleQuestion]:
    """Of each form the question that the latest such statement answers."""
    latest = sorted(said, key=lambda memory: memory.when, reverse=True)
    for pattern, form in _STATED:
        for memory in latest:
            match = pattern.search(memory.what)
            topic = match.group(1).strip() if match else ""
            if _MIN_TOPIC <= len(topic) <= _MAX_TOPIC:
                yield ExampleQuestion(form.format(topic), form, (memory.what,))
                break


def _named(
    reader: Reader, banks: Sequence[str], said: Callable[[str, Kind], Sequence[Memory]]
) -> Iterator[ExampleQuestion]:
    """Questions about names that are mentioned often and have such a statement, each name once."""
    names = {bank: _names(reader, bank) for bank in banks}
    used: set[str] = set()
    for kind, form in _NAMED:
        asked = 0
        for bank in banks:
            statements = said(bank, kind)
            for name in names[bank]:
                answers = tuple(m.what for m in statements if _names_it(m.what, name))
                if answers and name not in used and asked < _NAMES_OF_A_FORM:
                    used.add(name)
                    asked += 1
                    yield ExampleQuestion(form.format(name), form, answers)


def _names_it(text: str, name: str) -> bool:
    return f" {' '.join(words(name))} " in f" {' '.join(words(text))} "


def _names(reader: Reader, bank: str) -> list[str]:
    """The names that are mentioned most, without people and files."""
    return [
        one.name
        for one in reader.graph.entities(bank, _NAMES)
        if one.kind in (EntityKind.CONCEPT, EntityKind.COMPONENT)
        and one.mentions >= _MIN_MENTIONS
        and _ASKABLE.fullmatch(one.name)
    ]


def _about_time(reader: Reader, now: str) -> list[ExampleQuestion]:
    """A question for the time of the latest session."""
    last = reader.sessions.last_end()
    return [ExampleQuestion(_time_question(last, now), "time")] if last else []


def _time_question(last: str, now: str) -> str:
    ended, today = datetime.fromisoformat(last), datetime.fromisoformat(now)
    days = (today.date() - ended.date()).days
    if days <= today.weekday():
        return "What was done this week?"
    if days <= today.weekday() + 7:
        return "What was done last week?"
    return f"What was done in {ended:%B %Y}?"
