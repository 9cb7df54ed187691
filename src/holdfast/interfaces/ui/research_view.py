"""The journal of a research session as questions, each with its steps and its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from holdfast.model.query import Answer
from holdfast.research.journal_lines import answer_from_json


class ResearchQuestion(NamedTuple):
    """One question: how it was understood, its steps, how it ended, and the answer."""

    question: str
    reads: str
    steps: tuple[str, ...]
    end: str
    answer: Answer | None
    useful: bool = False


_ASKED = "asked"
_ENDS = {"cancelled": "", "failed": "It failed: "}


def read_questions(lines: Sequence[Mapping[str, Any]]) -> list[ResearchQuestion]:
    """The questions in the lines of a journal."""
    questions: list[ResearchQuestion] = []
    for line in lines:
        stage, text = str(line.get("stage", "")), str(line.get("text", ""))
        if stage == _ASKED:
            question = str(line.get("question", ""))
            reads = str(line.get("reads", ""))
            questions.append(ResearchQuestion(question, reads, (), "", None))
        elif questions and line.get("useful"):
            questions[-1] = questions[-1]._replace(useful=True)
        elif questions:
            last = questions[-1]
            end = f"{_ENDS[stage]}{text}" if stage in _ENDS else last.end
            steps = (*last.steps, text) if text and stage not in _ENDS else last.steps
            answer = answer_from_json(line["answer"]) if line.get("answer") else last.answer
            questions[-1] = last._replace(steps=steps, end=end, answer=answer)
    return questions
