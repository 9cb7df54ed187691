"""Questions for somebody who has just installed Holdfast, made of the titles of the latest work.
Each is asked of this memory first, and is only offered if the answer is good."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.app.answers.ask import AskOptions, steps
from holdfast.app.memory import Holdfast
from holdfast.model.query import Confidence
from holdfast.model.records import ExchangeType

# How many questions are asked at most. One takes about a tenth of a second of processor time.
_MAX_TRIED = 12
# The latest sessions whose titles are looked at.
_SESSIONS = 40
# Shorter titles name no matter, longer ones nobody types.
_MIN_TITLE, _MAX_TITLE = 15, 70
_WORK = (ExchangeType.FEATURE, ExchangeType.BUGFIX, ExchangeType.DECISION, ExchangeType.REFACTOR)
# What would end the quotes of a shell, or run something in it.
_SHELL = dict.fromkeys(map(ord, '"`$\\!'))


def questions_to_try(memory: Holdfast, bank: str, most: int = 3) -> list[str]:
    """Questions that `ask` answers in this bank with medium or high confidence; fewer than `most`
    where the memory holds too little."""
    found: list[str] = []
    for tried, question in enumerate(dict.fromkeys(_candidates(memory, bank))):
        if tried >= _MAX_TRIED or len(found) >= most:
            break
        if _is_answered_well(memory, bank, question):
            found.append(question)
    return found


def _is_answered_well(memory: Holdfast, bank: str, question: str) -> bool:
    """Ask as `holdfast ask` does, without a model service, other servers or a journal."""
    options = AskOptions(question, bank, quickly=True, model=False, remotes=False)
    answers = [event.answer for event in steps(memory.context, memory.search, options)]
    last = next((answer for answer in reversed(answers) if answer is not None), None)
    return last is not None and last.confidence in (Confidence.MEDIUM, Confidence.HIGH)


def _candidates(memory: Holdfast, bank: str) -> Iterator[str]:
    """A question for each piece of work of the latest sessions."""
    reader = memory.reader
    id = memory.context.bank_id(bank) or bank
    for session in reader.sessions.latest(id, _SESSIONS):
        for exchange in reader.sessions.exchanges(id, session.id):
            title = " ".join(exchange.title.translate(_SHELL).split()).rstrip(".:")
            if exchange.type in _WORK and _MIN_TITLE <= len(title) <= _MAX_TITLE:
                yield f"What was done for “{title}”?"
