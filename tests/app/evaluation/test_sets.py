from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.app.evaluation.sets import Question, read_set, sample_evenly
from holdfast.errors import InputError

TURN = '{"session": "s", "id": "a1", "text": "The mast is carbon."}\n'


def question(**more: Any) -> dict[str, Any]:
    return {"id": "q1", "bank": "boats", "question": "Of what is the mast?", **more}


def make(folder: Path, *questions: Any, talk: str | None = TURN) -> Path:
    folder.mkdir(exist_ok=True)
    lines = [q if isinstance(q, str) else json.dumps(q) for q in questions]
    (folder / "questions.jsonl").write_text("".join(line + "\n" for line in lines))
    if talk is not None:
        (folder / "conversations").mkdir(exist_ok=True)
        (folder / "conversations" / "boats.jsonl").write_text(talk)
    return folder


def complaint(folder: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        read_set(folder)
    assert caught.value.remedy
    return caught.value


def test_a_question_without_gold_expects_abstention() -> None:
    assert Question("q", "b", "?").unanswerable
    assert Question("q", "b", "?", gold=frozenset("a"), abstain=True).unanswerable
    assert not Question("q", "b", "?", gold_sessions=frozenset("s")).unanswerable


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (['{"id": "q1"'], "line 1: not JSON"),
        ([question(), "[1]"], "line 2: not a JSON object"),
        ([question(id=None)], "line 1: id is missing"),
        ([question(question="  ")], "line 1: question is missing"),
        ([question(bank=["b"])], "line 1: bank is missing"),
        ([question(gold="a1")], "line 1: gold is not a list of ids"),
        ([question(gold_sessions=["s", None])], "line 1: gold_sessions is not a list of ids"),
        ([question(), "", question()], "line 3: the id 'q1' is taken"),
        ([question(bank="cars")], "Question 'q1' asks bank 'cars'"),
        ([], "has no questions"),
        (["", " "], "has no questions"),
    ],
)
def test_a_bad_question_is_refused_with_its_line(
    tmp_path: Path, lines: list[Any], words: str
) -> None:
    assert words in complaint(make(tmp_path, *lines)).message


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    assert "is not a folder" in complaint(tmp_path / "nowhere").message
    assert "questions.jsonl is not there" in complaint(tmp_path).message
    (tmp_path / "questions.jsonl").mkdir()
    assert "questions.jsonl cannot be read" in complaint(tmp_path).message


def test_a_set_without_anything_to_read_is_refused(tmp_path: Path) -> None:
    assert "nothing to read" in complaint(make(tmp_path, question(), talk=None)).message


def test_a_sample_of_questions_is_even_and_deterministic() -> None:
    assert sample_evenly(range(10), 5) == [0, 2, 4, 6, 8]
    assert sample_evenly(range(10), 3) == [0, 3, 6]
    assert sample_evenly(range(3), 9) == range(3) and sample_evenly(range(3), None) == range(3)
