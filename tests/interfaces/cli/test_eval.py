"""`holdfast eval` through its front door: small sets by hand, in both shapes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.interfaces.cli.main import main
from tests.app.evaluation.test_own import ASKED, history, session
from tests.interfaces.cli.test_cli import holdfast, read_json
from tests.support.labelled_set import (
    BUOYS,
    CAUSE,
    IMPORT,
    RULE,
    SUBAGENT,
    TIDES,
    write_labelled_set,
)
from tests.support.transcripts import bug_hunt

TALK = [
    ("s1", "a1", "Ann", "The mast is made of carbon fibre."),
    ("s1", "a2", "Ben", "And the anchor weighs forty kilograms."),
    ("s2", "b1", "Ann", "We painted the hull blue in spring."),
    ("s2", "b2", "Ben", "The blue paint of the hull came from Bergen."),
    ("s3", "c1", "Ann", "Tomorrow the harbour master visits."),
]
FIX = "22222222-0000-4000-8000-000000000001"


def lines(path: Path, records: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("set")
    talk = [
        {"session": s, "id": id, "time": f"2026-03-0{n}T10:00:00Z", "speaker": who, "text": text}
        for n, (s, id, who, text) in enumerate(TALK, start=1)
    ]
    lines(place / "conversations" / "boats.jsonl", talk)
    script = bug_hunt()
    cause = next(line["uuid"] for line in script.lines if "retry wrapper calls" in str(line))
    (place / "transcripts" / "importer").mkdir(parents=True)
    (place / "transcripts" / "importer" / f"{FIX}.jsonl").write_bytes(script.dumps())
    asked: list[tuple[str, str, str, dict[str, Any]]] = [
        ("q1", "boats", "What is the mast made of?", {"gold": ["a1"], "category": "one"}),
        ("q2", "boats", "Where did the blue paint of the hull come from?",
         {"gold": ["b1", "b2"], "category": "two"}),
        ("q3", "boats", "Which zeppelin crossed Patagonia?", {"gold": [], "abstain": True}),
        ("q4", "importer", "Why does the retry wrapper call load again after a timeout?",
         {"gold": [cause], "category": "one"}),
        ("q5", "importer", "nightly import loads every row twice", {"gold_sessions": [FIX]}),
        ("q6", "boats", "How heavy is the anchor?", {"gold": ["a2", "gone"], "category": "two"}),
    ]  # fmt: skip
    lines(
        place / "questions.jsonl",
        [{"id": id, "bank": bank, "question": q, **more} for id, bank, q, more in asked],
    )
    return place


def test_a_set_is_measured_in_both_formats(folder: Path, tmp_path: Path) -> None:
    found = read_json(tmp_path / "home", "eval", str(folder))
    assert set(found) == {
        "set", "date", "settings", "counts", "overall", "mean_of_categories", "categories",
        "standard_error", "latency_ms", "notes", "cannot_claim",
    }  # fmt: skip
    assert set(found["settings"]) == {"version", "embedding", "reranker", "budget"}
    assert found["counts"] == {
        "banks": 2, "sessions": 4, "turns": 13, "questions": 6, "answerable": 4,
        "with_sessions": 5, "unanswerable": 1, "abstained": found["counts"]["abstained"],
        "unknown_gold": 1, "failed_lines": 0,
    }  # fmt: skip
    overall = found["overall"]
    assert overall["recall@10"] == pytest.approx((1 + 1 + 1 + 0.5) / 4)
    assert overall["all@10"] == pytest.approx(3 / 4)
    assert overall["session_hit@5"] == 1 and overall["abstention_recall"] == 1
    assert set(found["categories"]) == {"one", "two", "(none)"}
    assert found["categories"]["one"]["recall@10"] == 1
    assert found["categories"]["(none)"]["recall@10"] is None
    assert found["mean_of_categories"]["recall@10"] == pytest.approx((1 + 0.75) / 2)
    assert any("name no turn that was read" in limit for limit in found["cannot_claim"])
    assert 0 < found["latency_ms"]["p50"] <= found["latency_ms"]["p95"]


def test_an_evaluation_does_not_touch_the_memory_and_leaves_no_temporary_home(
    folder: Path, tmp_path: Path
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = holdfast(tmp_path / "home", "eval", str(folder), env={"TMPDIR": str(scratch)})
    assert done.returncode == 0, done.stderr
    assert list(scratch.iterdir()) == [] and not (tmp_path / "home").exists()

    for words in ("overall", "mean of categories", "What this cannot claim", "latency: p50"):
        assert words in done.stdout
    said = " ".join(done.stdout.split())
    assert "all-MiniLM-L6-v2-int8, no reranker, budget mid" in said
    assert "recall@10 is 0.875 ± 0.125 (standard error over 4 questions" in said
    assert "without recall's floor" in said


def test_personal_settings_do_not_change_the_result_of_a_set(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('bank = "mine"\n[redact.patterns]\nall = "carbon"\n')
    found = read_json(tmp_path, "eval", str(folder), "--limit-questions", "1")
    assert found["counts"]["questions"] == 1 and found["overall"]["recall@5"] == 1
    assert [path.name for path in tmp_path.iterdir()] == ["config.toml"]


def test_a_usage_error_is_reported_before_anything_runs(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    mine = tmp_path / "home"
    bug_hunt().write(mine / "claude" / "projects")
    holdfast(mine, "ingest")
    monkeypatch.setenv("HOLDFAST_HOME", str(mine))
    before = (mine / "memory.db").read_bytes()
    notes = tmp_path / "notes.txt"
    notes.write_text("do not lose this\n")
    for arguments, words in (
        (["eval"], "No set is given"),
        (["eval", "/does/not/exist"], "is not a folder"),
        (["eval", str(tmp_path)], "questions.jsonl is not there"),
        (["eval", str(folder), "--own"], "takes no DIR"),
        (["eval", str(folder), "--bank", "boats"], "name their banks"),
        (["eval", str(folder), "--out", str(notes)], "was not written by `holdfast eval`"),
        (["eval", str(folder), "--out", str(folder / "questions.jsonl")], "was not written by"),
        (["eval", str(folder), "--out", str(tmp_path)], "cannot be written"),
        (["eval", "--own", "--bank", "nowhere"], "There is no bank 'nowhere'"),
    ):
        assert main(arguments) == 2, arguments
        said = capsys.readouterr().err
        assert words in said and "→" in said
    assert notes.read_text() == "do not lose this\n"
    assert (mine / "memory.db").read_bytes() == before


def test_what_was_distilled_of_a_set_with_labels_is_written(tmp_path: Path) -> None:
    place, out = write_labelled_set(tmp_path / "set"), tmp_path / "known.jsonl"
    found = read_json(tmp_path, "eval", str(place), "--out", str(out))
    written = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    sessions = [one for one in written if "text" not in one]
    records = [one for one in written if "text" in one]
    assert all(list(one) == ["session", "title", "summary"] for one in sessions)
    assert sorted(one["session"] for one in sessions) == sorted([TIDES, BUOYS, IMPORT, SUBAGENT])
    assert {RULE, CAUSE} <= {one["text"] for one in records}
    for one in records:
        assert list(one) == ["session", "kind", "text", "uri", "evidence"]
        assert one["uri"].startswith("holdfast://")
        assert one["evidence"][0]["session"] == one["session"]
        assert all(set(line) == {"session", "line"} for line in one["evidence"])
    assert found["counts"] == {
        "banks": 2, "sessions": 4, "turns": found["counts"]["turns"], "records": len(records),
        "transcripts": 4, "failed_lines": 0,
    }  # fmt: skip
    question = {"id": "q1", "bank": "harbour", "question": "In which time zone are times?"}
    lines(place / "questions.jsonl", [question])
    found = read_json(tmp_path, "eval", str(place), "--out", str(tmp_path / "ranks.jsonl"))
    assert found["counts"]["questions"] == 1 and "overall" in found
    assert json.loads((tmp_path / "ranks.jsonl").read_text("utf-8"))["id"] == "q1"
    assert (tmp_path / "ranks.records.jsonl").read_bytes() == out.read_bytes()


def test_own_history_is_evaluated_and_only_read(tmp_path: Path) -> None:
    text = (
        "The needle of the compass is damped now, so it is calmer when a steel hull swings around."
    )
    before = history()
    before[5] = session(6, "Write the compass module with its own little tests", "compass", text)
    for script in (*before, session(20, ASKED, "compass")):
        script.write(tmp_path / "claude" / "projects")
    holdfast(tmp_path, "ingest")
    stored = (tmp_path / "memory.db").read_bytes()
    found = read_json(tmp_path, "eval", "--own", "--bank", "proj")
    assert found["counts"] == {"sessions": 9, "openings": 9, "questions": 1}
    assert found["overall"] == {"session_hit@1": 1, "session_hit@5": 1, "session_mrr": 1}
    assert found["chance"] == {"session_hit@1": 0.125, "session_hit@5": 0.625}
    shown = holdfast(tmp_path, "eval", "--own").stdout
    assert "1.000  the right session came first   (by chance 0.125)" in shown
    assert "The labels are a proxy" in shown
    assert (tmp_path / "memory.db").read_bytes() == stored
