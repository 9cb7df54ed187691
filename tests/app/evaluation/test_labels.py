"""Labels of a set: what is read of them, and what is refused before anything is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast.app.evaluation.labels import LabelledItem, LabelledTitle, read_labels, session_name
from holdfast.app.evaluation.sets import read_set
from holdfast.errors import InputError
from holdfast.model.knowledge import Kind
from tests.support.labelled_set import BUOYS, TIDES, write_labelled_set, write_lines


def item(**more: Any) -> dict[str, Any]:
    return {"session": TIDES, "kind": "rule", "text": "Times are in UTC.", "weight": 2, **more}


def complaint(folder: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        read_set(folder)
    assert caught.value.remedy
    return caught.value


def test_items_and_titles_are_read_and_other_fields_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    write_lines(path, [item(lines=[1], said_by="user"), {"session": f"b__{BUOYS}", "title": "Go"}])
    found = read_labels(path)
    assert found.items == [LabelledItem(TIDES, Kind.RULE, "Times are in UTC.", 2)]
    assert found.titles == [LabelledTitle(BUOYS, "Go")]
    assert found.sessions == {TIDES, BUOYS}


def test_a_line_may_be_an_item_and_a_title(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    write_lines(path, [item(title="Use UTC")])
    found = read_labels(path)
    assert (len(found.items), found.titles) == (1, [LabelledTitle(TIDES, "Use UTC")])


def test_a_session_goes_by_what_follows_the_last_mark() -> None:
    assert session_name("my__bank__file") == session_name("file") == "file"
    assert session_name("one_line") == "one_line"


@pytest.mark.parametrize(
    ("line", "words", "remedy"),
    [
        (item(session=None), "line 2: session is missing", "Every label needs session"),
        (item(session="harbour__"), "line 2: session ends with __", "Name the file"),
        (item(kind="opinion"), "line 2: there is no kind 'opinion'", "decision, rule, preference"),
        (item(kind=None), "line 2: kind is missing", "Every item needs kind"),
        (item(text=" "), "line 2: text is no text", "Every item needs text"),
        ({"session": TIDES, "kind": "rule", "weight": 1}, "line 2: text is missing", "needs text"),
        (item(weight=0), "line 2: weight is 0", "1 (nice to have)"),
        (item(weight=4), "line 2: weight is 4", "1 (nice to have)"),
        (item(weight=True), "line 2: weight is True", "1 (nice to have)"),
        (item(weight="2"), "line 2: weight is '2'", "1 (nice to have)"),
        (item(weight=None), "line 2: weight is missing", "1 (nice to have)"),
        ({"session": TIDES, "title": ""}, "line 2: title is missing", "Every session needs title"),
        ({"session": TIDES}, "line 2: neither an item nor the title", "kind, text and weight"),
        (
            {"session": f"harbour__{BUOYS}", "title": "Again"},
            f"line 2: session '{BUOYS}' has a title in line 1",
            "Give every session one title",
        ),
    ],
)
def test_a_bad_label_is_refused_with_its_line_and_a_remedy(
    tmp_path: Path, line: dict[str, Any], words: str, remedy: str
) -> None:
    error = complaint(write_labelled_set(tmp_path, [{"session": BUOYS, "title": "Add it"}, line]))
    assert f"labels.jsonl, {words}" in error.message
    assert remedy in str(error.remedy)


def test_a_file_without_labels_is_refused(tmp_path: Path) -> None:
    assert "labels.jsonl has no labels" in complaint(write_labelled_set(tmp_path, [])).message
    (tmp_path / "labels.jsonl").write_text("{torn\n")
    assert "labels.jsonl, line 1: not JSON" in complaint(tmp_path).message


def test_a_set_has_questions_or_labels_or_both(tmp_path: Path) -> None:
    folder = write_labelled_set(tmp_path)
    only_labels = read_set(folder)
    assert only_labels.labels is not None and not only_labels.questions
    write_lines(folder / "questions.jsonl", [{"id": 1, "bank": "harbour", "question": "UTC?"}])
    both = read_set(folder)
    assert both.labels is not None and len(both.questions) == 1
    (folder / "labels.jsonl").unlink()
    assert read_set(folder).labels is None
    (folder / "questions.jsonl").unlink()
    error = complaint(folder)
    assert "questions.jsonl is not there, and neither is labels.jsonl" in error.message


def test_sessions_without_a_transcript_are_listed_unless_there_are_no_others(
    tmp_path: Path,
) -> None:
    folder = write_labelled_set(tmp_path, [item(), item(session="gone"), item(session="b__away")])
    assert read_set(folder).sessions_without_transcript == ["away", "gone"]
    write_lines(folder / "labels.jsonl", [item(session=f"{TIDES}.jsonl")])
    error = complaint(folder)
    assert "has a transcript" in error.message and f"as '{TIDES}.jsonl'" in error.message
    assert "without the ending" in str(error.remedy)
