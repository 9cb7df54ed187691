"""A set on disk: conversations or transcripts by bank, and questions about them.

Everything is looked at before anything is read into a memory, so that a mistake in the last
line costs no minutes. What cannot be used is refused with its line and with what to do.
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
UNNAMED = "(none)"

_Line = dict[str, Any]


class Question(NamedTuple):
    """A question to a bank. `gold` are ids of turns, `gold_sessions` the host's ids of sessions;
    without either, or where the set says so, the right answer is to abstain."""

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
        """The banks that the files make."""
        return sorted({*self.conversations, *self.transcripts})


class QuestionSet(NamedTuple):
    """A set that can be used."""

    folder: Path
    files: Files
    questions: Sequence[Question]


def read_set(folder: Path) -> QuestionSet:
    """The set in a folder."""
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
    """What there is to read in a folder."""
    talks = _inside(folder / CONVERSATIONS)
    logs = _inside(folder / TRANSCRIPTS)
    found = Files(
        {path.stem: path for path in talks if path.suffix == ".jsonl" and path.is_file()},
        {
            path.name: paths
            for path in logs
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


def sample_evenly(questions: Sequence[_Any], most: int | None) -> Sequence[_Any]:
    """At most so many questions, taken evenly over the list, the same ones every time."""
    total = len(questions)
    if most is None or most >= total:
        return questions
    return [questions[place * total // most] for place in range(most)]


def _inside(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(
            f"{folder} cannot be looked into: {error.strerror}.", "Make it a folder you may read."
        ) from error


def _lines(path: Path) -> Iterator[tuple[SourceLocation, _Line]]:
    """The objects of a file, each with its place; blank lines are passed over."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield SourceLocation(str(path), number), _object(path, number, line)
    except FileNotFoundError as error:
        raise InputError(
            f"{path} is not there.",
            "Write one JSON object a line: id, bank, question, and gold or gold_sessions.",
        ) from error
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror}.", "Make it a file you may read."
        ) from error


def _object(path: Path, number: int, line: bytes) -> _Line:
    place = SourceLocation(str(path), number)
    try:
        value: object = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise _wrong(place, f"not JSON ({error})", "Write one JSON object a line.") from error
    if not isinstance(value, dict):
        raise _wrong(place, "not a JSON object", "Write one JSON object a line.")
    return cast(_Line, value)


def _wrong(place: SourceLocation, what: str, remedy: str) -> InputError:
    return InputError(f"{place.path}, line {place.line}: {what}.", remedy)


def _read_questions(path: Path) -> list[Question]:
    found: dict[str, Question] = {}
    lines: dict[str, int] = {}
    for place, record in _lines(path):
        question = _question(place, record)
        if question.id in found:
            raise _wrong(
                place,
                f"the id {question.id!r} is taken by line {lines[question.id]}",
                "Give every question an id of its own.",
            )
        found[question.id] = question
        lines[question.id] = place.line
    if not found:
        raise InputError(f"{path} holds no question.", "Write one JSON object a line.")
    return list(found.values())


def _question(place: SourceLocation, record: _Line) -> Question:
    abstain: object = record.get("abstain")
    if abstain is not None and not isinstance(abstain, bool):
        raise _wrong(place, "abstain is neither true nor false", "Correct it, or leave it out.")
    return Question(
        id=_name(place, record, "id"),
        bank=_name(place, record, "bank"),
        text=_name(place, record, "question"),
        gold=_names(place, record, "gold"),
        gold_sessions=_names(place, record, "gold_sessions"),
        category=_spelled(record.get("category")) or UNNAMED,
        abstain=bool(abstain),
    )


def _spelled(value: object) -> str:
    """A name; sets also use numbers for names. "" is none."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return str(value).strip()


def _name(place: SourceLocation, record: _Line, key: str) -> str:
    name = _spelled(record.get(key))
    if not name:
        what = f"{key} is missing" if record.get(key) in (None, "") else f"{key} is no text"
        raise _wrong(place, what, f"Every question needs {key} as a text that is not empty.")
    return name


def _names(place: SourceLocation, record: _Line, key: str) -> frozenset[str]:
    value: object = record.get(key)
    if value is None:
        return frozenset()
    items = cast(list[object], value) if isinstance(value, list) else [None]
    names = [_spelled(item) for item in items]
    if not all(names):
        remedy = f"Write {key} as a list of ids, or leave it out."
        raise _wrong(place, f"{key} is not a list of ids", remedy)
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
    """Every line has a text, and what a question names is one line only."""
    lines: dict[str, int] = {}
    for place, record in _lines(path):
        if not isinstance(record.get("text"), str):
            raise _wrong(
                place, "text is missing or no text", "Every line needs the words that were said."
            )
        id = _spelled(record.get("id"))
        if id in wanted and id in lines:
            raise _wrong(
                place,
                f"the id {id!r}, which a question names as gold, is taken by line {lines[id]}",
                "Give every turn of a bank an id of its own.",
            )
        lines.setdefault(id, place.line)
    if not lines:
        raise InputError(f"{path} is empty.", "Put the turns there, one JSON object a line.")
