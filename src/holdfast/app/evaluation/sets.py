"""Reads and checks a question set on disk: conversations or transcripts by bank, and questions.

Everything is checked before anything is read into a memory, which takes minutes. An error names the
line and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import orjson

from holdfast.errors import InputError
from holdfast.model.query import SourceLocation
from holdfast.sources.claude_code.files import find_transcripts

CONVERSATIONS = "conversations"
TRANSCRIPTS = "transcripts"
QUESTIONS = "questions.jsonl"
# The category of questions that name none.
UNNAMED = "(none)"

_LINE_REMEDY = "Write one JSON object a line."
_Line = dict[str, Any]


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


class Files(NamedTuple):
    """The files to read, by the bank they go to."""

    conversations: Mapping[str, Path]
    transcripts: Mapping[str, Sequence[Path]]

    @property
    def banks(self) -> list[str]:
        """The names of the banks that the files are read into."""
        return sorted({*self.conversations, *self.transcripts})


class QuestionSet(NamedTuple):
    """A checked set."""

    folder: Path
    files: Files
    questions: Sequence[Question]


def read_set(folder: Path) -> QuestionSet:
    """Read and check the set in a folder."""
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder.", "Give the folder of a set of questions.")
    questions = _read_questions(folder / QUESTIONS)
    files = find_files(folder)
    _check_banks(questions, files, folder)
    for bank, path in files.conversations.items():
        wanted = {id for question in questions if question.bank == bank for id in question.gold}
        _check_conversation(path, wanted)
    return QuestionSet(folder, files, questions)


def find_files(folder: Path) -> Files:
    """The conversations and transcripts in the folder of a set."""
    conversations = _entries(folder / CONVERSATIONS)
    transcripts = _entries(folder / TRANSCRIPTS)
    found = Files(
        {path.stem: path for path in conversations if path.suffix == ".jsonl" and path.is_file()},
        {
            path.name: paths
            for path in transcripts
            if path.is_dir() and (paths := sorted(find_transcripts(path)))
        },
    )
    if not found.banks:
        raise InputError(
            f"There is nothing to read in {folder}.",
            f"Put {CONVERSATIONS}/BANK.jsonl or {TRANSCRIPTS}/BANK/*.jsonl there.",
        )
    if "all" in found.banks:
        raise InputError("A bank cannot be called 'all'.", "Give its file or folder another name.")
    return found


_Any = TypeVar("_Any")


def sample_evenly(questions: Sequence[_Any], count: int | None) -> Sequence[_Any]:
    """At most `count` questions, evenly spread over the list; the same ones every time."""
    total = len(questions)
    if count is None or count >= total:
        return questions
    return [questions[index * total // count] for index in range(count)]


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(
            f"{folder} cannot be looked into: {error.strerror}.", "Make it a folder you may read."
        ) from error


def _lines(path: Path) -> Iterator[tuple[SourceLocation, _Line]]:
    """The objects of a file, each with its location; blank lines are skipped."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    location = SourceLocation(str(path), number)
                    yield location, _parse_line(location, line)
    except FileNotFoundError as error:
        raise InputError(
            f"{path} is not there.",
            "Write one JSON object a line: id, bank, question, and gold or gold_sessions.",
        ) from error
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror}.", "Make it a file you may read."
        ) from error


def _parse_line(location: SourceLocation, line: bytes) -> _Line:
    try:
        value: object = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise _line_error(location, f"not JSON ({error})", _LINE_REMEDY) from error
    if not isinstance(value, dict):
        raise _line_error(location, "not a JSON object", _LINE_REMEDY)
    return cast(_Line, value)


def _line_error(location: SourceLocation, what: str, remedy: str) -> InputError:
    return InputError(f"{location.path}, line {location.line}: {what}.", remedy)


def _read_questions(path: Path) -> list[Question]:
    found: list[Question] = []
    lines: dict[str, int] = {}
    for location, record in _lines(path):
        question = _parse_question(location, record)
        if question.id in lines:
            raise _line_error(
                location,
                f"the id {question.id!r} is taken by line {lines[question.id]}",
                "Give every question an id of its own.",
            )
        found.append(question)
        lines[question.id] = location.line
    if not found:
        raise InputError(f"{path} holds no question.", _LINE_REMEDY)
    return found


def _parse_question(location: SourceLocation, record: _Line) -> Question:
    abstain: object = record.get("abstain")
    if abstain is not None and not isinstance(abstain, bool):
        raise _line_error(
            location, "abstain is neither true nor false", "Correct it, or leave it out."
        )
    return Question(
        id=_name(location, record, "id"),
        bank=_name(location, record, "bank"),
        text=_name(location, record, "question"),
        gold=_names(location, record, "gold"),
        gold_sessions=_names(location, record, "gold_sessions"),
        category=_name_text(record.get("category")) or UNNAMED,
        abstain=bool(abstain),
    )


def _name_text(value: object) -> str:
    """A name as text; numbers are allowed. "" if it is neither."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return str(value).strip()


def _name(location: SourceLocation, record: _Line, key: str) -> str:
    name = _name_text(record.get(key))
    if not name:
        what = f"{key} is missing" if record.get(key) in (None, "") else f"{key} is no text"
        raise _line_error(
            location, what, f"Every question needs {key} as a text that is not empty."
        )
    return name


def _names(location: SourceLocation, record: _Line, key: str) -> frozenset[str]:
    value: object = record.get(key)
    if value is None:
        return frozenset()
    items = cast(list[object], value) if isinstance(value, list) else [None]
    names = [_name_text(item) for item in items]
    if not all(names):
        remedy = f"Write {key} as a list of ids, or leave it out."
        raise _line_error(location, f"{key} is not a list of ids", remedy)
    return frozenset(names)


def _check_banks(questions: Iterable[Question], files: Files, folder: Path) -> None:
    known = files.banks
    for question in questions:
        if question.bank not in known:
            raise InputError(
                f"Question {question.id!r} asks bank {question.bank!r}, for which {folder} holds "
                "no conversation and no transcripts.",
                f"There are: {', '.join(known)}.",
            )


def _check_conversation(path: Path, wanted: set[str]) -> None:
    """Check that every line has a text, and that each gold id belongs to one line only."""
    lines: dict[str, int] = {}
    for location, record in _lines(path):
        if not isinstance(record.get("text"), str):
            raise _line_error(
                location, "text is missing or no text", "Every line needs the words that were said."
            )
        id = _name_text(record.get("id"))
        if id in wanted and id in lines:
            raise _line_error(
                location,
                f"the id {id!r}, which a question names as gold, is taken by line {lines[id]}",
                "Give every turn of a bank an id of its own.",
            )
        lines.setdefault(id, location.line)
    if not lines:
        raise InputError(f"{path} is empty.", "Put the turns there, one JSON object a line.")
