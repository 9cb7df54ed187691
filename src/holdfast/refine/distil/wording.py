"""The words in which chosen statements are remembered: understandable alone, and with what they
are about."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from holdfast.model.knowledge import Kind
from holdfast.model.records import Turn
from holdfast.refine.distil.features import content_words
from holdfast.refine.distil.selector import Scored
from holdfast.refine.distil.standalone import POINTS_BACK, standalone, with_context
from holdfast.refine.distil.statements import Statement
from holdfast.refine.distil.utterances import Utterance
from holdfast.regex import regex

# Digits of a score that are kept: more depend on the processor.
_WORTH_DIGITS = 2
# Messages on either side of a statement, by which is judged what it is about.
_NEAR = 4
# A person's "it" may be so many files that they named before.
_MAX_FILES = 3
_POINTS = regex(r"\b(?:it|its|them|they|these|those|this|that)\b", re.IGNORECASE)
_FILE = regex(r"(?:@[\w-]+|\b[\w-]+/[\w-]+)(?:[/.-][\w-]+)*\.[a-z]\w{0,4}\b(?!\()")
# A file that a program made, in the text of an error.
_MADE = regex(
    r"(?:^|[/._-])(?=[a-z_]*\d)[0-9a-f_]{8,}(?:[._-]|$)|\b(?:node_modules|_next|chunks|dist)/"
)


class Context(NamedTuple):
    """What statements are about, in a few words: the subject of their session, what was asked for
    before each turn, by its id, and the only file that was changed after that. "" where that names
    no matter."""

    subject: str = ""
    requests: Mapping[str, str] = {}
    files: Mapping[str, str] = {}


class Distilled(NamedTuple):
    """A statement to remember: its kind, its words with what they are about, only the words that
    were chosen, the turn that states it, whether whoever the agent works for said it, and the score
    that chose it."""

    kind: Kind
    text: str
    said: str
    turn: Turn
    is_person: bool
    worth: float = 0.0


def word_statements(
    chosen: Sequence[Scored], utterances: Sequence[Utterance], context: Context
) -> list[Distilled]:
    """Chosen statements as they are remembered, in their order. One that points at a sentence that
    is not there is left out."""
    worded = (_word(one, utterances, context) for one in chosen)
    return [one for one in worded if one is not None]


def _word(one: Scored, utterances: Sequence[Utterance], context: Context) -> Distilled | None:
    number, statement = one.candidate
    utterance = utterances[number]
    said = standalone(statement)
    text = with_context(said, _subject(number, statement, utterances, context))
    if text == said and POINTS_BACK.match(text):
        return None
    worth = round(one.score, _WORTH_DIGITS)
    return Distilled(one.kind, text, said, utterance.turn, utterance.is_person, worth)


def _subject(
    number: int, statement: Statement, utterances: Sequence[Utterance], context: Context
) -> str:
    """What a statement is about: the request that it answers or else its session, if the messages
    around it are about that, too, or else the file that its agent changed, or the files that a
    person named in the same message for what they call "it"."""
    near = utterances[max(0, number - _NEAR) : number + _NEAR + 1]
    turn = utterances[number].turn.id
    asked = (context.requests.get(turn, ""), context.subject)
    is_person = utterances[number].is_person
    files = (
        _named_files(statement, utterances[number]) if is_person else context.files.get(turn, "")
    )
    return next((subject for subject in asked if _is_told(subject, near)), files)


def _is_told(subject: str, near: Sequence[Utterance]) -> bool:
    """Whether one of these messages has a word of a subject."""
    words = content_words(subject)
    return bool(words) and not all(words.isdisjoint(content_words(one.text)) for one in near)


def _named_files(statement: Statement, utterance: Utterance) -> str:
    """The files that a message names, for a statement that only points at them."""
    if not _POINTS.search(statement.text) or _FILE.search(statement.text):
        return ""
    found = (one.lstrip("@") for one in _FILE.findall(utterance.text) if not _MADE.search(one))
    named = dict.fromkeys(found)
    return ", ".join(list(named)[:_MAX_FILES])
