"""Reads a set on disk into a memory of its own: conversations or transcripts by bank, with
questions, labels or both.

Everything is checked before anything is read into a memory, which takes minutes. An error names the
line and what to do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeVar, cast

import orjson

from holdfast.app.memory import Holdfast, open_memory
from holdfast.errors import InputError
from holdfast.settings import Settings
from holdfast.sources.claude_code.files import find_transcripts

TRANSCRIPTS = "transcripts"
LABELS = "labels.jsonl"
_CONVERSATIONS = "conversations"
_QUESTIONS = "questions.jsonl"
# The category of questions that name none.
_UNNAMED = "(none)"
# Called with how much is done, and how much there is.
Progress = Callable[[int, int], None]
# Makes the progress of a step: of "reading" (bytes), "deriving" (steps), "embedding" (passages).
Watch = Callable[[str], AbstractContextManager[Progress]]
_T = TypeVar("_T")


def ignore(done: int, total: int) -> None:
    """A progress that nobody watches."""


class Question(NamedTuple):
    """A question to a bank. `gold` are the host's ids of turns, `gold_sessions` those of sessions.
    Without either, or if the set says so, the right answer is to abstain."""

    id: str
    bank: str
    text: str
    gold: frozenset[str] = frozenset()
    gold_sessions: frozenset[str] = frozenset()
    category: str = _UNNAMED
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
    has_questions, has_labels = (folder / _QUESTIONS).exists(), (folder / LABELS).exists()
    if not has_questions and not has_labels:
        raise InputError(
            f"{folder / _QUESTIONS} is not there, and neither is {LABELS}.",
            "Write questions, one JSON object per line: id, bank, question, and gold or "
            "gold_sessions.",
        )
    questions = _read_questions(folder / _QUESTIONS) if has_questions else []
    found = EvaluationSet(
        folder.resolve(),
        {path.stem: path for path in _entries(folder / _CONVERSATIONS) if path.suffix == ".jsonl"},
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
            f"Put {_CONVERSATIONS}/BANK.jsonl or {TRANSCRIPTS}/BANK/*.jsonl there.",
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


def sample_evenly(questions: Sequence[_T], count: int | None) -> Sequence[_T]:
    """At most `count` questions, evenly spread over the list; the same ones every time."""
    total = len(questions)
    if count is None or count >= total:
        return questions
    return [questions[index * total // count] for index in range(count)]


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _read_questions(path: Path) -> list[Question]:
    found: dict[str, Question] = {}
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror}.", "Make it a file you may read."
        ) from error
    for number, line in enumerate(lines, start=1):
        if line.strip():
            place = f"{path}, line {number}"
            question = _read_question(place, line)
            if question.id in found:
                raise _error(
                    place, f"the id {question.id!r} is taken", "Give each question its own."
                )
            found[question.id] = question
    if not found:
        raise InputError(f"{path} has no questions.", "Write one JSON object per line.")
    return list(found.values())


def _read_question(place: str, line: bytes) -> Question:
    try:
        value: object = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise _error(place, f"not JSON ({error})", "Write one JSON object per line.") from error
    if not isinstance(value, dict):
        raise _error(place, "not a JSON object", "Write one JSON object per line.")
    fields = cast("dict[str, Any]", value)
    needed = {key: _text(fields.get(key)) for key in ("id", "bank", "question")}
    for key, text in needed.items():
        if not text:
            raise _error(
                place, f"{key} is missing or no text", "Every question needs id, bank and question."
            )
    return Question(
        *needed.values(),
        gold=_names(place, fields, "gold"),
        gold_sessions=_names(place, fields, "gold_sessions"),
        category=_text(fields.get("category")) or _UNNAMED,
        abstain=fields.get("abstain") is True,
    )


def _error(place: str, what: str, remedy: str) -> InputError:
    return InputError(f"{place}: {what}.", remedy)


def _text(value: object) -> str:
    """A name as text; numbers are allowed. "" if it is neither."""
    is_name = isinstance(value, str | int) and not isinstance(value, bool)
    return str(value).strip() if is_name else ""


def _names(place: str, line: dict[str, Any], key: str) -> frozenset[str]:
    value: object = line.get(key)
    if value is None:
        return frozenset()
    names = list(map(_text, cast("list[object]", value))) if isinstance(value, list) else [""]
    if not all(names):
        raise _error(place, f"{key} is not a list of ids", f"Write {key} as a list of ids.")
    return frozenset(names)


@contextmanager
def open_home(settings: Settings) -> Generator[Holdfast]:
    """A memory for a set in a temporary folder; `settings` are the person's own."""
    with (
        TemporaryDirectory(prefix="holdfast-eval-") as folder,
        open_memory(neutral_settings(settings, Path(folder))) as memory,
    ):
        yield memory


def neutral_settings(settings: Settings, home: Path) -> Settings:
    """The settings for another home, without banks, exclusions and redactions of the person: a set
    must give the same memory everywhere."""
    return replace(
        settings,
        home=home,
        claude_dir=home / "claude",
        bank="",
        store="",
        banks=(),
        redact_patterns=(),
        exclude_tools=(),
        exclude_paths=(),
        exclude_projects=(),
    )


def load_set(
    memory: Holdfast,
    wanted: EvaluationSet,
    with_vectors: bool = False,
    watch: Watch = lambda step: nullcontext(ignore),
) -> int:
    """Read a set into a memory, derive all that follows, and embed all passages if wanted; returns
    how many lines could not be read."""
    with watch("reading") as progress:
        failed = _read_files(memory, wanted, progress)
    with watch("deriving") as progress:
        # The stages of patterns and memories report each session, the other ones few steps.
        expected, steps = 2 * memory.inventory.counts().sessions, count(1)

        def step() -> None:
            done = next(steps)
            progress(done, max(done, expected))

        memory.ingestion.update(step)
    if with_vectors:
        with watch("embedding") as progress:
            memory.ingestion.embed(on_progress=progress)
    return failed


def _read_files(memory: Holdfast, wanted: EvaluationSet, progress: Progress) -> int:
    inputs = [
        item
        for bank in wanted.transcripts
        for item in memory.ingestion.find([wanted.folder / TRANSCRIPTS / bank], bank)
    ]
    total = sum(size for _, size in memory.ingestion.estimate(inputs))
    total += sum(path.stat().st_size for path in wanted.conversations.values())
    done = failed = 0
    for bank, path in wanted.conversations.items():
        failed += memory.imports.import_conversation(path, bank).failed
        done += path.stat().st_size
        progress(done, total)
    report = memory.ingestion.ingest(
        inputs,
        os.cpu_count() or 1,
        lambda read, _: progress(done + read, total),
        then_know=False,
    )
    return failed + report.failed
