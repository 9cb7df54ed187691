"""Questions for somebody who has just installed Holdfast: each was asked of this memory first, and
is only offered if the answer is good."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.app.answers.ask import AskOptions, steps
from holdfast.app.memory import Holdfast
from holdfast.app.views.example_questions import ExampleQuestion, all_examples
from holdfast.language import content_stems, words
from holdfast.model.query import Confidence
from holdfast.model.records import ExchangeType
from holdfast.refine.core.statement_similarity import own_words
from holdfast.regex import regex

# How many questions are asked at most. One takes about a tenth of a second of processor time.
_MAX_TRIED = 12
# The share of the content words of a statement that an answer has which quotes it.
_QUOTED = 0.7
# The latest sessions whose titles are looked at.
_SESSIONS = 40
# Shorter titles name no matter, longer ones nobody types.
_MIN_TITLE, _MAX_TITLE = 15, 70
_SHELL = regex(r"[\"`$\\!]")
# Titles that are quoted, cut or questions themselves.
_UNTITLED = regex(r"[“…(?]")
_GOOD = (Confidence.MEDIUM, Confidence.HIGH)
_WORK = (ExchangeType.FEATURE, ExchangeType.BUGFIX, ExchangeType.DECISION, ExchangeType.REFACTOR)


def questions_to_try(memory: Holdfast, bank: str, now: str, most: int = 3) -> list[str]:
    """Questions that `ask` answers in this bank with medium or high confidence, and with what they
    were made of, each about another matter; fewer than `most` where the memory holds too little."""
    found: list[str] = []
    used: set[str] = set()
    tried = 0
    for example in dict.fromkeys(_candidates(memory, bank, now)):
        topic = {word for word in words(example.question) if len(word) > 3}
        if tried >= _MAX_TRIED or len(found) >= most:
            break
        if len(topic & used) > 2:
            continue
        tried += 1
        if _is_answered_well(memory, bank, example):
            found.append(example.question)
            used |= topic
    return found


def _is_answered_well(memory: Holdfast, bank: str, example: ExampleQuestion) -> bool:
    """Ask as `holdfast ask` does, without a model service, other servers or a journal."""
    options = AskOptions(example.question, bank, quickly=True, model=False, remotes=False)
    answers = [event.answer for event in steps(memory.context, memory.search, options)]
    last = next((answer for answer in reversed(answers) if answer is not None), None)
    if last is None or last.abstained or last.confidence not in _GOOD:
        return False
    first = content_stems(last.answer.partition("\n")[0])
    return not example.answers or any(_quotes(first, text) for text in example.answers)


def _quotes(said: frozenset[str], statement: str) -> bool:
    """Whether a text of these content words says most of a statement."""
    wanted = content_stems(own_words(statement))
    return len(wanted & said) >= _QUOTED * len(wanted) > 0


def _candidates(memory: Holdfast, bank: str, now: str) -> Iterator[ExampleQuestion]:
    """The most specific ones first; one for a title after each of the others."""
    examples = all_examples(memory.reader, now)
    titles = iter(_titles(memory, bank))
    for example in examples:
        yield example
        if (title := next(titles, None)) is not None:
            yield title
    yield from titles


def _titles(memory: Holdfast, bank: str) -> Iterator[ExampleQuestion]:
    """A question for each piece of work of the latest sessions that has a telling title."""
    reader = memory.reader
    id = memory.context.bank_id(bank) or bank
    for session in reader.sessions.latest(id, _SESSIONS):
        for exchange in reader.sessions.exchanges(id, session.id):
            # Without what would end the quotes of a shell, or run something in it.
            title = " ".join(_SHELL.sub("", exchange.title).split()).rstrip(".:")
            telling = _MIN_TITLE <= len(title) <= _MAX_TITLE and not _UNTITLED.search(title)
            if exchange.type in _WORK and telling:
                yield ExampleQuestion(f"What was done for “{title}”?", "title")
