"""Reads and checks a set on disk: conversations or transcripts by bank, with questions, labels or
both.

Everything is checked before anything is read into a memory, which takes minutes. An error names the
line and what to do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import orjson

from holdfast.errors import InputError
from holdfast.sources.claude_code.files import find_transcripts

CONVERSATIONS = "conversations"
TRANSCRIPTS = "transcripts"
QUESTIONS = "questions.jsonl"
LABELS = "labels.jsonl"
# The category of questions that name none.
UNNAMED = "(none)"


class Question(NamedTuple):
    """A question to a bank. `gold` are the host's ids of turns, `gold_sessions` those of sessions.
    Without either, or if the set says so, the right answer is to abstain."""

    id: str
    bank: str
    text: str
    gold: frozenset[str] = frozenset()
    gold_sessions: frozenset[str] = frozenset()
    category: str = UNNAMED
    abstain: bool = False

    @property
    def unanswerable(self) -> bool:
        """Whether abstaining is right."""
        return self.abstain or not (self.gold or self.gold_sessions)


class EvaluationSet(NamedTuple):
    """A checked set: the files to read, by the bank they go to, the questions to ask, and whether
    there are labels of what should be known."""

    folder: Path
    conversations: Mapping[str, Path]
    transcripts: Mapping[str, Sequence[Path]]
    questions: Sequence[Question]
    has_labels: bool

    @property
    def banks(self) -> list[str]:
        """The names of the banks that the files are read into."""
        return sorted({*self.conversations, *self.transcripts})


def read_set(folder: Path) -> EvaluationSet:
    """Read and check the set in a folder."""
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder.", "Give the folder of a set.")
    has_questions, has_labels = (folder / QUESTIONS).exists(), (folder / LABELS).exists()
    if not has_questions and not has_labels:
        raise InputError(
            f"{folder / QUESTIONS} is not there, and neither is {LABELS}.",
            "Write questions, one JSON object per line: id, bank, question, and gold or "
            "gold_sessions.",
        )
    questions = _read_questions(folder / QUESTIONS) if has_questions else []
    found = EvaluationSet(
        folder.resolve(),
        {path.stem: path for path in _entries(folder / CONVERSATIONS) if path.suffix == ".jsonl"},
        {
            path.name: paths
            for path in _entries(folder / TRANSCRIPTS)
            if path.is_dir() and (paths := sorted(find_transcripts(path)))
        },
        questions,
        has_labels,
    )
    if not found.banks:
        raise InputError(
            f"There is nothing to read in {folder}.",
            f"Put {CONVERSATIONS}/BANK.jsonl or {TRANSCRIPTS}/BANK/*.jsonl there.",
        )
    if "all" in found.banks:
        raise InputError("A bank cannot be called 'all'.", "Give its file or folder another name.")
    for question in questions:
        if question.bank not in found.banks:
            raise InputError(
                f"Question {question.id!r} asks bank {question.bank!r}, for which {folder} has "
                "no conversation and no transcripts.",
                f"There are: {', '.join(found.banks)}.",
            )
    return found


_Any = TypeVar("_Any")


def sample_evenly(questions: Sequence[_Any], count: int | None) -> Sequence[_Any]:
    """At most `count` questions, evenly spread over the list; the same ones every time."""
    total = len(questions)
    if count is None or count >= total:
        return questions
    return [questions[index * total // count] for index in range(count)]


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _read_questions(path: Path) -> list[Question]:
    found: dict[str, Question] = {}
    for place, line in _read_lines(path):
        question = Question(
            id=_name(place, line, "id"),
            bank=_name(place, line, "bank"),
            text=_name(place, line, "question"),
            gold=_names(place, line, "gold"),
            gold_sessions=_names(place, line, "gold_sessions"),
            category=_text(line.get("category")) or UNNAMED,
            abstain=line.get("abstain") is True,
        )
        if question.id in found:
            raise _error(place, f"the id {question.id!r} is taken", "Give each question its own.")
        found[question.id] = question
    if not found:
        raise InputError(f"{path} has no questions.", "Write one JSON object per line.")
    return list(found.values())


def _read_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a file, each with its place; blank lines are skipped."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror}.", "Make it a file you may read."
        ) from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        try:
            value: object = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise _error(place, f"not JSON ({error})", "Write one JSON object per line.") from error
        if not isinstance(value, dict):
            raise _error(place, "not a JSON object", "Write one JSON object per line.")
        yield place, cast(dict[str, Any], value)


def _error(place: str, what: str, remedy: str) -> InputError:
    return InputError(f"{place}: {what}.", remedy)


def _text(value: object) -> str:
    """A name as text; numbers are allowed. "" if it is neither."""
    is_name = isinstance(value, str | int) and not isinstance(value, bool)
    return str(value).strip() if is_name else ""


def _name(place: str, line: dict[str, Any], key: str) -> str:
    name = _text(line.get(key))
    if not name:
        raise _error(
            place, f"{key} is missing or no text", "Every question needs id, bank and question."
        )
    return name


def _names(place: str, line: dict[str, Any], key: str) -> frozenset[str]:
    value: object = line.get(key)
    if value is None:
        return frozenset()
    names = list(map(_text, cast(list[object], value))) if isinstance(value, list) else [""]
    if not all(names):
        raise _error(place, f"{key} is not a list of ids", f"Write {key} as a list of ids.")
    return frozenset(names)
