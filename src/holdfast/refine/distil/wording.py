"""The words in which chosen statements are remembered: completed, understandable alone, and with
what they are about."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from holdfast.model.knowledge import Kind
from holdfast.model.records import Turn
from holdfast.refine.distil.completion import Completed, complete, find_cure
from holdfast.refine.distil.features import Candidate, content_words
from holdfast.refine.distil.selector import Scored
from holdfast.refine.distil.standalone import POINTS_BACK, standalone, with_context
from holdfast.refine.distil.statements import Statement
from holdfast.refine.distil.utterances import Utterance
from holdfast.regex import regex

# Digits of a score that are kept: more depend on the processor.
_WORTH_DIGITS = 2
# So many messages before a statement may say what the option is that it names.
_EARLIER = 4
# Messages on either side of a statement, by which is judged what it is about.
_NEAR = 4
# A person's "it" may be so many files that they named before.
_MAX_FILES = 3
# What ended a cause stands behind it.
_FIXED = "Fixed: "
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
    """A statement to remember: its kind, its words with what they need and what they are about,
    only the words that were chosen, the turn that states it, whether whoever the agent works for
    said it, the score that chose it, and the other turns that state it."""

    kind: Kind
    text: str
    said: str
    turn: Turn
    is_person: bool
    worth: float = 0.0
    further: tuple[Turn, ...] = ()


class _Chosen(NamedTuple):
    scored: Scored
    completed: Completed


def word_statements(
    chosen: Sequence[Scored],
    utterances: Sequence[Utterance],
    context: Context,
    candidates: Sequence[Candidate] = (),
) -> list[Distilled]:
    """Chosen statements as they are remembered, in their order. One that another has taken in is
    left out, and so is one that still points at a sentence that is not there. `candidates`: all
    statements of the session, among which a cause may find what ended it."""
    completed = [_complete(one, utterances) for one in chosen]
    apart = [
        one
        for n, one in enumerate(completed)
        if not any(_takes_in(other, one) for other in completed)
        and not any(_is_completed_alike(one, other) for other in completed[:n])
    ]
    worded = (_word(one, utterances, context, candidates) for one in apart)
    return [one for one in worded if one is not None]


def _complete(one: Scored, utterances: Sequence[Utterance]) -> _Chosen:
    number, statement = one.candidate
    earlier = (u.text for u in reversed(utterances[max(0, number - _EARLIER) : number]))
    return _Chosen(one, complete(statement, utterances[number].text, earlier))


def _takes_in(one: _Chosen, other: _Chosen) -> bool:
    """Whether a completed statement has all sentences of another one and more."""
    span, its = one.completed.span, other.completed.span
    same_text = one.scored.candidate.utterance == other.scored.candidate.utterance
    return same_text and len(span) > len(its) and its[0] in span and its[-1] in span


def _is_completed_alike(one: _Chosen, other: _Chosen) -> bool:
    """Whether two statements were completed to the same words: items, each to their list."""
    same_text = one.scored.candidate.utterance == other.scored.candidate.utterance
    return same_text and one.completed.text == other.completed.text


def _word(
    one: _Chosen, utterances: Sequence[Utterance], context: Context, candidates: Sequence[Candidate]
) -> Distilled | None:
    scored, completed = one
    number, statement = scored.candidate
    utterance = utterances[number]
    full = standalone(statement._replace(text=completed.text))
    cure = find_cure(scored.candidate, candidates, utterances)
    if cure is not None and cure.text not in full:
        full = f"{full} {_FIXED}{cure.text}"
    text = with_context(full, _subject(number, statement, utterances, context))
    if text == full and POINTS_BACK.match(text):
        return None
    worth = round(scored.score, _WORTH_DIGITS)
    said = standalone(statement)
    numbers = (*scored.further, *([cure.utterance] if cure is not None else ()))
    others = dict.fromkeys(utterances[n].turn for n in numbers)
    further = tuple(turn for turn in others if turn.id != utterance.turn.id)
    return Distilled(scored.kind, text, said, utterance.turn, utterance.is_person, worth, further)


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
