"""`holdfast eval` on a set with labels: figures, the file of records, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holdfast.inference.encoder import packaged_encoder
from holdfast.interfaces.cli.main import main
from tests.interfaces.cli.test_cli import holdfast, read_json
from tests.support.labelled_set import (
    BUOYS,
    IMPORT,
    LABELS,
    SUBAGENT,
    TIDES,
    write_labelled_set,
    write_lines,
)

GONE = {"session": "gone", "kind": "todo", "text": "Paint the lighthouse.", "weight": 3}
QUESTION = {"id": "q1", "bank": "harbour", "question": "In which time zone are times?"}


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_labelled_set(tmp_path_factory.mktemp("labelled"), [*LABELS, GONE])


@pytest.fixture(scope="module")
def kept(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A home into which the set was read, so that it is read once."""
    home = tmp_path_factory.mktemp("kept") / "home"
    done = holdfast(home.parent / "none", "eval", str(folder), "--keep", str(home))
    assert done.returncode == 0, done.stderr
    return str(home)


def test_the_figures_are_those_of_the_file_scored_again(
    folder: Path, kept: str, tmp_path: Path
) -> None:
    out = tmp_path / "known.jsonl"
    found = read_json(tmp_path, "eval", str(folder), "--keep", kept, "--out", str(out))
    written = read_lines(out)
    known = found["knowledge"]
    records = [one for one in written if "text" in one and one["session"] != IMPORT]
    items: list[dict[str, Any]] = [one for one in [*LABELS, GONE] if "text" in one]
    titles = {one["session"]: one["title"] for one in written if "title" in one}
    encoder = packaged_encoder()

    def alike(one: str, other: str) -> bool:
        first, second = encoder.embed([one, other])
        return bool(np.dot(first, second) >= 0.6)

    def says(record: dict[str, Any], item: dict[str, Any]) -> bool:
        own = item["session"].split("__")[-1] == record["session"]
        return own and alike(record["text"], item["text"])

    is_known = [any(says(record, item) for record in records) for item in items]
    is_right = [any(says(record, item) for item in items) for record in records]
    judged = list(zip(items, is_known, strict=True))
    weighty = [k for item, k in judged if item["weight"] >= 2]
    needed = [k for item, k in judged if item["weight"] == 3]
    named = [alike(one["title"], titles[one["session"]]) for one in LABELS if "title" in one]
    assert known["recall"] == round(sum(weighty) / len(weighty), 4)
    assert 0 < known["recall"] < 1
    assert known["precision"] == round(sum(is_right) / len(is_right), 4) > 0
    assert known["recall_weight_3"] == sum(needed) / len(needed) == 0.5
    assert known["titles_alike"] == sum(named) / len(named)
    assert known["recall_by_kind"] == {item["kind"]: float(k) for item, k in judged}
    assert known["recall_by_kind"]["lesson"] == 1 and known["recall_by_kind"]["todo"] == 0
    assert known["items_by_kind"] == dict.fromkeys(known["recall_by_kind"], 1)
    assert (known["items"], known["all_items"], known["items_weight_3"]) == (5, 6, 2)
    assert (known["sessions"], known["titles"], known["records"]) == (4, 2, len(records))
    assert known["sessions_without_transcript"] == ["gone"]
    assert (known["threshold"], known["encoder"]) == (0.6, "all-MiniLM-L6-v2-int8")
    assert set(found) == {"set", "date", "settings", "counts", "knowledge"}
    assert found["counts"] == {
        "banks": 2, "sessions": 4, "turns": found["counts"]["turns"], "failed_lines": 0
    }  # fmt: skip


def test_the_file_has_a_line_for_each_record_and_each_session(
    folder: Path, kept: str, tmp_path: Path
) -> None:
    out = tmp_path / "known.jsonl"
    read_json(tmp_path, "eval", str(folder), "--keep", kept, "--out", str(out))
    before = out.read_bytes()
    written = read_lines(out)
    paths = {path.stem: path for path in (folder / "transcripts").rglob("*.jsonl")}
    sessions = [one for one in written if "text" not in one]
    assert all(list(one) == ["session", "title", "summary"] for one in sessions)
    assert sorted(one["session"] for one in sessions) == sorted([TIDES, BUOYS, IMPORT, SUBAGENT])
    for one in written:
        if one in sessions:
            continue
        assert list(one) == ["session", "kind", "text", "uri", "evidence"]
        assert one["uri"].startswith("holdfast://")
        assert one["evidence"][0]["session"] == one["session"]
        for line in one["evidence"]:
            assert set(line) == {"session", "line"}
            assert 1 <= line["line"] <= len(read_lines(paths[line["session"]]))
    read_json(tmp_path, "eval", str(folder), "--keep", kept, "--out", str(out))
    assert out.read_bytes() == before


def test_the_table_is_readable_and_progress_is_shown(
    folder: Path, kept: str, tmp_path: Path
) -> None:
    known = read_json(tmp_path / "home", "eval", str(folder), "--keep", kept)["knowledge"]
    done = holdfast(tmp_path / "home", "eval", str(folder))
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "home").exists()
    for words in ("reading: ", "deriving: ", "listing: 4 sessions in", "comparing: "):
        assert words in done.stderr
    assert "asking" not in done.stderr and "embedding" not in done.stderr
    rows = {" ".join(line.split()) for line in done.stdout.splitlines()}
    assert {"of weight 3 2 0.500", "lesson 1 1.000", "decision 1 0.000"} <= rows
    assert {
        f"recall 5 {known['recall']:.3f}",
        f"titles alike 2 {known['titles_alike']:.3f}",
    } <= rows
    assert f"precision {known['records']} {known['precision']:.3f}" in rows
    said = " ".join(done.stdout.split())
    assert ": 2 banks with 4 sessions" in said
    assert "of 4 labelled sessions with 6 items" in said
    assert "1 labelled session has no transcript" in said and "not known: gone." in said


def test_a_set_with_questions_and_labels_is_measured_on_both(
    folder: Path, kept: str, tmp_path: Path
) -> None:
    before = read_json(tmp_path, "eval", str(folder), "--keep", kept)
    questions = folder / "questions.jsonl"
    write_lines(questions, [QUESTION])
    try:
        out = tmp_path / "ranks.jsonl"
        found = read_json(tmp_path, "eval", str(folder), "--keep", kept, "--out", str(out))
        shown = holdfast(tmp_path, "eval", str(folder), "--keep", kept).stdout
    finally:
        questions.unlink()
    assert found["counts"]["questions"] == 1 and "overall" in found
    assert found["knowledge"] == before["knowledge"]
    assert [next(iter(one)) for one in read_lines(out)] == ["id"]
    records = read_lines(tmp_path / "ranks.records.jsonl")
    assert {one["session"] for one in records} == {TIDES, BUOYS, IMPORT, SUBAGENT}
    assert shown.index("abs-R") < shown.index("what was distilled")


def test_what_cannot_be_used_is_refused_before_anything_is_read(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    notes = tmp_path / "notes.jsonl"
    write_lines(notes, [{"session": "s", "text": "do not lose this"}])
    bad = tmp_path / "bad"
    write_labelled_set(bad, [{**GONE, "session": TIDES, "kind": "idea"}])
    empty = tmp_path / "empty"
    empty.mkdir()
    labels = folder / "labels.jsonl"
    for arguments, words in (
        ([str(empty)], "and neither is labels.jsonl"),
        ([str(bad)], "labels.jsonl, line 1: there is no kind 'idea'"),
        ([str(folder), "--limit-questions", "3"], "has no questions"),
        ([str(folder), "--set", "weights.words=0.3"], "has no questions"),
        ([str(folder), "--out", str(notes)], "is not a file of what was distilled"),
        ([str(folder), "--out", str(labels)], "is part of the set"),
        ([str(folder), "--out", str(tmp_path)], "cannot be written"),
    ):
        assert main(["eval", *arguments]) == 2, arguments
        said = capsys.readouterr().err
        assert words in said and "→" in said and "Traceback" not in said
        assert "reading" not in said
    assert read_lines(notes) == [{"session": "s", "text": "do not lose this"}]
    assert len(read_lines(labels)) == len(LABELS) + 1
