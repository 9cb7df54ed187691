"""Reads and checks a set on disk: conversations or transcripts by bank, with questions, labels or
both.

Everything is checked before anything is read into a memory, which takes minutes. An error names the
line and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

from holdfast.app.evaluation.json_lines import (
    LINE_REMEDY,
    JsonLine,
    line_error,
    name_text,
    read_lines,
    required_name,
)
from holdfast.app.evaluation.labels import LABELS, Labels, read_labels, session_name
from holdfast.errors import InputError
from holdfast.model.query import SourceLocation
from holdfast.sources.claude_code.files import find_transcripts

CONVERSATIONS = "conversations"
TRANSCRIPTS = "transcripts"
QUESTIONS = "questions.jsonl"
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


class Files(NamedTuple):
    """The files to read, by the bank they go to."""

    conversations: Mapping[str, Path]
    transcripts: Mapping[str, Sequence[Path]]

    @property
    def banks(self) -> list[str]:
        """The names of the banks that the files are read into."""
        return sorted({*self.conversations, *self.transcripts})

    @property
    def session_names(self) -> frozenset[str]:
        """The names of the sessions that have a transcript."""
        paths = (path for some in self.transcripts.values() for path in some)
        return frozenset(session_name(path.stem) for path in paths)


class EvaluationSet(NamedTuple):
    """A checked set: questions to ask, or labels of what should be known, or both."""

    folder: Path
    files: Files
    questions: Sequence[Question]
    labels: Labels | None = None

    @property
    def sessions_without_transcript(self) -> list[str]:
        """The names of the labelled sessions that cannot be read."""
        labelled = self.labels.sessions if self.labels else frozenset[str]()
        return sorted(labelled - self.files.session_names)


def read_set(folder: Path) -> EvaluationSet:
    """Read and check the set in a folder."""
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder.", "Give the folder of a set.")
    has_questions, has_labels = (folder / QUESTIONS).exists(), (folder / LABELS).exists()
    if not has_questions and not has_labels:
        raise InputError(
            f"{folder / QUESTIONS} is not there, and neither is {LABELS}.",
            "Write questions, one JSON object per line: id, bank, question, and gold or "
            "gold_sessions; or labels: session, kind, text and weight.",
        )
    questions = _read_questions(folder / QUESTIONS) if has_questions else []
    labels = read_labels(folder / LABELS) if has_labels else None
    files = find_files(folder)
    found = EvaluationSet(folder, files, questions, labels)
    _check_banks(questions, files, folder)
    _check_labelled_sessions(found)
    for bank, path in files.conversations.items():
        wanted = {id for question in questions if question.bank == bank for id in question.gold}
        _check_conversation(path, wanted)
    return found


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


def _read_questions(path: Path) -> list[Question]:
    found: list[Question] = []
    lines: dict[str, int] = {}
    for location, record in read_lines(path):
        question = _parse_question(location, record)
        if question.id in lines:
            raise line_error(
                location,
                f"the id {question.id!r} is taken by line {lines[question.id]}",
                "Give every question an id of its own.",
            )
        found.append(question)
        lines[question.id] = location.line
    if not found:
        raise InputError(f"{path} has no questions.", LINE_REMEDY)
    return found


def _parse_question(location: SourceLocation, record: JsonLine) -> Question:
    abstain: object = record.get("abstain")
    if abstain is not None and not isinstance(abstain, bool):
        raise line_error(
            location, "abstain is neither true nor false", "Correct it, or leave it out."
        )
    return Question(
        id=required_name(location, record, "id", "question"),
        bank=required_name(location, record, "bank", "question"),
        text=required_name(location, record, "question", "question"),
        gold=_names(location, record, "gold"),
        gold_sessions=_names(location, record, "gold_sessions"),
        category=name_text(record.get("category")) or UNNAMED,
        abstain=bool(abstain),
    )


def _names(location: SourceLocation, record: JsonLine, key: str) -> frozenset[str]:
    value: object = record.get(key)
    if value is None:
        return frozenset()
    items = cast(list[object], value) if isinstance(value, list) else [None]
    names = [name_text(item) for item in items]
    if not all(names):
        remedy = f"Write {key} as a list of ids, or leave it out."
        raise line_error(location, f"{key} is not a list of ids", remedy)
    return frozenset(names)


def _check_banks(questions: Iterable[Question], files: Files, folder: Path) -> None:
    known = files.banks
    for question in questions:
        if question.bank not in known:
            raise InputError(
                f"Question {question.id!r} asks bank {question.bank!r}, for which {folder} has "
                "no conversation and no transcripts.",
                f"There are: {', '.join(known)}.",
            )


def _check_labelled_sessions(found: EvaluationSet) -> None:
    """Check that at least one of the labelled sessions can be read."""
    labels, missing = found.labels, found.sessions_without_transcript
    if labels is None or len(missing) < len(labels.sessions):
        return
    known = sorted(found.files.session_names)
    raise InputError(
        f"No session of {found.folder / LABELS} has a transcript, as {missing[0]!r}.",
        f"Name sessions by their files without the ending, as {known[0]!r}."
        if known
        else f"Put the transcripts into {found.folder / TRANSCRIPTS}/BANK.",
    )


def _check_conversation(path: Path, wanted: set[str]) -> None:
    """Check that every line has a text, and that each gold id belongs to one line only."""
    lines: dict[str, int] = {}
    for location, record in read_lines(path):
        if not isinstance(record.get("text"), str):
            raise line_error(
                location, "text is missing or no text", "Every line needs the words that were said."
            )
        id = name_text(record.get("id"))
        if id in wanted and id in lines:
            raise line_error(
                location,
                f"the id {id!r}, which a question names as gold, is taken by line {lines[id]}",
                "Give every turn of a bank an id of its own.",
            )
        lines.setdefault(id, location.line)
    if not lines:
        raise InputError(f"{path} is empty.", "Put the turns there, one JSON object per line.")
