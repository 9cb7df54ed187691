"""A model service for tests: it gives the answers that a test wrote down, and records the
questions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.errors import ModelError
from holdfast.inference.chat import Question, Reply, Usage

_USAGE = Usage(1000, 100)
Answer = str | ModelError | Callable[[Question], str]


class ScriptedChat:
    """Gives its answers one after the other, and the last one from then on. An answer may be a
    text, an error, or a function of the question."""

    def __init__(self, *answers: Answer, model: str = "played", usage: Usage = _USAGE) -> None:
        self.service: str = "scripted"
        self.model: str = model
        self.asked: list[Question] = []
        self._answers = list(answers)
        self._usage = usage

    def ask(self, question: Question) -> Reply:
        """The next answer."""
        self.asked.append(question)
        answer: Any = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, ModelError):
            raise answer
        text: str = answer if isinstance(answer, str) else answer(question)
        return Reply(text, self._usage, self.model)
